"""Builds the lists of a slab hash block by block, from a large batch or from another table: the launches of bulk_build.cu."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np  # a dependency of cuda-core

from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Launcher, Shape
from headrace.index.hash_map.gpu.ordered_rows import HashOrder, ordered_rows
from headrace.index.hash_map.gpu.slab_kernels import SLAB_BYTES, Memory, Rows, slab_defines, slab_entry
from headrace.index.hash_map.gpu.tuning import BuildTuning

TOTALS_BYTES = 24
_MAX_SKEW = 8  # a block with more than that many times its part of the rows ends the build


def block_bits(buckets: int, max_buckets: int) -> int:
    """Return the logarithm of the number of blocks that build a table, each at most `max_buckets` buckets."""
    return (-(-buckets // max_buckets) - 1).bit_length()


def whole_blocks(buckets: int, max_buckets: int) -> int:
    """Return the number of buckets, rounded up so that blocks have equal numbers of them.

    >>> whole_blocks(257, 256), whole_blocks(1000, 256)
    (258, 1000)
    """
    bits = block_bits(buckets, max_buckets)
    return -(-buckets >> bits) << bits


@dataclass(frozen=True, slots=True)
class BuiltPairs:
    """Result of a build."""

    size: int  # number of pairs in the table
    left: Rows | None = None  # pairs of a multimap that are still to be inserted


@dataclass(frozen=True, slots=True)
class _OrderedBatch:
    """A batch in the order of the first bits of the hash."""

    rows: Rows  # hashes and values
    starts: DeviceBuffer
    bits: int  # first row of each number of these bits, 8 bytes each; and the number of bits
    max_rows: int  # maximum number of rows of a block

    @property
    def args(self) -> tuple[Any, ...]:
        return self.rows.keys, self.rows.values, self.starts, self.bits, self.max_rows


@dataclass(frozen=True, slots=True)
class ListBuilder:
    """Launches of the kernels that build all lists of a table."""

    launcher: Launcher
    memory: Memory
    widths: tuple[int, int]
    tuning: BuildTuning  # the launcher, the table, bytes of keys and values, and sizes

    def fill(self, rows: Rows, reduction: int | None) -> BuiltPairs | None:
        """Fill a table without pairs, whose slabs in memory blocks are empty. The host waits.

        Memory for a batch of n rows: 2 n keys and 2 n values, 512 KiB, and the counts of the passes. A multimap takes 4 n bytes
        more.

        `rows`, `reduction`: the batch, and the number of a ``SlotReduction``; None for a multimap.
        Return None if the batch cannot be built. Then the table is of no use until it is emptied.
        Raise MemoryLimitError if there is no memory to order the batch. The table is as it was given.
        """
        if reduction is not None:
            added, failed, _ = self._build("build_lists", (*self._ordered(rows).args, reduction))
            return None if failed else BuiltPairs(added)
        if self._block_bits > self.tuning.max_bits:
            return None
        left_rows = self.launcher.allocate(rows.count * 4)
        ordered = self._ordered(rows)
        keys, values = self.launcher.allocate_group([], [rows.count * width for width in self.widths])
        added, left_count, failed = self._build("build_multi_lists", (*ordered.args, left_rows, keys, values))
        if failed:
            return None
        return BuiltPairs(added, Rows(keys, values, left_count) if left_count else None)

    def move(self, old: Memory) -> bool:
        """Move the pairs of a table with the same seed. Return False if there is no room for some of them.

        The first slabs need not be initialised. After a failure the table is of no use.
        """
        return not self._build("move_lists", (0, old.packed), old.slot_bytes)[1]

    def move_some(self, old: Memory, first: int, count: int, totals: DeviceBuffer) -> None:
        """Move the lists of some blocks of buckets. The host does not wait.

        `totals`: 24 bytes, 0 before the first of these calls: pairs, pairs without room, and slabs.
        """
        self._launch("move_lists", count, (first, old.packed, totals), old.slot_bytes)

    def empty(self, first_slab: int = 0) -> None:
        """Empty the slabs from a number on, and free all memory blocks."""
        self.launcher.fill(BufferSlice(self.memory.slabs, first_slab * SLAB_BYTES), 0xFF)
        self.launcher.fill(self.memory.bitmaps, 0)
        slab_bytes = SLAB_BYTES << self.memory.super_log
        for block in self.memory.supers:
            self.launcher.fill(BufferSlice(block, 0, slab_bytes), 0xFF)
            self.launcher.fill(BufferSlice(block, slab_bytes), 0)

    def _ordered(self, rows: Rows) -> _OrderedBatch:
        """Order a batch by the first bits of the hash."""
        split = self.tuning.split
        assert split is not None
        bits = min(self.tuning.max_bits, max(1, self._block_bits))
        starts = self.launcher.allocate(((1 << bits) + 1) * 8)
        ordered = ordered_rows(self.launcher, rows, self.widths, HashOrder(bits, self.memory.seed, split), starts)
        max_rows = min(_MAX_SKEW * ((rows.count >> bits) + self.tuning.buckets), 0xFFFFFFFF)
        return _OrderedBatch(ordered, starts, bits, max_rows)

    @property
    def blocks(self) -> int:
        """Number of blocks that build the table."""
        return 1 << self._block_bits

    @property
    def _block_bits(self) -> int:
        return block_bits(self.memory.buckets, self.tuning.buckets)

    def _build(self, name: str, args: tuple[Any, ...], slot: int = 4) -> tuple[int, int, int]:
        """Run a kernel, and return its totals. The host waits. `slot`: bytes of the number of a slot, or more."""
        totals = self.launcher.allocate(TOTALS_BYTES, fill=0)
        self._launch(name, self.blocks, (*args, totals), slot)
        first, second, third = self.launcher.fetch(totals).view(np.uint64).tolist()
        return first, second, third

    def _launch(self, name: str, blocks: int, args: tuple[Any, ...], slot: int = 4) -> None:
        threads, buckets = self.tuning.threads, self.tuning.buckets
        defines = slab_defines(self.widths, threads, max(slot, self.memory.slot_bytes), HR_BUCKETS=buckets)
        shape = Shape(defines, blocks, threads, (buckets + 1) * SLAB_BYTES)
        self.launcher.launch(slab_entry(name), shape, (self.memory.packed, self._block_bits, *args))
