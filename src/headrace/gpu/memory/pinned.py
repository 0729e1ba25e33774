"""Copies large amounts between host and GPU through a ring of a few large chunks of pinned memory.

One Python thread enqueues the copies. Native threads move bytes between a chunk and the caller's memory or a file, while the GPU
moves those of the earlier chunks. `gpu.transfer.staging` serves copies of any size from many callers. This module serves a
sequence of large copies with as little work in the interpreter as possible.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from headrace import _native
from headrace.core.errors import MemoryLimitError
from headrace.core.process.process_lock import process_lock
from headrace.core.transfers import Crossings
from headrace.gpu.device.device import Gpu, check_status, checked, driver
from headrace.gpu.device.driver_calls import card_calls
from headrace.gpu.device.event import Event

CHUNK_BYTES = 32 << 20
CHUNKS = 3
THREADS = max(1, min(_native.hardware_threads() - 2, 16))
_ALIGN = 64
SLOT_BYTES, SLOTS = 2 << 20, 2
"""Size and number of the slots of each sending thread. They fit the processor's cache (table: docs/decisions/0020-streams.md)."""

Read = Callable[[int, int, int, int], object]
"""Writes bytes of a source to a host address. Arguments: offset in the source, bytes, address, number of threads to use."""


class HostText(Protocol):
    """Bytes on the host that are to be copied to a GPU."""

    @property
    def address(self) -> int:
        """Address of the bytes if all of them are in memory, or 0."""

    @property
    def path(self) -> str | None:
        """Path of the regular file with exactly these bytes, or None."""

    @property
    def native(self) -> _native.Source | None:
        """Source that native threads may read at any time, or None."""

    def read_into(self, begin: int, count: int, address: int, threads: int, /) -> None:
        """Copy bytes to a host address; the arguments are those of `Read`."""


Copy = tuple[int, int, int]  # address on the GPU, address on the host, bytes


_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def _with_its_card(
    method: Callable[Concatenate[PinnedRing, _Given], _Result],
) -> Callable[Concatenate[PinnedRing, _Given], _Result]:
    """Wrap a method so that the ring's GPU is current while it runs."""

    @wraps(method)
    def called(ring: PinnedRing, /, *args: _Given.args, **named: _Given.kwargs) -> _Result:
        with ring.gpu.current():
            return method(ring, *args, **named)

    return called


class PinnedRing:
    """Pinned memory for a GPU, and a stream for its copies. One caller uses a ring at a time.

    Raises MemoryLimitError if that much host memory cannot be pinned.

    `chunk_bytes`, `chunks`, `threads`: size and number of the chunks, and number of threads that fill and empty them. A chunk
    is pinned when it is first needed.
    `slot_bytes`, `slots`: size and number of the slots of each thread that sends a native source.
    """

    def __init__(
        self,
        gpu: Gpu,
        *,
        chunk_bytes: int = CHUNK_BYTES,
        chunks: int = CHUNKS,
        threads: int = THREADS,
        slot_bytes: int = SLOT_BYTES,
        slots: int = SLOTS,
    ) -> None:
        self.gpu, self._chunk_bytes, self._threads = gpu, chunk_bytes, threads
        with gpu.current():
            self.stream = int(checked(driver().cuStreamCreate(driver().CUstream_flags.CU_STREAM_NON_BLOCKING.value)))
        self._chunks = [Event(gpu) for _ in range(chunks)]
        self._fetched = Event(gpu)
        self._addresses: list[int] = []
        self._pinned: list[int] = []
        self._turn = 0
        self._slots = slot_bytes, slots * threads
        self._sender: tuple[_native.PartSender, list[Event]] | None = None

    def send_source(self, source: _native.Source, part: range, address: int, *, counted: Crossings) -> None:
        """Copy bytes `part` of a source to a GPU address, in stream order. Return when all bytes are read."""
        check_status(self.begin_source(source, part, address, counted=counted).wait())

    @_with_its_card
    def begin_source(
        self, source: _native.Source, part: range, address: int, *, counted: Crossings, copied: Event | None = None
    ) -> _native.SentPart:
        """Start the copy of `send_source` after earlier parts, and return at once. `SentPart.wait` returns the driver's status.

        Native threads read pieces into their own pinned slots and enqueue the copies (sources/send.hpp). The last of them records
        the event, if one is given.
        """
        sender, _ = self._sender = self._sender or self._new_sender()
        counted.count(to_gpu=len(part))
        return sender.begin(source, part.start, len(part), address, 0 if copied is None else int(copied.handle))

    def _new_sender(self) -> tuple[_native.PartSender, list[Event]]:
        """Create the sending threads, and the events of their slots."""
        size, count = self._slots
        memory, events = self._pin(size * count), [Event(self.gpu) for _ in range(count)]
        slots = [(memory + number * size, int(event.handle)) for number, event in enumerate(events)]
        way = _native.SendWay.make(card_calls(), int(self.gpu.context), self.stream, slots, size)
        return _native.PartSender(way, self._threads), events

    def _pin(self, nbytes: int) -> int:
        """Allocate pinned memory, which lasts until the ring is closed. Return its address."""
        functions = driver()
        status, address = functions.cuMemHostAlloc(nbytes, functions.CU_MEMHOSTALLOC_PORTABLE)
        if status == functions.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
            raise MemoryLimitError(f"{nbytes:_} bytes of the host cannot be pinned for copies to {self.gpu.device}")
        self._pinned.append(int(checked((status, address))))
        return self._pinned[-1]

    @_with_its_card
    def send(self, read: Read, part: range, address: int, *, counted: Crossings) -> None:
        """Copy the bytes `part` that `read` provides to a GPU address, in stream order. Return when all bytes are read."""
        for at in range(part.start, part.stop, self._chunk_bytes):
            size = min(self._chunk_bytes, part.stop - at)
            chunk, event = self._next()
            read(at, size, chunk, self._threads)
            checked(driver().cuMemcpyHtoDAsync(address + at - part.start, chunk, size, self.stream))
            event.record(self.stream, is_current=True)
        counted.count(to_gpu=len(part))

    @_with_its_card
    def send_pinned(self, source: int, part: range, address: int, *, counted: Crossings) -> None:
        """Copy bytes `part` of the pinned memory at `source` to a GPU address. The memory is read until the stream is done."""
        checked(driver().cuMemcpyHtoDAsync(address, source + part.start, len(part), self.stream))
        counted.count(to_gpu=len(part))

    @_with_its_card
    def fetch(self, copies: Sequence[Copy], *, counted: Crossings, max_pending: int = CHUNKS - 1, streamed: bool = True) -> None:
        """Copy from the GPU to the host, after the work of the ring's stream. Return when all bytes are there.

        `max_pending`: number of chunks in flight while one is emptied; less than the number of chunks.
        `streamed`: whether the target is written with streaming stores, past the cache. On one core of a Xeon, into memory that
        is used again, they reach 4.9 to 5.6 GB/s; ordinary stores reach 2.4 to 3.5 GB/s.
        """
        in_flight: deque[tuple[list[Copy], Event]] = deque()
        for group in self._groups(copies):
            chunk, event = self._next()
            moves, begin = [], chunk
            for device, host, size in group:
                checked(driver().cuMemcpyDtoHAsync(begin, device, size, self.stream))
                moves.append((begin, host, size))
                begin += -(-size // _ALIGN) * _ALIGN
            in_flight.append((moves, event.record(self.stream, is_current=True)))
            if len(in_flight) > max_pending:
                self._empty(*in_flight.popleft(), streamed)
        while in_flight:
            self._empty(*in_flight.popleft(), streamed)
        counted.count(to_host=sum(size for _, _, size in copies))

    @_with_its_card
    def fetch_pinned(self, copies: Sequence[Copy], *, counted: Crossings) -> None:
        """Copy from the GPU to pinned memory, after the work of the ring's stream. Return when all bytes are there."""
        for device, host, size in copies:
            checked(driver().cuMemcpyDtoHAsync(host, device, size, self.stream))
        self._fetched.record(self.stream, is_current=True).wait()
        counted.count(to_host=sum(size for _, _, size in copies))

    @_with_its_card
    def close(self) -> None:
        """Wait for the copies in flight, and free the memory."""
        checked(driver().cuStreamSynchronize(self.stream))
        for address in self._pinned:
            checked(driver().cuMemFreeHost(address))
        self._addresses, self._pinned, self._sender = [], [], None

    def _next(self) -> tuple[int, Event]:
        """Return the next chunk and its event, once the chunk is free."""
        turn = self._turn % len(self._chunks)
        if turn < len(self._addresses):
            self._chunks[turn].wait()
        else:
            self._addresses.append(self._pin(self._chunk_bytes))
        self._turn += 1
        return self._addresses[turn], self._chunks[turn]

    def _empty(self, moves: list[Copy], event: Event, streamed: bool) -> None:
        event.wait()
        _native.copy_parts(moves, self._threads, streamed)

    def _groups(self, copies: Sequence[Copy]) -> Iterator[list[Copy]]:
        """Yield groups of copies that each fit one chunk; long copies are split."""
        group: list[Copy] = []
        space = self._chunk_bytes
        for device, host, left in copies:
            at = 0
            while at < left:
                size = min(left - at, space)
                group.append((device + at, host + at, size))
                at += size
                space -= -(-size // _ALIGN) * _ALIGN
                if space <= 0:
                    yield group
                    group, space = [], self._chunk_bytes
        if group:
            yield group


def is_pinned(address: int) -> bool:
    """Return whether the host memory at an address is pinned. A GPU must be current."""
    functions = driver()
    asked = functions.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE
    status, kind = functions.cuPointerGetAttribute(asked, address)
    return not status and int(kind) == int(functions.CUmemorytype.CU_MEMORYTYPE_HOST)


_MAX_IDLE = 3
idle_rings: dict[int, list[PinnedRing]] = {}
_lock = process_lock()


def take_ring(gpu: Gpu) -> PinnedRing:
    """Return a ring for one caller, until `give_ring`. Rings are reused: pinning takes as long as a copy of some hundred MB."""
    with _lock:
        idle = idle_rings.get(gpu.index)
        if idle:
            return idle.pop()
    return PinnedRing(gpu)


def give_ring(ring: PinnedRing) -> None:
    """Wait for the ring's copies, then keep it for the next caller, or close it if enough idle rings are kept."""
    with ring.gpu.current():
        checked(driver().cuStreamSynchronize(ring.stream))
    with _lock:
        idle = idle_rings.setdefault(ring.gpu.index, [])
        if len(idle) < _MAX_IDLE:
            idle.append(ring)
            return
    ring.close()
