"""Two buffers of a card for text, filled in turn through pinned memory by a stream of their own, while kernels read the other."""

from __future__ import annotations

import threading
from collections.abc import Callable

from headrace.core.context import Context
from headrace.core.device_memory import DeviceBuffer, device_pool
from headrace.core.event import Event
from headrace.core.gpu import Gpu, checked, driver, gpu
from headrace.core.launcher import GpuLauncher, Part, Room
from headrace.core.staging import Staging

_BUFFERS = 2
_THREADS, _CHUNK_BYTES = 8, 4 << 20
_SLACK = 256
"""Bytes behind a text, which kernels may read along with its last."""


class _Buffer:
    """Memory, when it was filled and read last, and whether it waits for either."""

    def __init__(self, card: Gpu) -> None:
        self.memory: DeviceBuffer | None = None
        self.filled, self.read = Event(card), Event(card)
        self.was_read = False


class CardBuffers:
    """As `headrace.api.scan_gpu.TextBuffers`, of a context's card.

    Raises
    ------
    MemoryLimitError
        A buffer does not fit the context's memory limit, or the card.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._card = gpu(context.device)
        self._card.make_current()
        self._stream = int(checked(driver().cuStreamCreate(driver().CUstream_flags.CU_STREAM_NON_BLOCKING.value)))
        self._budget = context.new_budget()
        self._buffers = [_Buffer(self._card) for _ in range(_BUFFERS)]
        self._free = threading.Semaphore(_BUFFERS)
        self._sent = 0
        self._by_room: dict[int, _Buffer] = {}

    def send(self, read: Callable[[int, int, int], object], part: range) -> Room:
        """As `TextBuffers.send`."""
        self._free.acquire()
        try:
            buffer = self._buffers[self._sent % _BUFFERS]
            self._sent += 1
            self._card.make_current()
            if buffer.was_read:
                buffer.read.hold(self._stream)
            if buffer.memory is None or buffer.memory.nbytes < len(part) + _SLACK:
                buffer.memory = None  # the old one goes before there is a new one
                buffer.memory = device_pool(self._card).take(len(part) + _SLACK, self._stream, self._budget)
            room = Part(buffer.memory, 0, len(part))
            self._by_room[id(room)] = buffer
            staging = _staging(self._card)
            staging.upload_read(read, part, room.address, self._stream, counted=self._context.crossings)
            buffer.filled.record(self._stream)
        except BaseException:
            self._free.release()
            raise
        return room

    def hold(self, room: Room) -> GpuLauncher:
        """As `TextBuffers.hold`."""
        self._card.make_current()
        self._by_room[id(room)].filled.hold(self._card.stream)
        return GpuLauncher(self._card, stream=None, budget=self._context.new_budget(), crossings=self._context.crossings)

    def free(self, room: Room) -> None:
        """As `TextBuffers.free`."""
        buffer = self._by_room.pop(id(room))
        buffer.read.record(self._card.stream)
        buffer.was_read = True
        self._free.release()

    def close(self) -> None:
        """As `TextBuffers.close`."""
        self._card.make_current()
        checked(driver().cuStreamSynchronize(self._stream))
        for buffer in self._buffers:
            if buffer.was_read:
                buffer.read.wait()
            buffer.memory = None
        checked(driver().cuStreamDestroy(self._stream))


_stagings: dict[int, Staging] = {}
_lock = threading.Lock()


def _staging(card: Gpu) -> Staging:
    """Pinned memory for texts alone: what little the conversion fetches does not wait for its chunks."""
    with _lock:
        if card.index not in _stagings:
            _stagings[card.index] = Staging(card, threads=_THREADS, chunk_bytes=_CHUNK_BYTES)
        return _stagings[card.index]
