"""Allocates results in pinned memory, which the GPU writes directly, without another copy on the host.

Pinning takes longer than filling, so the block of an earlier batch serves a later one. A background thread pins missing blocks.
Until they are ready, batches arrive through `headrace.gpu.memory.pinned.PinnedRing.fetch`. Buffers are parts of a block, and
keep it until the last of them is released, on any thread.
"""

from __future__ import annotations

import threading

from headrace import _native
from headrace.core.buffer import Buffer
from headrace.core.process.process_lock import process_lock
from headrace.gpu.device.device import Gpu, checked, driver

_STEP = 16 << 20
_MEMORY_DIVISOR = 32
_MAX_IDLE_BYTES = 1 << 30
_ALIGN, _SLACK = 64, 64


def lent_bytes(nbytes: int) -> int:
    """Return the bytes of a block that a buffer of `nbytes` bytes takes."""
    return -(-(nbytes + _SLACK) // _ALIGN) * _ALIGN


class PinnedBatch:
    """A block of pinned memory for the buffers of one batch, one after the other."""

    def __init__(self, block: _native.LentMemory) -> None:
        self._block, self._at = block, 0
        self._own = block.lend(0, 0)  # keeps the block until the buffers do

    def buffer(self, nbytes: int) -> Buffer:
        """Return the next buffer, which the caller fills by its address."""
        result = self._block.lend(self._at, nbytes)
        self._at += lent_bytes(nbytes)
        return result


class PinnedResults:
    """Blocks of pinned memory for the results of one GPU, shared by any number of scans. `pinned_results` returns it.

    `max_bytes`: maximum bytes of all blocks; None means 1/32 of the memory that the process may use.
    `waits`: whether `take` waits until a block is pinned.
    """

    def __init__(self, gpu: Gpu, *, max_bytes: int | None = None, waits: bool = False) -> None:
        self._gpu, self._waits = gpu, waits
        self._max_bytes = _native.usable_memory() // _MEMORY_DIVISOR if max_bytes is None else max_bytes
        self._blocks: list[_native.LentMemory] = []
        self._bytes = 0  # pinned, or being pinned
        self._lock = threading.Lock()
        self._pinning: threading.Thread | None = None

    def take(self, nbytes: int) -> PinnedBatch | None:
        """Return memory for a batch of `nbytes` bytes, the sum of `lent_bytes` over its buffers; None if none is available."""
        with self._lock:
            found = self._smallest(nbytes)
            if found is not None:
                return PinnedBatch(found)
            self._ask_for(-(-(nbytes + nbytes // 8) // _STEP) * _STEP)
            pinning = self._pinning
        if not self._waits or pinning is None:
            return None
        pinning.join()
        with self._lock:
            found = self._smallest(nbytes)
            return None if found is None else PinnedBatch(found)

    def trim(self, max_bytes: int = _MAX_IDLE_BYTES) -> None:
        """Free unused blocks until they have at most `max_bytes` bytes."""
        with self._lock:
            idle = [block for block in self._blocks if block.is_free]
            waiting = sum(block.nbytes for block in idle)
            while idle and waiting > max_bytes:
                waiting -= idle[0].nbytes
                self._give_back(idle.pop(0))

    @property
    def nbytes(self) -> int:
        """Bytes of all blocks."""
        return self._bytes

    def _smallest(self, nbytes: int) -> _native.LentMemory | None:
        fitting = [block for block in self._blocks if block.nbytes >= nbytes and block.is_free]
        return min(fitting, key=lambda block: block.nbytes, default=None)

    def _ask_for(self, nbytes: int) -> None:
        """Pin a block in a background thread. Unused smaller blocks are freed if the limit requires it."""
        if self._pinning is not None and self._pinning.is_alive():
            return
        for block in [block for block in self._blocks if block.is_free]:
            if self._bytes + nbytes > self._max_bytes:
                self._give_back(block)
        if self._bytes + nbytes > self._max_bytes:
            return
        self._bytes += nbytes
        pinning = threading.Thread(target=self._pin, args=(nbytes,), name="headrace-pinning", daemon=True)
        try:
            pinning.start()
        except RuntimeError:  # the system is out of threads; results go through the ring
            self._bytes -= nbytes
        else:
            self._pinning = pinning

    def _pin(self, nbytes: int) -> None:
        functions = driver()
        self._gpu.make_current()
        status, address = functions.cuMemHostAlloc(nbytes, functions.CU_MEMHOSTALLOC_PORTABLE)
        with self._lock:
            if status:  # results go through the ring
                self._bytes -= nbytes
                self._max_bytes = self._bytes
            else:
                self._blocks.append(_native.LentMemory(int(address), nbytes))

    def _give_back(self, block: _native.LentMemory) -> None:
        self._blocks.remove(block)
        self._bytes -= block.nbytes
        with self._gpu.current():
            checked(driver().cuMemFreeHost(block.address))


_results: dict[int, PinnedResults] = {}
_results_lock = process_lock()


def pinned_results(gpu: Gpu) -> PinnedResults:
    """Return the blocks of a GPU."""
    with _results_lock:
        if gpu.index not in _results:
            _results[gpu.index] = PinnedResults(gpu)
        return _results[gpu.index]
