"""Represents functions of a key, built from `key` by Python operators, and translates them for both devices.

A kernel takes an expression as C, the CPU as a program for a stack machine. Values have the type of the keys, and integers wrap
modulo 2 to the number of their bits, so both devices agree to the bit (expression_types.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

from headrace.core.errors import OptionError, shown
from headrace.core.expressions.expression_types import COMPARISONS, as_c, as_program, bucket_as_c, check
from headrace.core.expressions.operators import Operators, check_depth, plain
from headrace.core.options import integer

_MODULUS = 2**32
_SHIFTS = {"<<", ">>"}
_DIVISIONS = {"//", "%"}
_JOINS = {"&", "|", "^"}


@dataclass(frozen=True, slots=True, eq=False)
class Expression(Operators):
    """Function of a key. The value of a comparison is 1 if it is true, else 0.

    Parameters
    ----------
    symbol
        ``"key"``, ``"low"`` or ``"high"`` (the words of a key of 16 bytes), a number, or a Python operator.
    parts
        Operands of the operator.
    depth
        Number of nested operators.

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
        """True if the expression is a comparison, with values 0 and 1."""
        return self.symbol in COMPARISONS

    @property
    def is_truth(self) -> bool:
        """True if the expression is a comparison, or comparisons combined by ``&``, ``|`` and ``^``."""
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
            raise OptionError(f"only the key itself has the part {name!r}, not an expression of it")
        return Expression(name)

    def check(self, keys: str) -> None:
        """Raise OptionError if the expression does not take keys of a type, as NumPy writes it: ``"i4"``."""
        check(self, keys)

    def as_c(self, keys: str = "u4") -> str:
        """Return the expression as C for a kernel, in which ``key`` is the word of the key."""
        return as_c(self, keys)

    def bucket_as_c(self, keys: str) -> str:
        """Return the bucket as C for a kernel: the value as a bucket number."""
        return bucket_as_c(self, keys)

    def as_program(self, keys: str = "u4") -> bytes:
        """Return the program for the CPU (expression.hpp)."""
        return as_program(self, keys)

    def of(self, keys: Any) -> Any:
        """Return the value for a number from 0 to 2 ** 32 - 1, or for each such number of a NumPy array of uint64."""
        if str(getattr(keys, "dtype", "")) != "uint64":
            keys = integer("keys", keys, "a number from 0 to 2 ** 32 - 1, or an array of uint64", 0, _MODULUS - 1)
        return _value(self, keys)

    @classmethod
    def combined(cls, symbol: str, left: object, right: object) -> Self:
        """Return the expression of an operator and its operands, which are expressions or numbers of Python or NumPy."""
        left, right = plain(left), plain(right)
        whole = -1 if isinstance(right, bool) or not isinstance(right, int) else right
        if symbol in _SHIFTS and not 0 <= whole < 64:
            raise OptionError(f"keys are shifted by a number from 0 to 63, not by {shown(right)}")
        if symbol in _DIVISIONS and whole <= 0:
            raise OptionError(f"keys are divided by a positive number, not by {shown(right)}")
        parts = _part(left), _part(right)
        return cls(symbol, parts, check_depth(1 + max(part.depth for part in parts)))

    def __lshift__(self, other: object) -> Self:
        return self.combined("<<", self, other)

    def __rshift__(self, other: object) -> Self:
        return self.combined(">>", self, other)


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


def _value(expression: Expression, keys: Any) -> Any:
    if not expression.parts:
        return keys if expression.symbol == "key" else expression.symbol
    left, right = (_value(part, keys) for part in expression.parts)
    return _APPLY[str(expression.symbol)](left, right) % _MODULUS


def _part(value: object) -> Expression:
    if isinstance(value, Expression):
        return value
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or (isinstance(value, float) and not math.isfinite(value)):
        raise OptionError(f"numbers in an expression are integers or finite floats, not {shown(value)}")
    return Expression(value)  # type: ignore[arg-type]


key = Expression("key")  # the key itself, from which expressions are built
