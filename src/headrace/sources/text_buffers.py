"""Holds two GPU buffers for text. One is filled through pinned memory, on a stream of its own, while kernels read the other."""

from __future__ import annotations

import threading

from headrace import _native
from headrace.arrays.arrays import Array
from headrace.core.context import Context
from headrace.gpu.device.device import Gpu, check_status, gpu
from headrace.gpu.device.event import Event
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, GpuLauncher, launcher_beside
from headrace.gpu.memory.pinned import HostText, give_ring, is_pinned, take_ring
from headrace.gpu.memory.pool import PoolBuffer, device_pool
from headrace.gpu.transfer.direct_storage import DirectFile, direct_file
from headrace.primitives.copy import copier

_BUFFERS = 2
_SLACK = 256  # bytes allocated after a text: kernels may read past its end


class _Slot:
    """GPU memory, the part being sent to it, and events after it was last filled and read."""

    def __init__(self, card: Gpu) -> None:
        self.memory: PoolBuffer | None = None
        self.sent: _native.SentPart | None = None
        self.filled, self.read = Event(card), Event(card)
        self.was_read = False

    def free(self, stream: int) -> None:
        """Wait for all work on a stream: then the memory is allocated, and no kernel reads it."""
        self.filled.record(stream).wait()


class CardBuffers:
    """Implements `headrace.api.scan.scan_sender.TextBuffers` for the context's GPU.

    Raises MemoryLimitError if a buffer does not fit in the context's memory limit or in GPU memory.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._card = gpu(context.device)
        self._ring = take_ring(self._card)
        self._budget = context.new_budget()
        self._slots = [_Slot(self._card) for _ in range(_BUFFERS)]
        self._free = threading.Semaphore(_BUFFERS)
        self._sent = 0
        self._is_pinned = False
        self._file: DirectFile | None = None
        self.copied_by = ""
        self._by_buffer: dict[int, _Slot] = {}

    def send(self, text: HostText, part: range) -> DeviceBuffer:
        """Same as `TextBuffers.send`. Text in pinned memory is copied by the GPU alone.

        Copies by native threads are only started here, and `hold` waits for them. So the threads can continue with the next part.
        """
        self._free.acquire()
        try:
            slot = self._slots[self._sent % _BUFFERS]
            self._sent += 1
            buffer = BufferSlice(self._memory(slot, len(part)), 0, len(part))
            if slot.was_read:
                slot.read.hold(self._ring.stream)
            if self._sent == 1:
                self._look_at(text)
            if self._file is not None:
                slot.free(self._ring.stream)
                self._file.read(part, buffer.address)
                self._context.crossings.count(to_gpu=len(part))
            elif self._is_pinned:
                self._ring.send_pinned(text.address, part, buffer.address, counted=self._context.crossings)
            elif text.native is not None:
                counted = self._context.crossings
                slot.sent = self._ring.begin_source(text.native, part, buffer.address, counted=counted, copied=slot.filled)
            else:
                self._ring.send(text.read_into, part, buffer.address, counted=self._context.crossings)
            if slot.sent is None:
                slot.filled.record(self._ring.stream)
        except BaseException:
            self._free.release()
            raise
        self._by_buffer[id(buffer)] = slot
        return buffer

    def _look_at(self, text: HostText) -> None:
        """Choose how the text is copied."""
        with self._card.current():
            self._is_pinned = text.address != 0 and is_pinned(text.address)
        self._file = direct_file(text.path)
        self.copied_by = "the GPU, from pinned memory" if self._is_pinned else "threads, through pinned memory"
        if self._file is not None:
            self.copied_by = "the GPU, from the file (KvikIO)"

    def hold(self, buffer: DeviceBuffer) -> GpuLauncher:
        slot = self._by_buffer[id(buffer)]
        if slot.sent is not None:
            sent, slot.sent = slot.sent, None
            check_status(sent.wait())
        slot.filled.hold(self._card.stream)
        context = self._context
        budget, crossings, beside = context.new_budget(), context.crossings, copier(self._card)
        return GpuLauncher(self._card, stream=None, budget=budget, crossings=crossings, copier=beside)

    def free(self, buffer: DeviceBuffer) -> None:
        slot = self._by_buffer.pop(id(buffer))
        slot.read.record(self._card.stream)
        slot.was_read = True
        self._free.release()

    def shrink(self) -> None:
        for slot in self._slots:
            if slot.memory is not None:
                slot.memory.close()
                slot.memory = None

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        for slot in self._slots:
            slot.sent = None  # its destructor waits for the copy
        give_ring(self._ring)
        for slot in self._slots:
            if slot.memory is not None:
                slot.memory.close()  # now, even if a text's memory is still referenced

    def _memory(self, slot: _Slot, nbytes: int) -> PoolBuffer:
        """Return the slot's memory. It is allocated on the converting stream, for which the copying stream waits."""
        if slot.memory is None or slot.memory.nbytes < nbytes + _SLACK:
            if slot.memory is not None:
                slot.memory.close()  # before a new one is allocated
                slot.memory = None
            slot.memory = device_pool(self._card).take(nbytes + _SLACK, self._card.stream, self._budget)
            Event(self._card).record(self._card.stream).hold(self._ring.stream)
        return slot.memory


class TextInPlace:
    """Implements `headrace.api.scan.scan_sender.TextBuffers` for text in GPU memory: nothing is copied."""

    copied_by = "nothing: it was on the GPU"

    def __init__(self, text: Array, context: Context) -> None:
        self._text, self._context = text, context

    def send(self, text: HostText, part: range) -> DeviceBuffer:
        return BufferSlice(self._text, part.start, len(part))

    def hold(self, buffer: DeviceBuffer) -> GpuLauncher:
        context = self._context
        return launcher_beside(self._text.stream, gpu(context.device), context.new_budget(), context.crossings)

    def free(self, buffer: DeviceBuffer) -> None:
        """Same as `TextBuffers.free`: the text belongs to the caller."""

    def shrink(self) -> None:
        """Same as `TextBuffers.shrink`."""

    def close(self) -> None:
        """Same as `TextBuffers.close`."""
