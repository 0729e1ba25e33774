"""Checks expressions for a type of keys, and translates them to C for a kernel and to a program for the CPU.

An expression is a tree of operators whose leaves are keys and numbers (expression.py). It is evaluated in the type of its keys.
Integers narrower than 4 bytes are widened to 4, keys of 16 bytes are words of 8, and floats are floats.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace.core.errors import OptionError

if TYPE_CHECKING:
    from headrace.core.expressions.expression import Expression

COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}
_JOINS = {"&", "|", "^"}
_SHIFTS = {"<<", ">>"}
_OPERATIONS: tuple[str, ...] = (
    "key", "high", "number", "+", "-", "*", "&", "|", "^", "//", "%", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "/",
)  # fmt: skip
"""In the order of ExpressionOperation of expression_kernels.hpp."""
_FUNCTIONS = {
    "+": "added", "-": "subtracted", "*": "multiplied", "&": "conjoined", "|": "disjoined", "^": "differing",
    "//": "quotient_of", "%": "remainder_of", "<<": "shifted_left", ">>": "shifted_right",
}  # fmt: skip
"""Functions of expression_values.hpp."""
_LEAVES = {
    "u1": "static_cast<u32>(key)", "u2": "static_cast<u32>(key)", "u4": "key", "u8": "key",
    "i1": "static_cast<i32>(static_cast<i8>(key))", "i2": "static_cast<i32>(static_cast<i16>(key))",
    "i4": "static_cast<i32>(key)", "i8": "static_cast<i64>(key)", "f4": "bits_as<float>(key)", "f8": "bits_as<double>(key)",
    "V16": "key",
}  # fmt: skip
"""A key as C, from its word: kernels read keys as unsigned words."""


@dataclass(frozen=True, slots=True)
class Values:
    """Type of an expression's values."""

    number: int  # number of the type in a program (expression_kernels.hpp)
    name: str  # name of the type in the kernels
    letter: str  # code of the type in the `struct` module

    @property
    def bits(self) -> int:
        """Bits of a value."""
        return 8 * struct.calcsize(self.letter)

    @property
    def is_float(self) -> bool:
        """True if values are floats."""
        return self.letter in "fd"

    def check_number(self, value: Any) -> Any:
        """Return a number as a value of this type. Raise OptionError if the type cannot represent the number."""
        if self.is_float:
            try:
                found = struct.unpack(f"<{self.letter}", struct.pack(f"<{self.letter}", value))[0]
            except OverflowError:
                found = math.inf
            if math.isfinite(found):
                return found
            raise OptionError(f"numbers in an expression of {self.name} keys must be finite in that type, not {value!r}")
        signed = self.name[0] == "i"
        low, above = (-(1 << (self.bits - 1)), 1 << (self.bits - 1)) if signed else (0, 1 << self.bits)
        if not isinstance(value, int) or not low <= value < above:
            lowest = f"-2 ** {self.bits - 1}" if signed else "0"
            kind = {"u": "unsigned", "i": "signed"}[self.name[0]]
            highest = f"2 ** {self.bits - signed} - 1"
            raise OptionError(
                f"numbers in an expression of {kind} {self.bits}-bit keys are integers from {lowest} to {highest}, not {value!r}"
            )
        return value

    def as_c(self, value: Any) -> str:
        """Return a number as C, exactly."""
        if not self.is_float:
            return f"{value}u" if self.name == "u32" else f"static_cast<{self.name}>({value % (1 << self.bits)}ull)"
        word = struct.pack(f"<{self.letter}", value)
        return f"bits_as<{self.name}>({int.from_bytes(word, 'little')}{'u' if self.letter == 'f' else 'ull'})"


U32 = Values(0, "u32", "I")
_I32, _U64, _I64 = Values(1, "i32", "i"), Values(2, "u64", "Q"), Values(3, "i64", "q")
_VALUES = {
    "u1": U32, "u2": U32, "u4": U32, "i1": _I32, "i2": _I32, "i4": _I32, "u8": _U64, "V16": _U64, "i8": _I64,
    "f4": Values(4, "float", "f"), "f8": Values(5, "double", "d"),
}  # fmt: skip


def operation_number(symbol: str) -> int:
    """Return the number of an operator in expression_kernels.hpp."""
    return _OPERATIONS.index(symbol)


def values_of(keys: str) -> Values:
    """Return the type of values for keys of a type, which is written as in NumPy but without byte order."""
    if not isinstance(keys, str) or keys not in _VALUES:
        raise OptionError.unknown("type of keys", keys, _VALUES)
    return _VALUES[keys]


def check(expression: Expression, keys: str) -> None:
    """Raise OptionError if the expression does not take such keys."""
    values = values_of(keys)
    symbol = expression.symbol
    if not expression.parts:
        if isinstance(symbol, str):
            _check_leaf(symbol, keys)
        else:
            values.check_number(symbol)
        return
    for part in expression.parts:
        check(part, keys)
    if symbol in _SHIFTS and not values.is_float:
        by = expression.parts[1].symbol
        if not (isinstance(by, int) and by < values.bits):
            raise OptionError(f"keys are shifted by a number from 0 to {values.bits - 1}, not by {by!r}")
    elif values.is_float and (symbol in {"//", "%"} | _SHIFTS):
        raise OptionError(f"{symbol} is for integers; for {values.name} keys the bucket is the integer part of the value")
    elif values.is_float and symbol in _JOINS and not all(part.is_truth for part in expression.parts):
        raise OptionError(f"{symbol} of {values.name} keys combines comparisons, such as (key > 0) {symbol} (key < 1)")
    elif symbol == "/" and not values.is_float:
        raise OptionError("/ is for floats; integers are divided by //")


def _check_leaf(symbol: str, keys: str) -> None:
    if keys == "V16" and symbol == "key":
        raise OptionError("keys of 16 bytes are two words of 8, key.low and key.high")
    if keys != "V16" and symbol != "key":
        raise OptionError(f"key.{symbol} is a part of keys of 16 bytes")


def as_c(expression: Expression, keys: str) -> str:
    """Return the value as C for a kernel, in which ``key`` is the word of the key."""
    values, symbol = values_of(keys), expression.symbol
    if not expression.parts:
        if isinstance(symbol, str):
            return _LEAVES[keys] if symbol == "key" else f"key.{symbol}"
        return values.as_c(values.check_number(symbol))
    if expression.is_truth and values is not U32:
        return f"({truth_as_c(expression, keys)} ? {values.name}(1) : {values.name}(0))"
    left, right = (as_c(part, keys) for part in expression.parts)
    if symbol in COMPARISONS:
        return f"({left} {symbol} {right} ? 1u : 0u)"
    if values is U32 or symbol == "/":
        return f"({left} {'/' if symbol == '//' else symbol} {right})"
    return f"{_FUNCTIONS[str(symbol)]}<{values.name}>({left}, {right})"


def truth_as_c(expression: Expression, keys: str) -> str:
    """Return a combination of comparisons as a C condition, which avoids floating-point products of the values 0 and 1."""
    of = as_c if expression.is_comparison else truth_as_c
    left, right = (of(part, keys) for part in expression.parts)
    return f"({left} {expression.symbol} {right})"


def bucket_as_c(expression: Expression, keys: str) -> str:
    """Return the bucket as C for a kernel."""
    if expression.is_truth:
        return f"({truth_as_c(expression, keys)} ? 1u : 0u)"
    text = as_c(expression, keys)
    return text if values_of(keys) is U32 else f"bucket_of({text})"


def as_program(expression: Expression, keys: str) -> bytes:
    """Return the program for expression.hpp: the type of the values, then operations and numbers in postfix order.

    >>> from headrace.core.expressions.expression import key
    >>> struct.unpack("<2I IIQ IIQ IIQ", as_program(key >> 24, "u4"))
    (0, 0, 0, 0, 0, 2, 0, 24, 12, 0, 0)
    """
    values = values_of(keys)
    return struct.pack("<2I", values.number, 0) + b"".join(_steps(expression, values))


def _steps(expression: Expression, values: Values) -> list[bytes]:
    symbol = expression.symbol
    if expression.parts:
        left, right = (_steps(part, values) for part in expression.parts)
        return [*left, *right, struct.pack("<IIQ", _OPERATIONS.index(str(symbol)), 0, 0)]
    if isinstance(symbol, str):
        return [struct.pack("<IIQ", int(symbol == "high"), 0, 0)]
    number = struct.pack(f"<{values.letter}", values.check_number(symbol)).ljust(8, b"\0")
    return [struct.pack("<II", _OPERATIONS.index("number"), 0) + number]
