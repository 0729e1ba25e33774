"""Pinned memory that results lie in: the card writes them there itself, and no thread of the host copies them once more.

To pin memory takes longer than to fill it, so what a batch gave back serves the next one, and what is not there yet is pinned by
a thread while batches still come the other way (`headrace.gpu.memory.pinned.PinnedRing.fetch`). Buffers are parts of a block, and
hold it until the last of them is gone, on whatever thread.
"""

from __future__ import annotations

import threading

from headrace import _native
from headrace.core.buffer import Buffer
from headrace.core.process_lock import process_lock
from headrace.gpu.device.device import Gpu, checked, driver

_STEP = 16 << 20
_MOST_PART_OF_MEMORY = 32
_MOST_IDLE_BYTES = 1 << 30
_ALIGN, _SLACK = 64, 64


def lent_bytes(nbytes: int) -> int:
    """What a buffer takes of a block."""
    return -(-(nbytes + _SLACK) // _ALIGN) * _ALIGN


class PinnedBatch:
    """A block for the buffers of one batch, one behind the other."""

    def __init__(self, block: _native.LentMemory) -> None:
        self._block, self._at = block, 0
        self._own = block.lend(0, 0)  # until the buffers hold it

    def buffer(self, nbytes: int) -> Buffer:
        """The next buffer; whoever asked for it fills it by its address."""
        made = self._block.lend(self._at, nbytes)
        self._at += lent_bytes(nbytes)
        return made


class PinnedResults:
    """Blocks of pinned memory of a card, for any number of scans. `pinned_results` gives the one of a card.

    Parameters
    ----------
    gpu
        The card.
    most_bytes
        Of all blocks; None for a 32nd of the memory that the process may use.
    waits
        Whether `take` waits until a block is pinned.
    """

    def __init__(self, gpu: Gpu, *, most_bytes: int | None = None, waits: bool = False) -> None:
        self._gpu, self._waits = gpu, waits
        self._most = _native.usable_memory() // _MOST_PART_OF_MEMORY if most_bytes is None else most_bytes
        self._blocks: list[_native.LentMemory] = []
        self._bytes = 0  # pinned, or about to be
        self._lock = threading.Lock()
        self._pinning: threading.Thread | None = None

    def take(self, nbytes: int) -> PinnedBatch | None:
        """Memory for a batch of so many bytes, `lent_bytes` for each buffer; None if there is none, now or ever."""
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

    def trim(self, most: int = _MOST_IDLE_BYTES) -> None:
        """Give blocks that nobody uses back to the system, until no more than so many bytes wait."""
        with self._lock:
            idle = [block for block in self._blocks if block.is_free]
            waiting = sum(block.nbytes for block in idle)
            while idle and waiting > most:
                waiting -= idle[0].nbytes
                self._give_back(idle.pop(0))

    @property
    def nbytes(self) -> int:
        """Of all blocks."""
        return self._bytes

    def _smallest(self, nbytes: int) -> _native.LentMemory | None:
        fitting = [block for block in self._blocks if block.nbytes >= nbytes and block.is_free]
        return min(fitting, key=lambda block: block.nbytes, default=None)

    def _ask_for(self, nbytes: int) -> None:
        """Have a thread pin a block, in place of smaller ones that nobody uses."""
        if self._pinning is not None and self._pinning.is_alive():
            return
        for block in [block for block in self._blocks if block.is_free]:
            if self._bytes + nbytes > self._most:
                self._give_back(block)
        if self._bytes + nbytes > self._most:
            return
        self._bytes += nbytes
        pinning = threading.Thread(target=self._pin, args=(nbytes,), name="headrace-pinning", daemon=True)
        try:
            pinning.start()
        except RuntimeError:  # the system has no thread: results go the other way
            self._bytes -= nbytes
        else:
            self._pinning = pinning

    def _pin(self, nbytes: int) -> None:
        functions = driver()
        self._gpu.make_current()
        status, address = functions.cuMemHostAlloc(nbytes, functions.CU_MEMHOSTALLOC_PORTABLE)
        with self._lock:
            if status:  # results go the other way
                self._bytes -= nbytes
                self._most = self._bytes
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
    """The blocks of a card."""
    with _results_lock:
        if gpu.index not in _results:
            _results[gpu.index] = PinnedResults(gpu)
        return _results[gpu.index]
