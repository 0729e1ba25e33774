"""Launches that are made for one text after another: worked out once, with symbols in place of the numbers and addresses that a
text has, and then told by one native call for each text (gpu/kernels/trace.hpp).

Code that launches runs once with a `Recorder` for its launcher. What it works out of symbols is noted as it goes (as JAX and
CUDA's stream capture note a computation), so there is one text of that code, and no second one of its rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from headrace import _native
from headrace.core.process_lock import process_lock
from headrace.gpu.kernels.kernel import Kernel
from headrace.gpu.kernels.launcher import Entry, Part, Room, Shape
from headrace.gpu.kernels.trace_expressions import UNKNOWN, Figures, Packed, Symbol


class SymbolRoom:
    """Memory that a run has, by its number: those that it is given come first, then those that it makes."""

    __slots__ = ("address", "nbytes", "number")

    def __init__(self, number: int, address: Any, nbytes: Any) -> None:
        self.number, self.address, self.nbytes = number, address, nbytes

    def of_size(self, nbytes: Any) -> SymbolRoom:
        """The same, with so many bytes."""
        return SymbolRoom(self.number, self.address, nbytes)


@dataclass(frozen=True, slots=True)
class Launched:
    """A kernel, and what it is told."""

    entry: Entry
    shape: Shape
    args: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Filled:
    """Memory all bytes of which become the same."""

    room: Room
    byte: int


KernelOf = Callable[[Entry, Mapping[str, int]], Kernel]


@dataclass(slots=True, eq=False)
class Recording:
    """What was recorded.

    Parameters
    ----------
    zeroed, others
        Sizes of the rooms that a run makes: of zeros, and of anything. They lie behind those that it is given.
    steps
        In order.
    figures
        What is worked out. A run's inputs are its numbers, addresses of the rooms that it is given, and of those that it makes.
    compiled
        For each card, the same as native code has it.
    """

    zeroed: list[Any]
    others: list[Any]
    steps: list[Launched | Filled]
    figures: Figures
    _compiled: dict[int, tuple[Any, list[str]]] = field(default_factory=dict)

    @property
    def makes_rooms(self) -> bool:
        """Whether a run makes any."""
        return bool(self.zeroed or self.others)

    def compiled(self, card: int, calls: _native.CardCalls, kernel_of: KernelOf) -> tuple[_native.RecordedLaunches, list[str]]:
        """The same as native code has it, for a card, and the names of its steps."""
        found = self._compiled.get(card)
        if found is None:
            with _compiling:
                found = self._compiled.get(card)  # another thread may have been first
                if found is None:
                    found = self._compiled[card] = _compiled(self, calls, kernel_of)
        return found


class Recorder:
    """A launcher (`headrace.gpu.kernels.launcher.Launcher`) that notes what it is told.

    Parameters
    ----------
    numbers, rooms
        How many a run is given.
    """

    waits = 0

    def __init__(self, numbers: int, rooms: int) -> None:
        self._figures = Figures()
        self.numbers = [self._figures.input() for _ in range(numbers)]
        """A run's."""
        self._unknown = Symbol(self._figures, UNKNOWN, 0)
        self.given = [SymbolRoom(number, self._figures.input(), self._unknown) for number in range(rooms)]
        """A run's rooms; how large they are nobody asks."""
        self._rooms_given = rooms
        self._steps: list[Launched | Filled] = []
        self._zeroed: list[SymbolRoom] = []
        self._others: list[SymbolRoom] = []

    def current(self) -> AbstractContextManager[None]:
        """As `Launcher.current`."""
        return nullcontext()

    def room(self, nbytes: Any, *, fill: int | None = None) -> Any:
        """As `Launcher.room`."""
        (made,) = self.rooms([nbytes]) if fill == 0 else self.rooms([], [nbytes])
        if fill:
            self.fill(made, fill)
        return made

    def rooms(self, zeroed: Sequence[Any], others: Sequence[Any] = (), *, ones: int = 0) -> Any:
        """As `Launcher.rooms`; they are made when the run begins."""
        assert not ones  # nobody who is recorded asks for such
        made = [[SymbolRoom(-1, self._figures.input(), nbytes) for nbytes in sizes] for sizes in (zeroed, others)]
        self._zeroed += made[0]
        self._others += made[1]
        return [*made[0], *made[1]]

    def fill(self, room: Any, byte: int) -> None:
        """As `Launcher.fill`."""
        self._steps.append(Filled(room, byte))

    def together(self) -> AbstractContextManager[object]:
        """As `Launcher.together`."""
        return nullcontext()

    def launch(self, entry: Entry, shape: Shape, args: Sequence[Any]) -> None:
        """As `Launcher.launch`."""
        self._steps.append(Launched(entry, shape, list(args)))

    def number_made(self, room: Any) -> int | None:
        """Which of the rooms that a run makes, once all is recorded; None if it is given that one, or of none."""
        return None if room is None or room.number < self._rooms_given else room.number - self._rooms_given

    def done(self) -> Recording:
        """What was recorded. Rooms are numbered as a run makes them."""
        made = [*self._zeroed, *self._others]
        for number, room in enumerate(made, self._rooms_given):
            room.number = number
            room.address.number = len(self.numbers) + number
        zeroed, others = ([room.nbytes for room in some] for some in (self._zeroed, self._others))
        return Recording(zeroed, others, self._steps, self._figures)


_compiling = process_lock()
"""Constants are gathered by one thread."""


def _compiled(recording: Recording, calls: _native.CardCalls, kernel_of: KernelOf) -> tuple[_native.RecordedLaunches, list[str]]:
    figures, steps = recording.figures, recording.steps
    sizes = [*recording.zeroed, *recording.others]
    fills = [(step.room.address, step.room.nbytes) for step in steps if isinstance(step, Filled)]
    grids = [_grid(step.shape.blocks) for step in steps if isinstance(step, Launched)]
    for value in [*sizes, *chain(*fills), *chain(*grids)]:
        figures.of(value)  # constants come before all else
    made = [(int(operation), figures.place(first), figures.place(second)) for operation, first, second in figures.made]
    native = _native.RecordedLaunches(calls, figures.constants, figures.inputs, made, [figures.place(size) for size in sizes])
    names = []
    for step in steps:
        if isinstance(step, Filled):
            native.fill(figures.place(step.room.address), step.byte, figures.place(step.room.nbytes))
            names.append("fill")
            continue
        plain, patches = _arguments(figures, step.args)
        shape = step.shape
        call, _, block, shared, *_ = kernel_of(step.entry, shape.defines).prepare(1, shape.threads, plain, shape.shared)
        native.launch(call, [figures.place(one) for one in _grid(shape.blocks)], block, shared, plain, patches)
        names.append(step.entry.name)
    return native, names


def _grid(blocks: Any) -> tuple[Any, Any, Any]:
    return blocks if isinstance(blocks, tuple) else (blocks, 1, 1)


def _arguments(figures: Figures, args: Sequence[Any]) -> tuple[list[Any], list[tuple[int, int, int, int]]]:
    """Arguments whose symbols are 0, and where symbols go: parameter, byte of it, bytes, value."""
    plain: list[Any] = []
    patches: list[tuple[int, int, int, int]] = []
    for number, arg in enumerate(args):
        value = arg.address if isinstance(arg, SymbolRoom | Part) else arg
        if isinstance(value, Packed):
            plain.append(value.plain)
            patches += [(number, first, size, figures.place(symbol)) for first, size, symbol in value.symbols]
        elif isinstance(value, Symbol):
            plain.append(0)
            patches.append((number, 0, 0, figures.place(value)))  # all of the parameter
        else:
            plain.append(value)
    return plain, patches


class Run:
    """What a run has, for launchers that tell each step by itself.

    Parameters
    ----------
    recording
        What is run.
    numbers, rooms
        What it is given.
    made
        The rooms that it makes; none, to know `sizes`.
    """

    def __init__(self, recording: Recording, numbers: Sequence[int], rooms: Sequence[Room | None], made: Sequence[Room]) -> None:
        self._figures = recording.figures
        self._rooms: list[Room | None] = [*rooms, *made]
        missing = [0] * (len(recording.zeroed) + len(recording.others) - len(made))
        addresses = [0 if room is None else room.address for room in self._rooms]
        self._values = self._figures.values([*numbers, *addresses, *missing])

    def number(self, value: Any) -> int:
        """What a number of the recording is."""
        return self._values[self._figures.place(value)] if isinstance(value, Symbol) else value

    def room(self, value: Any) -> Room | None:
        """What a room of the recording is, or a part of one."""
        known: Any = value.room if isinstance(value, Part) else value
        whole: Room | None = self._rooms[known.number]
        if not isinstance(value, Part):
            return whole
        if whole is None:
            return None
        size: Any = value.nbytes
        is_rest = isinstance(size, Symbol) and size.kind == UNKNOWN
        return Part(whole, self.number(value.begin), None if is_rest else self.number(size))

    def argument(self, value: Any) -> Any:
        """What a kernel is told."""
        if isinstance(value, SymbolRoom | Part):
            return self.room(value)
        if isinstance(value, Packed):
            told = bytearray(value.plain)
            for first, size, symbol in value.symbols:
                told[first : first + size] = self.number(symbol).to_bytes(size, "little")
            return bytes(told)
        return self.number(value)

    def shape(self, shape: Shape) -> Shape:
        """How a kernel is launched."""
        blocks: Any = shape.blocks
        known = tuple(map(self.number, blocks)) if isinstance(blocks, tuple) else self.number(blocks)
        return Shape(shape.defines, known, shape.threads, shape.shared)  # type: ignore[arg-type]  # three blocks remain three
