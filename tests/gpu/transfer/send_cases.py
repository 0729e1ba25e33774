"""Stands in for a GPU that copies late."""

from __future__ import annotations

import ctypes
import threading

from headrace import _native
from headrace.gpu.device.driver_calls import CARD_CALLS, address_of

NOT_READY = 600


ADDRESS = ctypes.c_uint64


CONTEXT = 77


class LazyCard:
    """Copies wait until the host queries an event after them, which reports twice that it is not done."""

    def __init__(self, *, fails_at: int = 1 << 30) -> None:
        self._lock = threading.Lock()
        self._fails_at = fails_at
        self.copies: list[tuple[int, int, int]] = []
        self.done = 0
        self.recorded: dict[int, int] = {}
        self.asked: dict[int, int] = {}
        self.contexts: set[int] = set()
        self._functions = {
            "cuCtxSetCurrent": ctypes.CFUNCTYPE(ctypes.c_int, ADDRESS)(self.make_current),
            "cuMemcpyHtoDAsync_v2": ctypes.CFUNCTYPE(ctypes.c_int, ADDRESS, ADDRESS, ADDRESS, ADDRESS)(self.copy),
            "cuEventRecord": ctypes.CFUNCTYPE(ctypes.c_int, ADDRESS, ADDRESS)(self.record),
            "cuEventQuery": ctypes.CFUNCTYPE(ctypes.c_int, ADDRESS)(self.query),
        }

    @property
    def calls(self) -> _native.CardCalls:
        """Same as `headrace.gpu.device.driver_calls.card_calls`; no other function is called."""
        known = {name: address_of(function) for name, function in self._functions.items()}
        return _native.CardCalls.make([known.get(name, 0) for name in CARD_CALLS])

    def way(self, slots: int, slot_bytes: int) -> _native.SendWay:
        """Return a way through `slots` slots."""
        self.memory = ctypes.create_string_buffer(slots * slot_bytes)
        begin = ctypes.addressof(self.memory)
        places = [(begin + i * slot_bytes, 100 + i) for i in range(slots)]
        return _native.SendWay.make(self.calls, CONTEXT, 5, places, slot_bytes)

    def make_current(self, context: int) -> int:
        self.contexts.add(context)
        return 0

    def copy(self, target: int, memory: int, count: int, stream: int) -> int:
        with self._lock:
            if len(self.copies) == self._fails_at:
                return 700
            self.copies.append((target, memory, count))
        return 0

    def record(self, event: int, stream: int) -> int:
        with self._lock:
            self.recorded[event] = len(self.copies)
            self.asked[event] = 0
        return 0

    def query(self, event: int) -> int:
        with self._lock:
            if event not in self.recorded:
                return 0
            self.asked[event] += 1
            if self.asked[event] <= 2:
                return NOT_READY
            self._copy_until(self.recorded[event])
        return 0

    def finish(self) -> None:
        """Copy everything that was enqueued."""
        self._copy_until(len(self.copies))

    def _copy_until(self, end: int) -> None:
        for target, memory, count in self.copies[self.done : end]:
            ctypes.memmove(target, memory, count)
        self.done = max(self.done, end)
