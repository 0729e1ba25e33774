"""A bucket function as a value: built from `key` by Python's operators, for a kernel as C, for the CPU as a stack program.

Numbers are whole and have 32 bits; everything is modulo 2 ** 32, so a kernel and the CPU agree to the bit.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from headrace.core.errors import OptionError

_MODULUS = 2**32
_SHIFTS = {"<<", ">>"}
_DIVISIONS = {"//", "%"}
_COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}
_DEEPEST = 100
_OPERATIONS: tuple[str | int, ...] = (
    "key", "number", "+", "-", "*", "&", "|", "^", "//", "%", "<<", ">>", "<", "<=", ">", ">=", "==", "!=",
)  # fmt: skip
"""In the order of expression.hpp."""


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """A function of a key. A comparison is one too, 1 where it holds and 0 where not.

    Parameters
    ----------
    symbol
        ``"key"``, a number, or a Python operator.
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

    symbol: str | int
    parts: tuple[Expression, ...] = ()
    depth: int = 0

    @property
    def is_comparison(self) -> bool:
        """Whether its values are 0 and 1."""
        return self.symbol in _COMPARISONS

    def as_c(self) -> str:
        """The expression for a kernel: its key is ``key``."""
        if not self.parts:
            return f"{self.symbol}u" if isinstance(self.symbol, int) else self.symbol
        left, right = (part.as_c() for part in self.parts)
        if self.symbol in _COMPARISONS:
            return f"({left} {self.symbol} {right} ? 1u : 0u)"
        return f"({left} {'/' if self.symbol == '//' else self.symbol} {right})"

    def as_program(self) -> bytes:
        """The expression for expression.hpp: what to do and a number, in the order in which a stack needs them.

        Examples
        --------
        >>> struct.unpack("<6I", (key >> 24).as_program())
        (0, 0, 1, 24, 11, 0)
        """
        if self.parts:
            before = b"".join(part.as_program() for part in self.parts)
            return before + struct.pack("<II", _OPERATIONS.index(self.symbol), 0)
        if isinstance(self.symbol, int):
            return struct.pack("<II", _OPERATIONS.index("number"), self.symbol)
        return struct.pack("<II", _OPERATIONS.index("key"), 0)

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
    if symbol in _SHIFTS and not (isinstance(right, int) and 0 <= right < 32):
        raise OptionError(f"keys are shifted by a number from 0 to 31, not by {right!r}")
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
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _MODULUS:
        raise OptionError(f"numbers in an expression are whole, from 0 to 2 ** 32 - 1, not {value!r}")
    return Expression(value)


key = Expression("key")
"""The key itself, from which bucket functions are built."""
