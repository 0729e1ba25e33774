"""Runs the operations of a slab hash: its memory, its growth, and the launches of hash_map.cu and hash_map_updates.cu.

A batch is inserted in three steps. First, all absent keys are inserted, each with the value of one of its rows. If these are all
rows, the batch is complete. If memory was missing, the inserted keys are removed, the table grows, and the batch starts again.
Else the rows of present and repeated keys store their values. If a slot then has another value than one of its rows, the order of
the rows decides.
"""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import cache
from math import ceil
from typing import Any, Self

import numpy as np  # a dependency of cuda-core

from headrace.core.errors import MemoryLimitError
from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Entry, Launcher, Shape
from headrace.index.hash_map.gpu.tuning import SLAB_TUNING, SlabTuning

_TABLE = layout("SlabTable")
MIXED_TASK = layout("MixedTask")
_PACKED = _TABLE.packer()
_SLAB_BYTES, _BLOCK_SLABS, _GROUP_LANES = 128, 1024, 8
COUNTS_BYTES = 40
"""Three counts of an insertion, and two counters."""
_MAX_SLABS = (1 << 26) - 1
NO_SLOT, SKIPPED = 0xFFFFFFFF, 0xFFFFFFFE
"""Slots of keys that are absent, and of rows that have nothing to do (slab_list.cuh)."""
_SIGNATURES = {
    "find_pairs": "PQPP",
    "locate_keys": "PQP",
    "insert_pairs": "PPQIPP",
    "copy_items": "IPPP",
    "measure_chains": "P",
    "copy_words": "PPQ",
    "begin_contest": "PQII",
    "enter_contest": "PQII",
    "end_contest": "PQIIPP",
    "store_values": "PQP",
    "count_others": "PQPP",
    "clear_slots": "PQI",
    "reduce_values": "PQPI",
    "append_pairs": "PPQIPP",
    "count_values": "PQP",
    "copy_values": "PQPPP",
    "erase_values": "PQPPP",
    "replay_operations": f"{MIXED_TASK.argument}PPPPP",
    "finish_operations": "QPPP",
    "run_operations": f"{MIXED_TASK.argument}PPPP",
}
_FILES = {
    "hash_map.cu": ("find_pairs", "locate_keys", "insert_pairs", "copy_items", "measure_chains", "copy_words"),
    "mixed.cu": ("replay_operations", "finish_operations", "run_operations"),
    "multi_map.cu": ("append_pairs", "count_values", "copy_values", "erase_values"),
}
_COMBINATIONS = {"sum": 0, "min": 1, "max": 2}
_SIGNED = 2
"""Added to the combinations `min` and `max` for signed integers."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a batch in device memory.

    Parameters
    ----------
    keys, values
        The arrays; `values` is None for sets and searches.
    count
        Number of rows.
    """

    keys: Any
    values: Any
    count: int


@dataclass(frozen=True, slots=True)
class _Located:
    """The slot of each row of a batch, and a counter of 8 bytes."""

    slots: DeviceBuffer
    counter: DeviceBuffer


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory of a table: see ``SlabTable``."""

    slabs: DeviceBuffer
    bitmaps: DeviceBuffer
    buckets: int
    blocks: int
    seed: int

    @property
    def packed(self) -> bytes:
        """The ``SlabTable``."""
        is_full = self.bitmaps.address + self.blocks * _BLOCK_SLABS // 8
        return _PACKED.pack(self.slabs.address, self.bitmaps.address, is_full, self.buckets, self.blocks, self.seed)

    @property
    def slab_count(self) -> int:
        """Number of first slabs and of slabs in memory blocks."""
        return self.buckets + 1 + self.blocks * _BLOCK_SLABS


class SlabHash:
    """A hash map or set in device memory.

    Parameters
    ----------
    launcher
        Launcher of the first allocation.
    widths
        Bytes of keys and values.
    capacity
        Number of pairs for which memory is allocated first.
    tuning
        Sizes.
    seed
        Seed of the hash.
    """

    def __init__(
        self,
        launcher: Launcher,
        widths: tuple[int, int],
        capacity: int = 0,
        *,
        tuning: SlabTuning = SLAB_TUNING,
        seed: int = 0,
    ) -> None:
        self._seed = seed
        self._widths = widths
        self._slots = 120 // sum(widths)
        self._tuning = tuning
        self._insertion = "insert_pairs"
        self.size = 0
        self._memory = self._allocate(launcher, self._buckets_for(capacity))

    def find(self, launcher: Launcher, keys: Rows, values: Any, found: Any) -> None:
        """Write the values of keys, 0 for absent ones, unless `values` is None; and whether each is present."""
        self._launch(launcher, "find_pairs", keys.count, (keys.keys, keys.count, values, found))

    def upsert(self, launcher: Launcher, rows: Rows, reduce: str, kind: str) -> int:
        """Insert rows, and reduce the values of present keys. Return the number of keys added.

        Parameters
        ----------
        launcher, rows
            The launcher and the batch, of one row or more.
        reduce, kind
            As `headrace.HashMap.upsert`, and NumPy's letter of the values' type.

        Raises
        ------
        MemoryLimitError
            The map does not fit; it is as before.
        """
        self._reserve(launcher, rows.count)
        slots, counts = launcher.allocate(rows.count * 4), launcher.allocate(COUNTS_BYTES)
        is_located = reduce == "first" and self._widths[1] != 0
        buckets = max(self._memory.buckets, self._buckets_for(self.size + rows.count))
        while True:
            if is_located:
                self._launch(launcher, "locate_keys", rows.count, (rows.keys, rows.count, slots))
            launcher.fill(counts, 0)
            args = (rows.keys, rows.values, rows.count, int(is_located), slots, counts)
            self._launch(launcher, self._insertion, rows.count, args)
            skipped, failed, repeated = launcher.fetch(counts).view(np.uint64)[:3].tolist()
            if not failed:
                break
            self._launch(launcher, "clear_slots", rows.count, (slots, rows.count, 1))
            self._rebuild(launcher, buckets)  # a rebuild without growth compacts the lists
            buckets = 2 * self._memory.buckets
        added = rows.count - skipped - repeated
        self.size += added
        if repeated and self._widths[1]:
            self._resolve(launcher, rows, _Located(slots, BufferSlice(counts, 24, 8)), (reduce, kind))
        return int(added)

    def _resolve(self, launcher: Launcher, rows: Rows, located: _Located, how: tuple[str, str]) -> None:
        """Reduce the values of rows whose key was present, or is repeated in the batch. No memory is allocated."""
        (reduce, kind), slots, counter = how, located.slots, located.counter
        if reduce in _COMBINATIONS:
            combination = _COMBINATIONS[reduce] + (_SIGNED if kind == "i" and reduce != "sum" else 0)
            self._launch(launcher, "reduce_values", rows.count, (slots, rows.count, rows.values, combination))
            return
        is_last = reduce == "last"
        if is_last:
            self._launch(launcher, "store_values", rows.count, (slots, rows.count, rows.values))
        self._launch(launcher, "count_others", rows.count, (slots, rows.count, rows.values, counter))
        if launcher.fetch(counter).view(np.uint64)[0]:
            self._contest(launcher, located, rows.count, (0, int(is_last)))
            self._launch(launcher, "store_values", rows.count, (slots, rows.count, rows.values))

    def _contest(self, launcher: Launcher, located: _Located, count: int, how: tuple[int, int], won: Any = None) -> None:
        """Leave the slot of one row for each slot. The counter gets the number of slots.

        `how`: whether the rows compete in the keys of the slots, and whether the last row wins (hash_map_updates.cu).
        """
        launcher.fill(located.counter, 0)
        self._launch(launcher, "begin_contest", count, (located.slots, count, *how))
        self._launch(launcher, "enter_contest", count, (located.slots, count, *how))
        self._launch(launcher, "end_contest", count, (located.slots, count, *how, won, located.counter))

    def _locate(self, launcher: Launcher, keys: Rows) -> _Located:
        """Return the slots of keys."""
        located = _Located(launcher.allocate(keys.count * 4), launcher.allocate(8))
        self._launch(launcher, "locate_keys", keys.count, (keys.keys, keys.count, located.slots))
        return located

    def replace(self, launcher: Launcher, rows: Rows, found: Any) -> None:
        """Replace the values of present keys, and write whether each is present."""
        self.find(launcher, rows, None, found)
        located = self._locate(launcher, rows)
        self._contest(launcher, located, rows.count, (0, 1))
        self._launch(launcher, "store_values", rows.count, (located.slots, rows.count, rows.values))

    def erase(self, launcher: Launcher, keys: Rows, found: Any) -> None:
        """Erase keys, and write for each whether it was present before its row. The host waits."""
        located = self._locate(launcher, keys)
        self._contest(launcher, located, keys.count, (1, 0), found)
        self._launch(launcher, "clear_slots", keys.count, (located.slots, keys.count, 0))
        self.size -= int(launcher.fetch(located.counter).view(np.uint64)[0])

    def items(self, launcher: Launcher, keys: Any, values: Any) -> None:
        """Write all pairs in no order."""
        slabs, counter = self._memory.slab_count, launcher.allocate(8, fill=0)
        self._launch(launcher, "copy_items", slabs * _GROUP_LANES, (slabs, keys, values, counter))

    def copy(self, launcher: Launcher) -> Self:
        """Return a table with the same pairs."""
        parts = []
        for part in (self._memory.slabs, self._memory.bitmaps):
            parts.append(launcher.allocate(part.nbytes))
            self._launch(launcher, "copy_words", part.nbytes // 4, (part, parts[-1], part.nbytes // 4))
        result = copy(self)
        result._memory = replace(self._memory, slabs=parts[0], bitmaps=parts[1])  # noqa: SLF001  # a new object
        return result

    def clear(self, launcher: Launcher) -> None:
        """Remove all pairs, and free their memory."""
        self._memory = self._allocate(launcher, self._buckets_for(0))
        self.size = 0

    def compact(self, launcher: Launcher) -> None:
        """Rebuild the table with the buckets that its pairs need. No list then has an empty slab."""
        self._rebuild(launcher, self._buckets_for(self.size))

    @property
    def capacity(self) -> int:
        """Number of slots in the first slabs of the buckets."""
        return self._memory.buckets * self._slots

    @property
    def nbytes(self) -> int:
        """Bytes of the table."""
        return self._memory.slabs.nbytes + self._memory.bitmaps.nbytes

    def chains(self, launcher: Launcher) -> tuple[int, int]:
        """Return the number of slabs in all lists, and in the longest one."""
        results = launcher.allocate(16, fill=0)
        self._launch(launcher, "measure_chains", self._memory.buckets + 1, (results,))
        total, longest = launcher.fetch(results).view(np.uint64).tolist()
        return int(total), int(longest)

    def slabs_in_use(self, launcher: Launcher) -> int:
        """Return the number of first slabs and of slabs that are allocated in memory blocks."""
        bits = launcher.fetch(self._memory.bitmaps)[: self._memory.blocks * _BLOCK_SLABS // 8]
        return self._memory.buckets + 1 + int(np.unpackbits(bits).sum())

    def _buckets_for(self, pairs: int) -> int:
        return max(1, ceil(pairs / (self._slots * self._tuning.load)))

    def _allocate(self, launcher: Launcher, buckets: int) -> Memory:
        blocks = ceil(buckets * self._tuning.list_slabs / _BLOCK_SLABS)
        if buckets + 1 + blocks * _BLOCK_SLABS > _MAX_SLABS:
            raise MemoryLimitError(f"a map on a GPU has at most {_MAX_SLABS} slabs of {_SLAB_BYTES} bytes; split the keys")
        slabs = launcher.allocate((buckets + 1 + blocks * _BLOCK_SLABS) * _SLAB_BYTES, fill=0xFF)
        return Memory(slabs, launcher.allocate(blocks * _BLOCK_SLABS // 8 + 4, fill=0), buckets, blocks, self._seed)

    def _reserve(self, launcher: Launcher, added: int) -> bool:
        """Grow the table for that many keys more, and return whether it has grown.

        If memory is refused, the table may be large enough nevertheless.
        """
        if self.size + added <= self._tuning.max_load * self.capacity:
            return False
        with suppress(MemoryLimitError):
            self._rebuild(launcher, max(self._buckets_for(self.size + added), 2 * self._memory.buckets))
            return True
        return False

    def _rebuild(self, launcher: Launcher, buckets: int) -> None:
        """Move all pairs to a table of that many buckets, or more if they do not fit.

        Raises
        ------
        MemoryLimitError
            There is no memory for it; the table is as before.
        """
        old, size = self._memory, self.size
        items = Rows(launcher.allocate(size * self._widths[0]), launcher.allocate(size * self._widths[1] or 1), size)
        if size:
            self.items(launcher, items.keys, items.values)
        try:
            while True:
                self._memory = self._allocate(launcher, buckets)
                if not size:
                    return
                slots, counts = launcher.allocate(size * 4), launcher.allocate(COUNTS_BYTES, fill=0)
                self._launch(launcher, self._insertion, size, (items.keys, items.values, size, 0, slots, counts))
                if not launcher.fetch(counts).view(np.uint64)[1]:
                    return
                buckets *= 2
        except MemoryLimitError:
            self._memory = old
            raise

    def _launch(self, launcher: Launcher, name: str, threads: int, args: tuple[Any, ...]) -> None:
        block = self._tuning.threads
        shape = Shape(_defines(self._widths, block), -(-threads // block), block)
        launcher.launch(_entry(name), shape, (self._memory.packed, *args))


@cache
def _defines(widths: tuple[int, int], threads: int) -> dict[str, int]:
    return {"HR_KEY_WIDTH": widths[0], "HR_VALUE_WIDTH": widths[1], "HR_THREADS": threads}


@cache
def _entry(name: str) -> Entry:
    file = next((file for file, names in _FILES.items() if name in names), "hash_map_updates.cu")
    return Entry(f"index/hash_map/gpu/{file}", name, f"{_TABLE.argument}{_SIGNATURES[name]}")
