"""Traces a sequence of launches once, with symbolic sizes and addresses, and replays it for each input with one native call.

The launching code runs once with a `Recorder` as its launcher. Arithmetic on symbols is recorded as it happens, as in JAX or
in CUDA stream capture, so the code needs no second form for replay. The native part is gpu/kernels/trace.hpp.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from headrace import _native
from headrace.core.process.process_lock import process_lock
from headrace.gpu.kernels.kernel import Kernel, NeededProgram
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Entry, Shape
from headrace.gpu.kernels.trace_expressions import UNKNOWN, Expressions, Packed, Symbol


class SymbolicBuffer:
    """A buffer of a run, by index: the run's input buffers come first, then those that it allocates."""

    __slots__ = ("address", "nbytes", "number")

    def __init__(self, number: int, address: Any, nbytes: Any) -> None:
        self.number, self.address, self.nbytes = number, address, nbytes

    def of_size(self, nbytes: Any) -> SymbolicBuffer:
        """Return the same buffer with another size."""
        return SymbolicBuffer(self.number, self.address, nbytes)


@dataclass(frozen=True, slots=True)
class Launched:
    """A traced launch: kernel, configuration, arguments."""

    entry: Entry
    shape: Shape
    args: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Filled:
    """A traced fill of a buffer with one byte value."""

    buffer: DeviceBuffer
    byte: int


KernelOf = Callable[[Entry, Mapping[str, int]], Kernel]


@dataclass(slots=True, eq=False)
class Recording:
    """A traced sequence of launches."""

    zeroed: list[Any]
    others: list[Any]
    """Sizes of the buffers that a run allocates: cleared ones, and uninitialised ones. Their indices follow the inputs'."""
    steps: list[Launched | Filled]  # launches and fills, in order
    expressions: Expressions
    """Expressions over a run's inputs: its numbers, then the addresses of input buffers, then those of allocated buffers."""
    _compiled: dict[int, tuple[Any, list[str]]] = field(default_factory=dict)
    """Native form and names of the steps, by device index."""

    @property
    def allocates(self) -> bool:
        """True if a run allocates buffers."""
        return bool(self.zeroed or self.others)

    @property
    def programs(self) -> list[NeededProgram]:
        """The program of each launch."""
        return [NeededProgram(step.entry.file, step.shape.defines) for step in self.steps if isinstance(step, Launched)]

    def is_compiled(self, card: int) -> bool:
        """Return whether the native form for a device exists."""
        return card in self._compiled

    def compiled(self, card: int, calls: _native.CardCalls, kernel_of: KernelOf) -> tuple[_native.NativeTrace, list[str]]:
        """Return the native form for a device, and the names of the steps."""
        found = self._compiled.get(card)
        if found is None:
            with _compiling:
                found = self._compiled.get(card)  # another thread may have compiled it
                if found is None:
                    found = self._compiled[card] = _compiled(self, calls, kernel_of)
        return found


class Recorder:
    """A launcher (`headrace.gpu.kernels.launcher.Launcher`) that records calls instead of making them.

    `numbers`, `buffers`: counts of the numbers and buffers that each run passes.
    """

    waits = 0

    def __init__(self, numbers: int, buffers: int) -> None:
        self._expressions = Expressions()
        self.numbers = [self._expressions.input() for _ in range(numbers)]  # symbols of the run's numbers
        self._unknown = Symbol(self._expressions, UNKNOWN, 0)
        self.given = [SymbolicBuffer(number, self._expressions.input(), self._unknown) for number in range(buffers)]
        """Symbols of the run's input buffers; their sizes are unknown."""
        self._input_buffers = buffers
        self._steps: list[Launched | Filled] = []
        self._zeroed: list[SymbolicBuffer] = []
        self._others: list[SymbolicBuffer] = []

    def current(self) -> AbstractContextManager[None]:
        return nullcontext()

    def allocate(self, nbytes: Any, *, fill: int | None = None) -> Any:
        (result,) = self.allocate_group([nbytes]) if fill == 0 else self.allocate_group([], [nbytes])
        if fill:
            self.fill(result, fill)
        return result

    def allocate_group(self, zeroed: Sequence[Any], others: Sequence[Any] = (), *, ones: int = 0) -> Any:
        """See `Launcher.allocate_group`; a run allocates them at its beginning."""
        assert not ones  # no traced code uses it
        result = [[SymbolicBuffer(-1, self._expressions.input(), nbytes) for nbytes in sizes] for sizes in (zeroed, others)]
        self._zeroed += result[0]
        self._others += result[1]
        return [*result[0], *result[1]]

    def fill(self, buffer: Any, byte: int) -> None:
        self._steps.append(Filled(buffer, byte))

    def together(self) -> AbstractContextManager[object]:
        return nullcontext()

    def launch(self, entry: Entry, shape: Shape, args: Sequence[Any]) -> None:
        self._steps.append(Launched(entry, shape, list(args)))

    def number_made(self, buffer: Any) -> int | None:
        """Index among the buffers that a run allocates; None for an input buffer or for None."""
        return None if buffer is None or buffer.number < self._input_buffers else buffer.number - self._input_buffers

    def done(self) -> Recording:
        """Return the trace. Buffers are numbered in the order in which a run allocates them."""
        result = [*self._zeroed, *self._others]
        for number, buffer in enumerate(result, self._input_buffers):
            buffer.number = number
            buffer.address.number = len(self.numbers) + number
        zeroed, others = ([buffer.nbytes for buffer in some] for some in (self._zeroed, self._others))
        return Recording(zeroed, others, self._steps, self._expressions)


_compiling = process_lock()  # one thread at a time collects constants


def _compiled(recording: Recording, calls: _native.CardCalls, kernel_of: KernelOf) -> tuple[_native.NativeTrace, list[str]]:
    expressions, steps = recording.expressions, recording.steps
    sizes = [*recording.zeroed, *recording.others]
    fills = [(step.buffer.address, step.buffer.nbytes) for step in steps if isinstance(step, Filled)]
    grids = [_grid(step.shape.blocks) for step in steps if isinstance(step, Launched)]
    for value in [*sizes, *chain(*fills), *chain(*grids)]:
        expressions.of(value)  # constants precede all other values
    place = expressions.place
    result = [(int(operation), place(first), place(second)) for operation, first, second in expressions.results]
    native = _native.NativeTrace(
        calls, expressions.constants, expressions.inputs, result, [expressions.place(size) for size in sizes]
    )
    names = []
    for step in steps:
        if isinstance(step, Filled):
            native.fill(expressions.place(step.buffer.address), step.byte, expressions.place(step.buffer.nbytes))
            names.append("fill")
            continue
        plain, patches = _arguments(expressions, step.args)
        shape = step.shape
        call, _, block, shared, *_ = kernel_of(step.entry, shape.defines).prepare(1, shape.threads, plain, shape.shared)
        native.launch(call, [expressions.place(one) for one in _grid(shape.blocks)], block, shared, plain, patches)
        names.append(step.entry.name)
    return native, names


def _grid(blocks: Any) -> tuple[Any, Any, Any]:
    return blocks if isinstance(blocks, tuple) else (blocks, 1, 1)


def _arguments(expressions: Expressions, args: Sequence[Any]) -> tuple[list[Any], list[tuple[int, int, int, int]]]:
    """Return arguments with 0 for each symbol, and patches: parameter, first byte, size in bytes, value."""
    plain: list[Any] = []
    patches: list[tuple[int, int, int, int]] = []
    for number, arg in enumerate(args):
        value = arg.address if isinstance(arg, SymbolicBuffer | BufferSlice) else arg
        if isinstance(value, Packed):
            plain.append(value.plain)
            patches += [(number, first, size, expressions.place(symbol)) for first, size, symbol in value.symbols]
        elif isinstance(value, Symbol):
            plain.append(0)
            patches.append((number, 0, 0, expressions.place(value)))  # the whole parameter
        else:
            plain.append(value)
    return plain, patches


class Run:
    """Resolves the symbols of a trace for one run, for launchers that make each step by itself.

    `numbers`, `buffers`: inputs of the run.
    `made`: buffers that the run allocates; empty while their sizes are being computed.
    """

    def __init__(
        self,
        recording: Recording,
        numbers: Sequence[int],
        buffers: Sequence[DeviceBuffer | None],
        allocated: Sequence[DeviceBuffer],
    ) -> None:
        self._expressions = recording.expressions
        self._buffers: list[DeviceBuffer | None] = [*buffers, *allocated]
        missing = [0] * (len(recording.zeroed) + len(recording.others) - len(allocated))
        addresses = [0 if buffer is None else buffer.address for buffer in self._buffers]
        self._values = self._expressions.values([*numbers, *addresses, *missing])

    def number(self, value: Any) -> int:
        """Return the value of a number of the trace."""
        return self._values[self._expressions.place(value)] if isinstance(value, Symbol) else value

    def buffer(self, value: Any) -> DeviceBuffer | None:
        """Return the buffer, or the slice of one, that stands for a buffer of the trace."""
        known: Any = value.buffer if isinstance(value, BufferSlice) else value
        whole: DeviceBuffer | None = self._buffers[known.number]
        if not isinstance(value, BufferSlice):
            return whole
        if whole is None:
            return None
        size: Any = value.nbytes
        is_rest = isinstance(size, Symbol) and size.kind == UNKNOWN
        return BufferSlice(whole, self.number(value.begin), None if is_rest else self.number(size))

    def argument(self, value: Any) -> Any:
        """Return the value of a kernel argument."""
        if isinstance(value, SymbolicBuffer | BufferSlice):
            return self.buffer(value)
        if isinstance(value, Packed):
            packed = bytearray(value.plain)
            for first, size, symbol in value.symbols:
                packed[first : first + size] = self.number(symbol).to_bytes(size, "little")
            return bytes(packed)
        return self.number(value)

    def shape(self, shape: Shape) -> Shape:
        """Return the launch configuration with its symbols resolved."""
        blocks: Any = shape.blocks
        known = tuple(map(self.number, blocks)) if isinstance(blocks, tuple) else self.number(blocks)
        return Shape(shape.defines, known, shape.threads, shape.shared)  # type: ignore[arg-type]  # three blocks remain three
