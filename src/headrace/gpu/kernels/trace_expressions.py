"""Numbers that a recording (`headrace.gpu.kernels.trace`) does not know: symbols, what is worked out of them, and structures
that they are put in.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from headrace.gpu.kernels.arguments import signature_codes


class Operation(IntEnum):
    """Of two numbers; as gpu/kernels/trace.hpp has them."""

    ADD = 0
    SUBTRACT = 1
    MULTIPLY = 2
    DIVIDE = 3
    REMAINDER = 4
    LEAST = 5
    MOST = 6


def figure(operation: Operation, first: int, second: int) -> int:
    """What becomes of two numbers.

    Examples
    --------
    >>> figure(Operation.DIVIDE, -7, 2), figure(Operation.MOST, 3, 4)
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
    Operation.LEAST: min,
    Operation.MOST: max,
}


UNKNOWN = "unknown"
"""Kind of a symbol that no run has."""


class Figures:
    """All that is worked out of what a run is given: constants, inputs, and results, in this order when it is run."""

    def __init__(self) -> None:
        self.constants: list[int] = []
        self.inputs = 0
        self.made: list[tuple[Operation, Symbol, Symbol]] = []

    def input(self) -> Symbol:
        """One more number that a run is given."""
        self.inputs += 1
        return Symbol(self, "input", self.inputs - 1)

    def of(self, value: Symbol | int) -> Symbol:
        """A number as a symbol."""
        if isinstance(value, Symbol):
            return value
        if value not in self.constants:
            self.constants.append(value)
        return Symbol(self, "constant", self.constants.index(value))

    def make(self, operation: Operation, first: Symbol | int, second: Symbol | int) -> Symbol:
        """The symbol of a result; of what nobody knows nothing can be worked out."""
        several = self.of(first), self.of(second)
        for one in several:
            if one.kind == UNKNOWN:
                return one
        self.made.append((operation, *several))
        return Symbol(self, "made", len(self.made) - 1)

    def place(self, value: Symbol | int) -> int:
        """Which of all values it is. No constant may come after the first of these."""
        symbol = self.of(value)
        before = {"constant": 0, "input": len(self.constants), "made": len(self.constants) + self.inputs}
        return before[symbol.kind] + symbol.number

    def values(self, inputs: Sequence[int]) -> list[int]:
        """All values, for a run that is given these."""
        found = [*self.constants, *inputs]
        for operation, first, second in self.made:
            found.append(figure(operation, found[self.place(first)], found[self.place(second)]))
        return found


class Symbol:
    """A number that a run has, and a recording does not know. It is neither compared nor asked whether it is 0."""

    __slots__ = ("figures", "kind", "number")

    def __init__(self, figures: Figures, kind: str, number: int) -> None:
        self.figures, self.kind, self.number = figures, kind, number

    def __add__(self, other: Symbol | int) -> Symbol:
        return self if isinstance(other, int) and other == 0 else self.figures.make(Operation.ADD, self, other)

    __radd__ = __add__

    def __sub__(self, other: Symbol | int) -> Symbol:
        return self.figures.make(Operation.SUBTRACT, self, other)

    def __mul__(self, other: Symbol | int) -> Symbol:
        return self.figures.make(Operation.MULTIPLY, self, other)

    __rmul__ = __mul__

    def __floordiv__(self, other: Symbol | int) -> Symbol:
        return self.figures.make(Operation.DIVIDE, self, other)

    def __mod__(self, other: Symbol | int) -> Symbol:
        return self.figures.make(Operation.REMAINDER, self, other)

    def __neg__(self) -> Symbol:
        return self.figures.make(Operation.SUBTRACT, 0, self)

    def __bool__(self) -> bool:
        raise TypeError("a number that a recording does not know decides nothing in it")

    def __eq__(self, other: object) -> bool:
        return bool(self)

    def __lt__(self, other: object) -> bool:
        return bool(self)

    __le__ = __gt__ = __ge__ = __lt__
    __hash__ = None  # type: ignore[assignment]


def least(first: Any, second: Any) -> Any:
    """The smaller of two numbers, either of which may be a symbol."""
    return min(first, second) if type(first) is type(second) is int else _either(Operation.LEAST, first, second)


def most(first: Any, second: Any) -> Any:
    """The larger of two numbers, either of which may be a symbol."""
    return max(first, second) if type(first) is type(second) is int else _either(Operation.MOST, first, second)


def _either(operation: Operation, first: Any, second: Any) -> Any:
    for one in (first, second):
        if isinstance(one, Symbol):
            return one.figures.make(operation, first, second)
    return figure(operation, first, second)


@dataclass(frozen=True, slots=True)
class Packed:
    """Bytes of a structure, and the symbols that some of them are to be: first byte, size, symbol."""

    plain: bytes
    symbols: tuple[tuple[int, int, Symbol], ...]

    def __add__(self, behind: bytes) -> Packed:
        return Packed(self.plain + behind, self.symbols)


def packed(form: struct.Struct, *values: Any) -> Any:
    """As `struct.Struct.pack`, some of whose numbers may be symbols."""
    if not any(isinstance(value, Symbol) for value in values):
        return form.pack(*values)
    codes = signature_codes(form.format.removeprefix("="))
    sizes = [struct.calcsize("=" + code) for code in codes]
    symbols = [(sum(sizes[:number]), sizes[number], value) for number, value in enumerate(values) if isinstance(value, Symbol)]
    return Packed(form.pack(*[0 if isinstance(value, Symbol) else value for value in values]), tuple(symbols))
