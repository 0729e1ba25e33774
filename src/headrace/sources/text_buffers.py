"""Holds two GPU buffers for text. One is filled through pinned memory, on a stream of its own, while kernels read the other."""

from __future__ import annotations

import threading

from headrace import _native
from headrace.arrays.arrays import Array
from headrace.core.context import Context
from headrace.gpu.device.device import Gpu, check_status, gpu
from headrace.gpu.device.event import Event
from headrace.gpu.kernels.launcher import GpuLauncher, Part, Room, launcher_beside
from headrace.gpu.memory.pinned import HostText, give_ring, is_pinned, take_ring
from headrace.gpu.memory.pool import DeviceBuffer, device_pool
from headrace.gpu.transfer.direct_storage import DirectFile, direct_file
from headrace.primitives.copy import copier

_BUFFERS = 2
_SLACK = 256
"""Bytes allocated after a text: kernels may read past its end."""


class _Buffer:
    """GPU memory, the part being sent to it, and events after it was last filled and read."""

    def __init__(self, card: Gpu) -> None:
        self.memory: DeviceBuffer | None = None
        self.sent: _native.SentPart | None = None
        self.filled, self.read = Event(card), Event(card)
        self.was_read = False

    def free(self, stream: int) -> None:
        """Wait for all work on a stream: then the memory is allocated, and no kernel reads it."""
        self.filled.record(stream).wait()


class CardBuffers:
    """Implements `headrace.api.scan.scan_sender.TextBuffers` for the context's GPU.

    Raises
    ------
    MemoryLimitError
        A buffer does not fit in the context's memory limit or in GPU memory.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._card = gpu(context.device)
        self._ring = take_ring(self._card)
        self._budget = context.new_budget()
        self._buffers = [_Buffer(self._card) for _ in range(_BUFFERS)]
        self._free = threading.Semaphore(_BUFFERS)
        self._sent = 0
        self._is_pinned = False
        self._file: DirectFile | None = None
        self.copied_by = ""
        self._by_room: dict[int, _Buffer] = {}

    def send(self, text: HostText, part: range) -> Room:
        """Same as `TextBuffers.send`. Text in pinned memory is copied by the GPU alone.

        Copies by native threads are only started here, and `hold` waits for them. So the threads can continue with the next part.
        """
        self._free.acquire()
        try:
            buffer = self._buffers[self._sent % _BUFFERS]
            self._sent += 1
            room = Part(self._memory(buffer, len(part)), 0, len(part))
            if buffer.was_read:
                buffer.read.hold(self._ring.stream)
            if self._sent == 1:
                self._look_at(text)
            if self._file is not None:
                buffer.free(self._ring.stream)
                self._file.read(part, room.address)
                self._context.crossings.count(to_gpu=len(part))
            elif self._is_pinned:
                self._ring.send_pinned(text.address, part, room.address, counted=self._context.crossings)
            elif text.native is not None:
                counted = self._context.crossings
                buffer.sent = self._ring.begin_source(text.native, part, room.address, counted=counted, behind=buffer.filled)
            else:
                self._ring.send(text.read_into, part, room.address, counted=self._context.crossings)
            if buffer.sent is None:
                buffer.filled.record(self._ring.stream)
        except BaseException:
            self._free.release()
            raise
        self._by_room[id(room)] = buffer
        return room

    def _look_at(self, text: HostText) -> None:
        """Choose how the text is copied."""
        with self._card.current():
            self._is_pinned = text.address != 0 and is_pinned(text.address)
        self._file = direct_file(text.path)
        self.copied_by = "the GPU, from pinned memory" if self._is_pinned else "threads, through pinned memory"
        if self._file is not None:
            self.copied_by = "the GPU, from the file (KvikIO)"

    def hold(self, room: Room) -> GpuLauncher:
        """Same as `TextBuffers.hold`."""
        buffer = self._by_room[id(room)]
        if buffer.sent is not None:
            sent, buffer.sent = buffer.sent, None
            check_status(sent.wait())
        buffer.filled.hold(self._card.stream)
        context = self._context
        budget, crossings, beside = context.new_budget(), context.crossings, copier(self._card)
        return GpuLauncher(self._card, stream=None, budget=budget, crossings=crossings, copier=beside)

    def free(self, room: Room) -> None:
        """Same as `TextBuffers.free`."""
        buffer = self._by_room.pop(id(room))
        buffer.read.record(self._card.stream)
        buffer.was_read = True
        self._free.release()

    def shrink(self) -> None:
        """Same as `TextBuffers.shrink`."""
        for buffer in self._buffers:
            if buffer.memory is not None:
                buffer.memory.close()
                buffer.memory = None

    def close(self) -> None:
        """Same as `TextBuffers.close`."""
        if self._file is not None:
            self._file.close()
        for buffer in self._buffers:
            buffer.sent = None  # its destructor waits for the copy
        give_ring(self._ring)
        for buffer in self._buffers:
            if buffer.memory is not None:
                buffer.memory.close()  # now, even if a text's memory is still referenced

    def _memory(self, buffer: _Buffer, nbytes: int) -> DeviceBuffer:
        """Return the buffer's memory. It is allocated on the converting stream, for which the copying stream waits."""
        if buffer.memory is None or buffer.memory.nbytes < nbytes + _SLACK:
            if buffer.memory is not None:
                buffer.memory.close()  # before a new one is allocated
                buffer.memory = None
            buffer.memory = device_pool(self._card).take(nbytes + _SLACK, self._card.stream, self._budget)
            Event(self._card).record(self._card.stream).hold(self._ring.stream)
        return buffer.memory


class TextInPlace:
    """Implements `headrace.api.scan.scan_sender.TextBuffers` for text in GPU memory: nothing is copied."""

    copied_by = "nothing: it was on the GPU"

    def __init__(self, text: Array, context: Context) -> None:
        self._text, self._context = text, context

    def send(self, text: HostText, part: range) -> Room:
        """Same as `TextBuffers.send`."""
        return Part(self._text, part.start, len(part))

    def hold(self, room: Room) -> GpuLauncher:
        """Same as `TextBuffers.hold`."""
        context = self._context
        return launcher_beside(self._text.stream, gpu(context.device), context.new_budget(), context.crossings)

    def free(self, room: Room) -> None:
        """Same as `TextBuffers.free`: the text belongs to the caller."""

    def shrink(self) -> None:
        """Same as `TextBuffers.shrink`."""

    def close(self) -> None:
        """Same as `TextBuffers.close`."""
