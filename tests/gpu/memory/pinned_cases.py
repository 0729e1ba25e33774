# ruff: noqa: N802  # the names are the driver's
"""Stands in for the CUDA driver where pinned memory is taken."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

OUT_OF_MEMORY = 2


class Results(SimpleNamespace):
    """Statuses: numbers."""

    def __call__(self, status: int) -> int:
        return status


class LazyDriver:
    """Copies wait in their stream until the host waits for an event after them."""

    def __init__(self) -> None:
        self.CUevent_flags = self.CUstream_flags = SimpleNamespace(
            CU_EVENT_DEFAULT=SimpleNamespace(value=0),
            CU_EVENT_DISABLE_TIMING=SimpleNamespace(value=2),
            CU_STREAM_NON_BLOCKING=SimpleNamespace(value=1),
        )
        self.CUresult = Results(CUDA_ERROR_OUT_OF_MEMORY=OUT_OF_MEMORY, CUDA_ERROR_NOT_READY=600)
        self.CU_MEMHOSTALLOC_PORTABLE = 1
        self.held: dict[int, Any] = {}
        self.pinned_most = 1 << 40
        self.waiting: list[tuple[int, int, int]] = []
        self.recorded: dict[int, int] = {}
        self.done = self.events = self.max_waiting = 0

    def cuStreamCreate(self, flags: int) -> tuple[int, int]:
        return 0, 7

    def cuEventCreate(self, flags: int) -> tuple[int, int]:
        self.events += 1
        return 0, self.events

    def cuEventDestroy(self, handle: int) -> tuple[int]:
        return (0,)

    def cuMemHostAlloc(self, nbytes: int, flags: int) -> tuple[int, int]:
        if sum(len(memory) for memory in self.held.values()) + nbytes > self.pinned_most:
            return OUT_OF_MEMORY, 0
        memory = ctypes.create_string_buffer(b"\xee" * nbytes, nbytes)
        self.held[ctypes.addressof(memory)] = memory
        return 0, ctypes.addressof(memory)

    def cuMemFreeHost(self, address: int) -> tuple[int]:
        del self.held[address]
        return (0,)

    def cuMemcpyDtoHAsync(self, host: int, device: int, nbytes: int, stream: int) -> tuple[int]:
        self.waiting.append((host, device, nbytes))
        self.max_waiting = max(self.max_waiting, len(self.waiting) - self.done)
        return (0,)

    def cuMemcpyHtoDAsync(self, device: int, host: int, nbytes: int, stream: int) -> tuple[int]:
        return self.cuMemcpyDtoHAsync(device, host, nbytes, stream)

    def cuEventRecord(self, handle: int, stream: int) -> tuple[int]:
        self.recorded[handle] = len(self.waiting)
        return (0,)

    def cuStreamWaitEvent(self, stream: int, handle: int, flags: int) -> tuple[int]:
        return (0,)

    def cuEventSynchronize(self, handle: int) -> tuple[int]:
        for host, device, nbytes in self.waiting[self.done : self.recorded[handle]]:
            ctypes.memmove(host, device, nbytes)
        self.done = max(self.done, self.recorded[handle])
        return (0,)

    def cuStreamSynchronize(self, stream: int) -> tuple[int]:
        return (0,)
