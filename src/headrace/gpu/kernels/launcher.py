"""Launches kernels in the order of one stream, allocates their buffers, and copies results to the host.

Stages are written against the protocol `Launcher`. `GpuLauncher` runs on a device; `headrace.testing.fibers.launcher` runs the
same host code and kernels without one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

import numpy as np  # a dependency of cuda-core
from numpy.typing import NDArray

from headrace import _native
from headrace.core.budget import Budget
from headrace.core.transfers import Crossings
from headrace.gpu.device.device import Gpu, GpuError, check_status, is_lasting
from headrace.gpu.device.driver_calls import card_calls
from headrace.gpu.device.event import Event
from headrace.gpu.kernels.kernel import Kernel, LaunchMode, NeededProgram, Prepared, kernel, launch_all, load_programs
from headrace.gpu.memory.pinned import give_ring, take_ring
from headrace.gpu.memory.pool import PoolBuffer, device_pool
from headrace.gpu.memory.slabs import FEW_LIMITS, DeviceBufferGroup, allocate_group, slab_limits
from headrace.gpu.transfer.staging import MAX_EXCHANGE_BYTES, Copier, staging

if TYPE_CHECKING:
    from headrace.gpu.kernels.trace import Recording
    from headrace.gpu.kernels.trace_chain import ChainBegin, ChainEnd, TraceChain


@dataclass(frozen=True, slots=True)
class Entry:
    """A kernel's entry point: file, name, signature of its parameters, and launch mode (see `gpu.kernels.kernel.Kernel`)."""

    file: str
    name: str
    signature: str
    mode: LaunchMode = LaunchMode.ORDERED


@dataclass(slots=True, eq=False)
class Shape:
    """Launch configuration: macros of the program, blocks in the grid, threads in a block, dynamic shared memory in bytes."""

    defines: Mapping[str, int]
    blocks: int | tuple[int, int, int]
    threads: int
    shared: int = 0


class DeviceBuffer(Protocol):
    """Memory that kernels can access. It is freed when the last reference is gone."""

    @property
    def address(self) -> int:
        """Device address of the first byte."""

    @property
    def nbytes(self) -> int:
        """Size in bytes."""


class BufferGroup(Protocol):
    """Buffers that were allocated together, by index."""

    @property
    def addresses(self) -> list[int]:
        """Device address of each buffer."""

    def trim(self, sizes: Sequence[int], /) -> None:
        """Reduce each buffer to `sizes` bytes; none may grow."""

    def drop(self, numbers: Sequence[int], /) -> None:
        """Release the buffers with these indices, all of a range at once; they are not accessed again."""

    def join(self, others: Any, /) -> None:
        """Append buffers of the same launcher."""

    def __len__(self) -> int: ...
    def __getitem__(self, number: int, /) -> DeviceBuffer: ...
    def __iter__(self) -> Iterator[DeviceBuffer]: ...


class BufferSlice:
    """Bytes of a buffer from offset `begin`: `size` of them, or all that follow."""

    __slots__ = ("address", "begin", "buffer", "nbytes")

    def __init__(self, buffer: DeviceBuffer, begin: int, size: int | None = None) -> None:
        self.address = buffer.address + begin
        self.nbytes = buffer.nbytes - begin if size is None else size
        # `begin` may be negative: the buffer holds only a later part of a text whose offsets are used.
        self.buffer: DeviceBuffer
        self.begin: int
        if isinstance(buffer, BufferSlice):
            self.buffer, self.begin = buffer.buffer, buffer.begin + begin
        else:
            self.buffer, self.begin = buffer, begin


class GroupSizes(NamedTuple):
    """Sizes in bytes of the buffers of a group: as for `Launcher.allocate_group`."""

    zeroed: Sequence[int]
    others: Sequence[int]
    ones: int


Meanwhile = Callable[[bytes, BufferGroup | None], bool]


class Launcher(Protocol):
    """Runs kernels in stream order. Allocations and launches return at once; `fetch` waits for the stream."""

    waits: int  # number of times the host waited for the device

    def current(self) -> AbstractContextManager[None]:
        """Return a context in which this thread may use the launcher. On exit the thread's current device is restored."""

    def lasting(self) -> Launcher:
        """Return a launcher of the same device and stream that needs no stream of the caller, for fetches after a call."""

    def allocate(self, nbytes: int, *, fill: int | None = None) -> DeviceBuffer:
        """Allocate `nbytes`, each byte set to `fill` unless it is None."""

    def allocate_group(self, zeroed: Sequence[int], others: Sequence[int] = (), *, ones: int = 0) -> BufferGroup:
        """Allocate several buffers in one call. Those of `zeroed` are cleared; the first `ones` get all bits set instead."""

    def fill(self, buffer: DeviceBuffer, byte: int) -> None:
        """Set each byte of the buffer to `byte`."""

    def put(self, values: NDArray[Any] | bytes, buffer: DeviceBuffer | None = None) -> DeviceBuffer:
        """Copy a host array into `buffer`, or into a new buffer, and return that."""

    def together(self) -> AbstractContextManager[object]:
        """Return a context that batches launches; they are issued at its end, or before any other request."""

    def prepare(self, programs: Iterable[NeededProgram]) -> None:
        """Begin to load programs that will be launched, in threads if they must be compiled."""

    def load(self, entries: Sequence[Entry], defines: Mapping[str, int]) -> None:
        """Load kernels, so that their launches need no memory. A kernel is loaded by its first launch otherwise."""

    def launch(self, entry: Entry, shape: Shape, args: Sequence[Any]) -> None:
        """Launch a kernel. Arguments are buffers, numbers, bytes of structures, or None for a null pointer."""

    def replay(self, recording: Recording, numbers: Sequence[int], buffers: Sequence[DeviceBuffer | None]) -> BufferGroup | None:
        """Replay a trace (`headrace.gpu.kernels.trace`) for these numbers and buffers; return the buffers that it allocates."""

    def run_chain(
        self, chain: TraceChain, begin: ChainBegin, end: ChainEnd, meanwhile: Meanwhile
    ) -> tuple[BufferGroup, bytes] | None:
        """Launch a chain (`headrace.gpu.kernels.trace_chain`), and wait once for its results.

        `meanwhile` gets the bytes of `begin.head` while the device works, and the first trace's buffers if they are retained.
        What it launches follows the chain. Return the group `end.later` and the results. Return None if `meanwhile` returns
        False, if the driver refuses, or if what is copied has megabytes. No memory is charged to the budget.
        """

    def fetch(self, buffer: DeviceBuffer) -> NDArray[np.uint8]:
        """Wait for all launches and return a host copy of the buffer."""

    def answer(self, entry: Entry, shape: Shape, args: Sequence[Any], count: int) -> list[int]:
        """Launch a kernel, wait, and return the words of 8 bytes that it has written to the address in its last argument.

        `args` is without that argument. Neither an allocation nor a copy is made, so a short kernel costs one launch.
        """

    def result(self, buffer: DeviceBuffer) -> Any:
        """Return the buffer in the form that columns hold."""


_SMALL_COPY_BYTES = 256 << 10


class GpuLauncher:
    """Launches on a device, from one thread at a time, inside a context of `current`.

    `stream`: handle of the stream that receives all work; None for the device's default stream of this package.
    `beside`: handle of another stream whose memory is accessed, or None. Work inside `current` runs after that stream's earlier
    work and before its later work.
    `copier`: copies of up to 256 KiB by a kernel (`headrace.primitives.copy.copier`); None for the copy engine.
    """

    def __init__(
        self,
        card: Gpu,
        *,
        stream: int | None,
        beside: int | None = None,
        budget: Budget,
        crossings: Crossings,
        copier: Copier | None = None,
    ) -> None:
        self.waits = 0
        self._card = card
        self._stream = card.stream if stream is None else stream
        self._beside = beside
        self._budget = budget
        self._crossings = crossings
        self._staging = staging(card)
        self._copier = copier
        self._waiting: list[Prepared] = []
        self._blocks = 0
        self._pool = device_pool(card)

    @property
    def stream(self) -> int:
        """Handle of the stream that receives all work."""
        return self._stream

    def current(self) -> AbstractContextManager[None]:
        return self._card.current() if self._beside is None else self._current_beside(self._beside)

    @contextmanager
    def _current_beside(self, stream: int) -> Iterator[None]:
        with self._card.current():
            Event.order(self._card, stream, self._stream)
            try:
                yield
            finally:
                Event.order(self._card, self._stream, stream)

    def lasting(self) -> GpuLauncher:
        budget, crossings = self._budget, self._crossings
        return GpuLauncher(self._card, stream=self._stream, budget=budget, crossings=crossings, copier=self._copier)

    @property
    def crossings(self) -> Crossings:
        """Counter of copies between host and device."""
        return self._crossings

    @property
    def unlimited(self) -> Gpu | None:
        """The device, if its memory may be used without a limit."""
        return self._card if self._budget.limit is None else None

    def allocate(self, nbytes: int, *, fill: int | None = None) -> PoolBuffer:
        """See `Launcher.allocate`. Raise MemoryLimitError if the budget or the device has too little memory."""
        self._flush()
        result = self._pool.take(nbytes, self._stream, self._budget)
        if fill is not None:
            self.fill(result, fill)
        return result

    def allocate_group(self, zeroed: Sequence[int], others: Sequence[int] = (), *, ones: int = 0) -> DeviceBufferGroup:
        """See `Launcher.allocate_group`. Raise MemoryLimitError if the budget or the device has too little memory."""
        self._flush()
        return allocate_group(self._pool, zeroed, others, self._stream, self._budget, ones=ones)

    def fill(self, buffer: DeviceBuffer, byte: int) -> None:
        self._flush()
        if buffer.nbytes:
            check_status(card_calls().fill(buffer.address, byte, buffer.nbytes, self._stream))

    def put(self, values: NDArray[Any] | bytes, buffer: DeviceBuffer | None = None) -> DeviceBuffer:
        self._flush()
        plain = values if isinstance(values, bytes) else np.ascontiguousarray(values).view(np.uint8).reshape(-1)
        result = self.allocate(len(plain)) if buffer is None else buffer
        if 0 < len(plain) <= _SMALL_COPY_BYTES:
            self._staging.put(result.address, self._stream, plain, counted=self._crossings, by=self._copier)
        elif len(plain):
            self._staging.upload_to(result.address, self._stream, plain, counted=self._crossings)
        return result

    def read_in(self, source: _native.Source, nbytes: int, buffer: DeviceBuffer) -> None:
        """Fill a buffer with the first `nbytes` of a source."""
        self._flush()
        if nbytes <= _SMALL_COPY_BYTES:
            self.put(np.frombuffer(source.read(0, nbytes), np.uint8), buffer)
            return
        ring = take_ring(self._card)
        try:
            Event(self._card).record(self._stream).hold(ring.stream)  # the buffer was allocated in this stream
            ring.send_source(source, range(nbytes), buffer.address, counted=self._crossings)
            Event(self._card).record(ring.stream).hold(self._stream)
        finally:
            give_ring(ring)

    def prepare(self, programs: Iterable[NeededProgram]) -> None:
        load_programs(programs, self._card)

    def load(self, entries: Sequence[Entry], defines: Mapping[str, int]) -> None:
        """See `Launcher.load`. Raise MemoryLimitError if the device has too little memory."""
        self._flush()
        if any((id(entry), id(defines), self._card.index) not in known_kernels for entry in entries):
            self.prepare([NeededProgram(entry.file, defines) for entry in entries])
        for entry in entries:
            self._kernel(entry, defines).load()

    def launch(self, entry: Entry, shape: Shape, args: Sequence[Any]) -> None:
        known = self._kernel(entry, shape.defines)
        if self._blocks:
            self._waiting.append(known.prepare(shape.blocks, shape.threads, args, shape.shared))
        else:
            known.launch(shape.blocks, shape.threads, args, shared=shape.shared, stream=self._stream, is_current=True)

    def _kernel(self, entry: Entry, defines: Mapping[str, int]) -> Kernel:
        program = id(entry), id(defines), self._card.index
        found = known_kernels.get(program)
        if found is None:
            known = kernel(entry.file, entry.name, entry.signature, defines, self._card, mode=entry.mode)
            if len(known_kernels) >= _MAX_KERNELS:
                known_kernels.clear()
            found = known_kernels[program] = known, entry, defines  # kept alive, so that their ids stay unique
        return found[0]

    def replay(
        self, recording: Recording, numbers: Sequence[int], buffers: Sequence[DeviceBuffer | None]
    ) -> DeviceBufferGroup | None:
        """See `Launcher.replay`. Raise MemoryLimitError if the budget or the device has too little memory."""
        self._flush()
        native, names = self._compiled(recording)
        inputs = [*numbers, *[0 if buffer is None else buffer.address for buffer in buffers]]
        result = None
        if recording.allocates:
            sizes, zeroed = native.sizes(inputs), len(recording.zeroed)
            result = allocate_group(self._pool, sizes[:zeroed], sizes[zeroed:], self._stream, self._budget)
            inputs += result.addresses
        launched, status = native.replay(inputs, self._stream, 0)
        if status:
            with self._card.current():  # another library may have changed the current device
                launched, status = native.replay(inputs, self._stream, launched)
            try:
                check_status(status)
            except GpuError as error:
                raise type(error)(f"kernel {names[launched]}: {error}") from None
        return result

    def _compiled(self, recording: Recording) -> tuple[_native.NativeTrace, list[str]]:
        """Return the native form of a trace, and the names of its steps."""
        if not recording.is_compiled(self._card.index):
            load_programs(recording.programs, self._card)
        return recording.compiled(self._card.index, card_calls(), self._kernel)

    def run_chain(
        self, chain: TraceChain, begin: ChainBegin, end: ChainEnd, meanwhile: Meanwhile
    ) -> tuple[DeviceBufferGroup, bytes] | None:
        head = (0, 0) if begin.head is None else (begin.head.address, begin.head.nbytes)
        if head[1] + end.sent + end.fetched > MAX_EXCHANGE_BYTES:
            return None
        zeroed, others, ones = end.later
        sizes = [*zeroed, *others]
        native = chain.compiled(self._card.index, card_calls(), self._native)
        first = begin.text.address, begin.first, FEW_LIMITS
        second = begin.second, end.suffix, end.strided, end.fetched
        later = sizes, ones, len(zeroed), slab_limits(len(sizes))
        group: DeviceBufferGroup | None = None
        retained: DeviceBufferGroup | None = None

        def launch(pinned: int, events: tuple[int, int]) -> int:
            nonlocal group, retained
            where = self._stream, self._pool.handle, pinned, events
            status, of_later, of_first = native.run(first, head, second, later, where, end.keeps)
            if not status:
                group = self._group(sizes, *of_later)
                if end.keeps:
                    retained = self._group(self._native(chain.first).sizes([*begin.first, begin.text.address]), *of_first)
                self._crossings.count(to_gpu=end.sent, to_host=head[1] + end.fetched, copies=3 if head[1] else 2)
            return status

        self.waits += 1
        copied, ones = (head[1], end.fetched), end.ones
        fetched = self._staging.exchange(launch, lambda found: meanwhile(found, retained), self._stream, copied, ones=ones)
        return None if group is None or fetched is None else (group, fetched)

    def _group(self, sizes: Sequence[int], slabs: Sequence[tuple[int, int, int]], begins: bytes) -> DeviceBufferGroup:
        """Return the buffers in slabs that native code has allocated: their addresses, bytes, and one past the last buffer."""
        result = DeviceBufferGroup(memoryview(begins).cast("Q"), sizes)
        for address, nbytes, slab_end in slabs:
            result.add(PoolBuffer(address, nbytes, self._card, self._stream, None), slab_end)
        return result

    def _native(self, recording: Recording) -> _native.NativeTrace:
        return self._compiled(recording)[0]

    def _flush(self) -> None:
        """Issue the batched launches, so that later requests keep stream order."""
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            launch_all(waiting, self._stream)

    def together(self) -> GpuLauncher:
        return self

    def __enter__(self) -> Self:
        self._blocks += 1
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._blocks -= 1
        if error is not None:
            self._waiting.clear()
        elif not self._blocks:
            self._flush()

    def fetch(self, buffer: DeviceBuffer) -> NDArray[np.uint8]:
        self._flush()
        self.waits += 1
        if not buffer.nbytes:
            return np.empty(0, np.uint8)
        if buffer.nbytes > _SMALL_COPY_BYTES:  # into memory of earlier results, without page faults
            copied: NDArray[np.uint8] = _native.new_bytes(buffer.nbytes)
            self._staging.download_from(buffer.address, self._stream, copied, counted=self._crossings)
            return copied
        found = self._staging.fetch(buffer.address, self._stream, buffer.nbytes, counted=self._crossings, by=self._copier)
        return np.frombuffer(found, np.uint8)

    def answer(self, entry: Entry, shape: Shape, args: Sequence[Any], count: int) -> list[int]:
        self._flush()
        self.waits += 1

        def launch(address: int) -> None:
            self._kernel(entry, shape.defines).launch(
                shape.blocks, shape.threads, (*args, address), shared=shape.shared, stream=self._stream, is_current=True
            )

        found = self._staging.answer(launch, self._stream, 8 * count, counted=self._crossings)
        return memoryview(found).cast("Q").tolist()

    def result(self, buffer: DeviceBuffer) -> DeviceBuffer:
        """Return the buffer itself."""
        return buffer


def launcher_beside(stream: int | None, card: Gpu, budget: Budget, crossings: Crossings) -> GpuLauncher:
    """Return a launcher that may read memory of a caller's stream: in that stream if it is lasting, else in the device's own.

    A result belongs to the stream that made it, so it must not depend on a stream that the caller may destroy.
    """
    launch_stream, beside = (stream, None) if is_lasting(stream) else (None, stream)
    return GpuLauncher(card, stream=launch_stream, beside=beside, budget=budget, crossings=crossings)


_MAX_KERNELS = 256
known_kernels: dict[tuple[int, int, int], tuple[Kernel, Entry, Mapping[str, int]]] = {}
"""Kernels by the identity of their entry, macros and device: frequent launches pass the same objects each time."""
