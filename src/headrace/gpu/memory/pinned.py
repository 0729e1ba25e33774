"""Large copies between host and GPU through a few large chunks of pinned memory, used in turn.

One thread of Python tells the card what to copy; the bytes between a chunk and the caller's memory (or a file) are moved by
native threads, while the card moves those of the chunks before. `gpu.transfer.staging` serves copies of any size and many
callers; this serves a stream of large ones, of which the interpreter should see as little as possible.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from headrace import _native
from headrace.core.errors import MemoryLimitError
from headrace.core.process_lock import process_lock
from headrace.core.transfers import Crossings
from headrace.gpu.device.device import Gpu, check_status, checked, driver
from headrace.gpu.device.driver_calls import card_calls
from headrace.gpu.device.event import Event

CHUNK_BYTES = 32 << 20
CHUNKS = 3
THREADS = max(1, min(_native.hardware_threads() - 2, 16))
_ALIGN = 64
SLOT_BYTES, SLOTS = 2 << 20, 2
"""Of each thread that sends: little enough to stay in the processor's cache (docs/decisions/0020-streams.md has the table)."""

Read = Callable[[int, int, int, int], object]
"""Puts bytes at an address of the host: called with a place, how many bytes, the address, and how many threads may do it."""


class HostText(Protocol):
    """Bytes that are to go to a card."""

    @property
    def address(self) -> int:
        """Where they lie in memory, whole; 0 if they do not."""

    @property
    def path(self) -> str | None:
        """Of the regular file that they are read from as they stand, if that is so."""

    @property
    def native(self) -> _native.Source | None:
        """Who reads it, if native threads may do that at any time."""

    def read_into(self, begin: int, count: int, address: int, threads: int, /) -> None:
        """As `Read`."""


Copy = tuple[int, int, int]
"""Address on the card, address on the host, bytes."""


_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def _with_its_card(
    method: Callable[Concatenate[PinnedRing, _Given], _Result],
) -> Callable[Concatenate[PinnedRing, _Given], _Result]:
    """The method, in a block in which the ring's card is current."""

    @wraps(method)
    def called(ring: PinnedRing, /, *args: _Given.args, **named: _Given.kwargs) -> _Result:
        with ring.gpu.current():
            return method(ring, *args, **named)

    return called


class PinnedRing:
    """Pinned memory of a card, and a stream for its copies. For one caller at a time.

    Parameters
    ----------
    gpu
        The card.
    chunk_bytes, chunks, threads
        The chunks, and who moves bytes from and to them. They are pinned when they are first needed.
    slot_bytes, slots
        Of each thread that sends what a native source reads.

    Raises
    ------
    MemoryLimitError
        So much memory of the host cannot be pinned.
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
        """Copy bytes `part` of a source to an address of the card, as work of the stream; returns when all is read."""
        check_status(self.begin_source(source, part, address, counted=counted).wait())

    @_with_its_card
    def begin_source(
        self, source: _native.Source, part: range, address: int, *, counted: Crossings, behind: Event | None = None
    ) -> _native.SentPart:
        """The same, behind earlier parts, and returns at once; who waits for it is told the driver's status.

        Native threads read pieces into memory of their own and tell the card to copy them (sources/send.hpp); the last of them
        records the event `behind`.
        """
        sender, _ = self._sender = self._sender or self._new_sender()
        counted.count(to_gpu=len(part))
        return sender.begin(source, part.start, len(part), address, 0 if behind is None else int(behind.handle))

    def _new_sender(self) -> tuple[_native.PartSender, list[Event]]:
        """Threads that send, and the events of their memory."""
        size, count = self._slots
        memory, events = self._pin(size * count), [Event(self.gpu) for _ in range(count)]
        slots = [(memory + number * size, int(event.handle)) for number, event in enumerate(events)]
        way = _native.SendWay.make(card_calls(), int(self.gpu.context), self.stream, slots, size)
        return _native.PartSender(way, self._threads), events

    def _pin(self, nbytes: int) -> int:
        """Memory that the card reads and writes itself, until the ring is closed."""
        functions = driver()
        status, address = functions.cuMemHostAlloc(nbytes, functions.CU_MEMHOSTALLOC_PORTABLE)
        if status == functions.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
            raise MemoryLimitError(f"{nbytes:_} bytes of the host cannot be pinned for copies to {self.gpu.device}")
        self._pinned.append(int(checked((status, address))))
        return self._pinned[-1]

    @_with_its_card
    def send(self, read: Read, part: range, address: int, *, counted: Crossings) -> None:
        """Copy what `read` gives for places `part` to an address of the card, as work of the stream; returns when all is read."""
        for at in range(part.start, part.stop, self._chunk_bytes):
            size = min(self._chunk_bytes, part.stop - at)
            chunk, event = self._next()
            read(at, size, chunk, self._threads)
            checked(driver().cuMemcpyHtoDAsync(address + at - part.start, chunk, size, self.stream))
            event.record(self.stream, is_current=True)
        counted.count(to_gpu=len(part))

    @_with_its_card
    def send_pinned(self, source: int, part: range, address: int, *, counted: Crossings) -> None:
        """As `send`, of bytes in pinned memory at `source`: nothing else copies them. They are read until the stream is done."""
        checked(driver().cuMemcpyHtoDAsync(address, source + part.start, len(part), self.stream))
        counted.count(to_gpu=len(part))

    @_with_its_card
    def fetch(self, copies: Sequence[Copy], *, counted: Crossings, ahead: int = CHUNKS - 1, streamed: bool = True) -> None:
        """Copy from the card, behind the ring's stream; returns when all is there.

        Parameters
        ----------
        copies, counted
            What, and where it is counted.
        ahead
            So many chunks, fewer than there are, are on their way while one is emptied.
        streamed
            Whether they are emptied past the cache: measured on a core of a Xeon, into memory that is used again, 4.9 to 5.6 GB/s
            in place of 2.4 to 3.5.
        """
        under_way: deque[tuple[list[Copy], Event]] = deque()
        for group in self._groups(copies):
            chunk, event = self._next()
            moves, begin = [], chunk
            for device, host, size in group:
                checked(driver().cuMemcpyDtoHAsync(begin, device, size, self.stream))
                moves.append((begin, host, size))
                begin += -(-size // _ALIGN) * _ALIGN
            under_way.append((moves, event.record(self.stream, is_current=True)))
            if len(under_way) > ahead:
                self._empty(under_way.popleft(), streamed)
        while under_way:
            self._empty(under_way.popleft(), streamed)
        counted.count(to_host=sum(size for _, _, size in copies))

    @_with_its_card
    def fetch_pinned(self, copies: Sequence[Copy], *, counted: Crossings) -> None:
        """Copy from the card to pinned memory, behind the ring's stream; returns when all is there."""
        for device, host, size in copies:
            checked(driver().cuMemcpyDtoHAsync(host, device, size, self.stream))
        self._fetched.record(self.stream, is_current=True).wait()
        counted.count(to_host=sum(size for _, _, size in copies))

    @_with_its_card
    def close(self) -> None:
        """Wait for what is under way, and give the memory back."""
        checked(driver().cuStreamSynchronize(self.stream))
        for address in self._pinned:
            checked(driver().cuMemFreeHost(address))
        self._addresses, self._pinned, self._sender = [], [], None

    def _next(self) -> tuple[int, Event]:
        """The next chunk, once it is free."""
        turn = self._turn % len(self._chunks)
        if turn < len(self._addresses):
            self._chunks[turn].wait()
        else:
            self._addresses.append(self._pin(self._chunk_bytes))
        self._turn += 1
        return self._addresses[turn], self._chunks[turn]

    def _empty(self, under_way: tuple[list[Copy], Event], streamed: bool) -> None:
        moves, event = under_way
        event.wait()
        _native.copy_parts(moves, self._threads, streamed)

    def _groups(self, copies: Sequence[Copy]) -> Iterator[list[Copy]]:
        """The copies, cut and put together so that each group fits a chunk."""
        group: list[Copy] = []
        room = self._chunk_bytes
        for device, host, left in copies:
            at = 0
            while at < left:
                size = min(left - at, room)
                group.append((device + at, host + at, size))
                at += size
                room -= -(-size // _ALIGN) * _ALIGN
                if room <= 0:
                    yield group
                    group, room = [], self._chunk_bytes
        if group:
            yield group


def is_pinned(address: int) -> bool:
    """Whether the card reads the host's memory there by itself; the card is current."""
    functions = driver()
    asked = functions.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE
    status, kind = functions.cuPointerGetAttribute(asked, address)
    return not status and int(kind) == int(functions.CUmemorytype.CU_MEMORYTYPE_HOST)


_MOST_IDLE = 3
idle_rings: dict[int, list[PinnedRing]] = {}
_lock = process_lock()


def take_ring(gpu: Gpu) -> PinnedRing:
    """A ring for one caller, until it is given back: pinning memory takes as long as copying some hundred MB."""
    with _lock:
        idle = idle_rings.get(gpu.index)
        if idle:
            return idle.pop()
    return PinnedRing(gpu)


def give_ring(ring: PinnedRing) -> None:
    """Wait for its copies, and keep it for the next caller, if not enough are kept already."""
    with ring.gpu.current():
        checked(driver().cuStreamSynchronize(ring.stream))
    with _lock:
        idle = idle_rings.setdefault(ring.gpu.index, [])
        if len(idle) < _MOST_IDLE:
            idle.append(ring)
            return
    ring.close()
