"""Builds expressions from Python operators, for functions of a key and for conditions on columns."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

from headrace.core.errors import OptionError


class Operators:
    """Python's operators for a class of expressions, each of which combines two operands."""

    __slots__ = ()

    @classmethod
    @abstractmethod
    def combined(cls, symbol: str, left: object, right: object) -> Self:
        """Return the expression of an operator and its operands, which are expressions or values."""

    def __add__(self, other: object) -> Self:
        return self.combined("+", self, other)

    def __radd__(self, other: object) -> Self:
        return self.combined("+", other, self)

    def __sub__(self, other: object) -> Self:
        return self.combined("-", self, other)

    def __rsub__(self, other: object) -> Self:
        return self.combined("-", other, self)

    def __mul__(self, other: object) -> Self:
        return self.combined("*", self, other)

    def __rmul__(self, other: object) -> Self:
        return self.combined("*", other, self)

    def __and__(self, other: object) -> Self:
        return self.combined("&", self, other)

    def __rand__(self, other: object) -> Self:
        return self.combined("&", other, self)

    def __or__(self, other: object) -> Self:
        return self.combined("|", self, other)

    def __ror__(self, other: object) -> Self:
        return self.combined("|", other, self)

    def __xor__(self, other: object) -> Self:
        return self.combined("^", self, other)

    def __rxor__(self, other: object) -> Self:
        return self.combined("^", other, self)

    def __floordiv__(self, other: object) -> Self:
        return self.combined("//", self, other)

    def __mod__(self, other: object) -> Self:
        return self.combined("%", self, other)

    def __truediv__(self, other: object) -> Self:
        return self.combined("/", self, other)

    def __rtruediv__(self, other: object) -> Self:
        return self.combined("/", other, self)

    def __lt__(self, other: object) -> Self:
        return self.combined("<", self, other)

    def __le__(self, other: object) -> Self:
        return self.combined("<=", self, other)

    def __gt__(self, other: object) -> Self:
        return self.combined(">", self, other)

    def __ge__(self, other: object) -> Self:
        return self.combined(">=", self, other)

    def __eq__(self, other: object) -> Self:  # type: ignore[override]
        return self.combined("==", self, other)

    def __ne__(self, other: object) -> Self:  # type: ignore[override]
        return self.combined("!=", self, other)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise OptionError(
            "an expression is neither true nor false; combine comparisons by & and | in parentheses, not by `and`, `or`, "
            "`not` and chains such as 1 < x < 3"
        )


MAX_DEPTH = 100  # maximum number of nested operators


def check_depth(depth: int) -> int:
    """Return the depth of an expression; raise OptionError if it nests too many operators."""
    if depth > MAX_DEPTH:
        raise OptionError(f"an expression may nest at most {MAX_DEPTH} operators")
    return depth


_EXACT_UNITS = {"ns": 10**9, "ps": 10**12, "fs": 10**15, "as": 10**18}
"""Units per second of NumPy's dates and times that the types of `datetime` round."""


def units_per_second(value: Any) -> int | None:
    """Return the units per second of a date or time of NumPy that `datetime` would round; None for any other value."""
    dtype = getattr(value, "dtype", None)
    if getattr(dtype, "kind", None) not in ("M", "m") or getattr(value, "ndim", None) != 0:
        return None
    return _EXACT_UNITS.get(str(dtype).partition("[")[2].rstrip("]"))


def plain(value: Any) -> Any:
    """Return a scalar of NumPy as a Python value without loss; anything else unchanged."""
    is_scalar = hasattr(value, "dtype") and getattr(value, "ndim", None) == 0 and hasattr(value, "item")
    return value.item() if is_scalar and units_per_second(value) is None else value


def is_missing(value: Any) -> bool:
    """Return whether `value` is None, or its counterpart of pandas or NumPy: NA, NaT, a masked item."""
    if value is None or type(value).__name__ in ("NAType", "NaTType", "MaskedConstant"):
        return True
    is_date = getattr(getattr(value, "dtype", None), "kind", None) in ("M", "m")
    return is_date and getattr(value, "ndim", None) == 0 and bool(value != value)  # noqa: PLR0124  # NaT alone
