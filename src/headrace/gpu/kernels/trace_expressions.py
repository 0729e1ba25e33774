"""Represents numbers of a trace (`headrace.gpu.kernels.trace`) that only a run has: symbols, expressions, packed structures."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from headrace.gpu.kernels.arguments import signature_codes


class Operation(IntEnum):
    """Binary operations: TraceOperation of gpu/kernels/trace.hpp."""

    ADD = 0
    SUBTRACT = 1
    MULTIPLY = 2
    DIVIDE = 3
    REMAINDER = 4
    MINIMUM = 5
    MAXIMUM = 6


def evaluate(operation: Operation, first: int, second: int) -> int:
    """Return the result of an operation on two numbers.

    >>> evaluate(Operation.DIVIDE, -7, 2), evaluate(Operation.MAXIMUM, 3, 4)
    (-4, 4)
    """
    found: int = _FUNCTIONS[operation](first, second)
    return found


_FUNCTIONS: Mapping[Operation, Any] = {
    Operation.ADD: int.__add__,
    Operation.SUBTRACT: int.__sub__,
    Operation.MULTIPLY: int.__mul__,
    Operation.DIVIDE: int.__floordiv__,
    Operation.REMAINDER: int.__mod__,
    Operation.MINIMUM: min,
    Operation.MAXIMUM: max,
}


UNKNOWN = "unknown"  # kind of a symbol whose value no run has


class Expressions:
    """Values of a trace: constants, inputs of a run, and results of operations, evaluated in this order."""

    def __init__(self) -> None:
        self.constants: list[int] = []
        self.inputs = 0
        self.results: list[tuple[Operation, Symbol, Symbol]] = []

    def input(self) -> Symbol:
        """Add an input of the run and return its symbol."""
        self.inputs += 1
        return Symbol(self, "input", self.inputs - 1)

    def of(self, value: Symbol | int) -> Symbol:
        """Return the symbol for a number; a constant is stored once."""
        if isinstance(value, Symbol):
            return value
        if value not in self.constants:
            self.constants.append(value)
        return Symbol(self, "constant", self.constants.index(value))

    def combine(self, operation: Operation, first: Symbol | int, second: Symbol | int) -> Symbol:
        """Return the symbol for the result. The result is `UNKNOWN` if either operand is."""
        several = self.of(first), self.of(second)
        for one in several:
            if one.kind == UNKNOWN:
                return one
        self.results.append((operation, *several))
        return Symbol(self, "result", len(self.results) - 1)

    def place(self, value: Symbol | int) -> int:
        """Return the index of a value among all values. No constant may be added after the first call."""
        symbol = self.of(value)
        before = {"constant": 0, "input": len(self.constants), "result": len(self.constants) + self.inputs}
        return before[symbol.kind] + symbol.number

    def values(self, inputs: Sequence[int]) -> list[int]:
        """Return all values for these inputs of a run."""
        found = [*self.constants, *inputs]
        for operation, first, second in self.results:
            found.append(evaluate(operation, found[self.place(first)], found[self.place(second)]))
        return found


class Symbol:
    """A number that is known in a run but not in the trace. Comparing it, or using it as a condition, raises `TypeError`."""

    __slots__ = ("expressions", "kind", "number")

    def __init__(self, expressions: Expressions, kind: str, number: int) -> None:
        self.expressions, self.kind, self.number = expressions, kind, number

    def __add__(self, other: Symbol | int) -> Symbol:
        return self if isinstance(other, int) and other == 0 else self.expressions.combine(Operation.ADD, self, other)

    __radd__ = __add__

    def __sub__(self, other: Symbol | int) -> Symbol:
        return self.expressions.combine(Operation.SUBTRACT, self, other)

    def __mul__(self, other: Symbol | int) -> Symbol:
        return self.expressions.combine(Operation.MULTIPLY, self, other)

    __rmul__ = __mul__

    def __floordiv__(self, other: Symbol | int) -> Symbol:
        return self.expressions.combine(Operation.DIVIDE, self, other)

    def __mod__(self, other: Symbol | int) -> Symbol:
        return self.expressions.combine(Operation.REMAINDER, self, other)

    def __neg__(self) -> Symbol:
        return self.expressions.combine(Operation.SUBTRACT, 0, self)

    def __bool__(self) -> bool:
        raise TypeError("a traced number cannot be a condition: its value is known in a run only")

    def __eq__(self, other: object) -> bool:
        return bool(self)

    def __lt__(self, other: object) -> bool:
        return bool(self)

    __le__ = __gt__ = __ge__ = __lt__
    __hash__ = None  # type: ignore[assignment]


def least(first: Any, second: Any) -> Any:
    """The smaller of two numbers, either of which may be a symbol."""
    return min(first, second) if type(first) is type(second) is int else _either(Operation.MINIMUM, first, second)


def most(first: Any, second: Any) -> Any:
    """The larger of two numbers, either of which may be a symbol."""
    return max(first, second) if type(first) is type(second) is int else _either(Operation.MAXIMUM, first, second)


def _either(operation: Operation, first: Any, second: Any) -> Any:
    for one in (first, second):
        if isinstance(one, Symbol):
            return one.expressions.combine(operation, first, second)
    return evaluate(operation, first, second)


@dataclass(frozen=True, slots=True)
class Packed:
    """Bytes of a structure, and symbols that replace some of them: first byte, size in bytes, symbol."""

    plain: bytes
    symbols: tuple[tuple[int, int, Symbol], ...]

    def __add__(self, suffix: bytes | Packed) -> Packed:
        if isinstance(suffix, Packed):
            return Packed(self.plain + suffix.plain, self.symbols + suffix._after(self.plain))
        return Packed(self.plain + suffix, self.symbols)

    def __radd__(self, prefix: bytes) -> Packed:
        return Packed(prefix + self.plain, self._after(prefix))

    def _after(self, prefix: bytes) -> tuple[tuple[int, int, Symbol], ...]:
        return tuple([(len(prefix) + first, size, symbol) for first, size, symbol in self.symbols])


def packed(form: struct.Struct, *values: Any) -> Any:
    """Pack like `struct.Struct.pack`; some numbers may be symbols."""
    if not any(isinstance(value, Symbol) for value in values):
        return form.pack(*values)
    codes = signature_codes(form.format.removeprefix("="))
    sizes = [struct.calcsize("=" + code) for code in codes]
    symbols = [(sum(sizes[:number]), sizes[number], value) for number, value in enumerate(values) if isinstance(value, Symbol)]
    return Packed(form.pack(*[0 if isinstance(value, Symbol) else value for value in values]), tuple(symbols))
