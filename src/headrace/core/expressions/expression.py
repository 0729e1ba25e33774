"""A bucket function as a value: built from `key` by Python's operators, for a kernel as C, for the CPU as a stack program.

Numbers are of the keys' type; of whole ones everything is modulo 2 to the number of their bits, so a kernel and the CPU agree to
the bit (expression_types.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from headrace.core.errors import OptionError
from headrace.core.expressions.expression_types import COMPARISONS, as_c, as_program, bucket_as_c, check

_MODULUS = 2**32
_SHIFTS = {"<<", ">>"}
_DIVISIONS = {"//", "%"}
_JOINS = {"&", "|", "^"}
_DEEPEST = 100


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """A function of a key. A comparison is one too, 1 where it holds and 0 where not.

    Parameters
    ----------
    symbol
        ``"key"``, ``"low"`` or ``"high"`` (its words, of keys of 16 bytes), a number, or a Python operator.
    parts
        What the operator is applied to.

    Examples
    --------
    >>> bucket = key * 2654435761 >> 24
    >>> bucket.as_c()
    '((key * 2654435761u) >> 24u)'
    >>> bucket.of(3)
    218
    """

    symbol: str | int | float
    parts: tuple[Expression, ...] = ()
    depth: int = 0

    @property
    def is_comparison(self) -> bool:
        """Whether its values are 0 and 1."""
        return self.symbol in COMPARISONS

    @property
    def is_truth(self) -> bool:
        """Whether it is a comparison, or comparisons joined."""
        return self.is_comparison or (self.symbol in _JOINS and all(part.is_truth for part in self.parts))

    @property
    def low(self) -> Expression:
        """The lower word of a key of 16 bytes."""
        return self._word("low")

    @property
    def high(self) -> Expression:
        """The upper word of a key of 16 bytes."""
        return self._word("high")

    def _word(self, name: str) -> Expression:
        if self.symbol != "key":
            raise OptionError(f"a key has the part {name!r}, and no expression of it")
        return Expression(name)

    def check(self, keys: str) -> None:
        """Raise OptionError unless it is a function of keys of a type, as NumPy writes it: ``"i4"``."""
        check(self, keys)

    def as_c(self, keys: str = "u4") -> str:
        """The expression for a kernel: the key's word is ``key``."""
        return as_c(self, keys)

    def bucket_as_c(self, keys: str) -> str:
        """The bucket that its value is, for a kernel."""
        return bucket_as_c(self, keys)

    def as_program(self, keys: str = "u4") -> bytes:
        """The expression for expression.hpp."""
        return as_program(self, keys)

    def of(self, keys: Any) -> Any:
        """Its value of a number from 0 to 2 ** 32 - 1, or of each item of a NumPy array of uint64 that holds such."""
        if not self.parts:
            return keys if self.symbol == "key" else self.symbol
        left, right = (part.of(keys) for part in self.parts)
        return _APPLY[str(self.symbol)](left, right) % _MODULUS

    def __add__(self, other: object) -> Expression:
        return _joined("+", self, other)

    def __radd__(self, other: object) -> Expression:
        return _joined("+", other, self)

    def __sub__(self, other: object) -> Expression:
        return _joined("-", self, other)

    def __rsub__(self, other: object) -> Expression:
        return _joined("-", other, self)

    def __mul__(self, other: object) -> Expression:
        return _joined("*", self, other)

    def __rmul__(self, other: object) -> Expression:
        return _joined("*", other, self)

    def __and__(self, other: object) -> Expression:
        return _joined("&", self, other)

    def __rand__(self, other: object) -> Expression:
        return _joined("&", other, self)

    def __or__(self, other: object) -> Expression:
        return _joined("|", self, other)

    def __ror__(self, other: object) -> Expression:
        return _joined("|", other, self)

    def __xor__(self, other: object) -> Expression:
        return _joined("^", self, other)

    def __rxor__(self, other: object) -> Expression:
        return _joined("^", other, self)

    def __floordiv__(self, other: object) -> Expression:
        return _joined("//", self, other)

    def __mod__(self, other: object) -> Expression:
        return _joined("%", self, other)

    def __truediv__(self, other: object) -> Expression:
        return _joined("/", self, other)

    def __rtruediv__(self, other: object) -> Expression:
        return _joined("/", other, self)

    def __lshift__(self, other: object) -> Expression:
        return _joined("<<", self, other)

    def __rshift__(self, other: object) -> Expression:
        return _joined(">>", self, other)

    def __lt__(self, other: object) -> Expression:
        return _joined("<", self, other)

    def __le__(self, other: object) -> Expression:
        return _joined("<=", self, other)

    def __gt__(self, other: object) -> Expression:
        return _joined(">", self, other)

    def __ge__(self, other: object) -> Expression:
        return _joined(">=", self, other)

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]
        return _joined("==", self, other)

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]
        return _joined("!=", self, other)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise OptionError("an expression is a function of keys and neither true nor false; join comparisons by & and |")


_APPLY = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a + (_MODULUS - b),
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "<": lambda a, b: (a < b) * 1,
    "<=": lambda a, b: (a <= b) * 1,
    ">": lambda a, b: (a > b) * 1,
    ">=": lambda a, b: (a >= b) * 1,
    "==": lambda a, b: (a == b) * 1,
    "!=": lambda a, b: (a != b) * 1,
}


def _joined(symbol: str, left: object, right: object) -> Expression:
    if symbol in _SHIFTS and not (isinstance(right, int) and 0 <= right < 64):
        raise OptionError(f"keys are shifted by a number from 0 to 63, not by {right!r}")
    if symbol in _DIVISIONS and not (isinstance(right, int) and right > 0):
        raise OptionError(f"keys are divided by a positive number, not by {right!r}")
    parts = _part(left), _part(right)
    depth = 1 + max(part.depth for part in parts)
    if depth > _DEEPEST:
        raise OptionError(f"an expression may be {_DEEPEST} operators deep at most")
    return Expression(symbol, parts, depth)


def _part(value: object) -> Expression:
    if isinstance(value, Expression):
        return value
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or (isinstance(value, float) and not math.isfinite(value)):
        raise OptionError(f"numbers in an expression are whole ones or finite floats, not {value!r}")
    return Expression(value)  # type: ignore[arg-type]


key = Expression("key")
"""The key itself, from which bucket functions are built."""
