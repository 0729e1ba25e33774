"""Holds the memory of a slab hash, which grows in steps, one after each batch of changes.

So no batch waits for the move of all lists. The old table has all pairs until the last step. All searches and changes run on
it. A step moves the lists of some buckets. After a batch, the keys of moved lists get the same state in the new table. So a
search costs nothing more, and growth can be given up at any time.

For example, with 8 buckets of which 4 have moved, an insertion of two keys fills slots of buckets 1 and 6 in the old table. The
first one is then inserted into the new table too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, TypeVar

import numpy as np  # a dependency of cuda-core

from headrace.core.errors import MemoryLimitError
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Launcher, Shape
from headrace.index.hash_map.gpu import slab_kernels
from headrace.index.hash_map.gpu.block_batch.bulk_build import TOTALS_BYTES, ListBuilder, whole_blocks
from headrace.index.hash_map.gpu.slab_kernels import (
    BLOCK_SLABS,
    MAX_SLABS,
    SLAB_BYTES,
    Memory,
    Rows,
    slab_defines,
    slab_entry,
)
from headrace.index.hash_map.gpu.tuning import SLAB_TUNING, SlabTuning

_Result = TypeVar("_Result")


class _LightTableError(MemoryLimitError):
    """A batch by the kernels of light tables needs a larger table. The table is as before."""


@dataclass(slots=True)
class Growth:
    """The growth of a table."""

    old: Memory
    memory: Memory  # The new table. Its first slabs need not be initialised.
    widths: tuple[int, int]
    tuning: SlabTuning  # bytes of keys and values, and sizes
    totals: DeviceBuffer  # the totals of `ListBuilder.move_some`
    moved: int = 0  # number of blocks of buckets that have moved
    is_stale: bool = False
    """True if a batch may have changed the old table, and moved lists in the new one do not have its changes."""

    def follow(self, launcher: Launcher, rows: Rows, *, adds: bool, erases: bool) -> None:
        """Give the keys of a batch the state that they have in the old table. `adds`, `erases`: what the batch may have done."""
        moved = self.moved * (self.memory.buckets // self._builder(launcher).blocks)
        batch = self.old.packed, rows.keys, rows.count, moved
        if erases and moved:
            slots = launcher.allocate(rows.count * self._slot_bytes)
            self._launch(launcher, "locate_copies", rows.count, (*batch, slots))
            self._launch(launcher, "clear_slots", rows.count, (slots, rows.count, 0))
        if adds and moved:
            self._launch(launcher, "copy_pairs", rows.count, (*batch, BufferSlice(self.totals, 8, 8)))

    def advance(self, launcher: Launcher, part: float) -> bool:
        """Move a part of all lists, at most 1, and return whether all have moved."""
        builder = self._builder(launcher)
        count = min(ceil(part * builder.blocks), builder.blocks - self.moved)
        builder.move_some(self.old, self.moved, count, self.totals)
        self.moved += count
        return self.moved == builder.blocks

    def is_failed(self, launcher: Launcher) -> bool:
        """Return whether the new table had no room for a pair. The host waits."""
        return bool(launcher.fetch(self.totals).view(np.uint64)[1])

    @property
    def _slot_bytes(self) -> int:
        return max(self.old.slot_bytes, self.memory.slot_bytes)

    def _builder(self, launcher: Launcher) -> ListBuilder:
        return ListBuilder(launcher, self.memory, self.widths, self.tuning.build)

    def _launch(self, launcher: Launcher, name: str, threads: int, args: tuple[Any, ...]) -> None:
        block = self.tuning.threads
        shape = Shape(slab_defines(self.widths, block, self._slot_bytes), -(-threads // block), block)
        launcher.launch(slab_entry(name), shape, (self.memory.packed, *args))


class GrowingTable(ABC):
    """The memory of a slab hash, and its growth in steps.

    `launcher`: launcher of the first allocation.
    `capacity`: number of pairs for which memory is allocated first.
    """

    _grows_in_steps = True

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
        self.size = 0
        self._is_used = False  # whether a kernel has run on the table
        self._growth: Growth | None = None
        self._batch_slot: int | None = None  # bytes of the number of a slot in the batch that runs
        self._memory = self._allocate(launcher, self._buckets_for(capacity))

    @property
    def capacity(self) -> int:
        """Number of slots in the first slabs of the buckets."""
        return self._memory.buckets * self._slots

    @property
    def nbytes(self) -> int:
        """Bytes of the table, and of a larger one into which it grows."""
        tables = [self._memory] if self._growth is None else [self._memory, self._growth.memory]
        return sum(table.nbytes for table in tables)

    @property
    def memory(self) -> Memory:
        """The table, which is another one after growth."""
        return self._memory

    @property
    def _slot_bytes(self) -> int:
        """Bytes of the number of a slot."""
        return self._batch_slot or self._memory.slot_bytes

    def _change(
        self, launcher: Launcher, rows: Rows, change: Callable[[], _Result], *, adds: bool = True, erases: bool = False
    ) -> _Result:
        """Run a batch that changes the table, and then grow by a step. Return the result of the batch.

        If the batch is refused memory, the growth is given up, and the batch runs again with what it had.

        `change`: the batch. If it raises MemoryLimitError, the table is as before.
        `adds`, `erases`: as for ``Growth.follow``.
        """
        if self._growth is not None and self._growth.is_stale:
            self._growth = None
        elif self._growth is not None:
            self._growth.is_stale = True  # until its step, which an error or interrupt may prevent
        try:
            result = self._run_batch(rows, change)
        except MemoryLimitError:
            if self._growth is None:
                raise
            self._growth = None
            result = self._run_batch(rows, change)
        try:
            self._grow(launcher, rows, adds=adds, erases=erases)
        except MemoryLimitError:
            self._growth = None  # the batch is complete
        return result

    def _run_batch(self, rows: Rows, change: Callable[[], _Result]) -> _Result:
        """Run a batch by the kernels of light tables. Others are used from the start if the table may become large.

        If the batch needs super blocks, it is undone and runs again.
        """
        expected = 2 * (self.size + rows.count) / (self._slots * self._tuning.load)
        self._batch_slot = 8 if expected > slab_kernels.NARROW_SLABS else self._memory.slot_bytes
        try:
            return change()
        except _LightTableError:
            self._batch_slot = 8
            return change()
        finally:
            self._batch_slot = None

    def _check_slabs(self, count: int, *, has_super_blocks: bool = False) -> None:
        """Raise MemoryLimitError if a table cannot have that many slabs."""
        if count > MAX_SLABS:
            raise MemoryLimitError(f"a map on a GPU has at most {MAX_SLABS} slabs of {SLAB_BYTES} bytes; split the keys")
        if self._batch_slot == 4 and (count > slab_kernels.NARROW_SLABS or has_super_blocks):
            raise _LightTableError(f"the table needs {count} slabs")

    def _grow(self, launcher: Launcher, rows: Rows, *, adds: bool, erases: bool) -> None:
        """Begin to grow, or take a step, after a batch; parameters as for `_change`."""
        growth = self._growth
        if growth is None or growth.old is not self._memory:
            self._growth = self._begin_growth(launcher)
            return
        growth.follow(launcher, rows, adds=adds, erases=erases)
        if growth.advance(launcher, self._tuning.step_pairs * rows.count / max(1, self.size)):
            self._growth = None
            self._end_growth(launcher, growth)
        else:
            growth.is_stale = False

    def _begin_growth(self, launcher: Launcher) -> Growth | None:
        """Return the growth of a large table that is nearly full. If memory is refused, the table grows when it is full."""
        tuning, buckets = self._tuning, self._memory.buckets
        is_early = self.size <= tuning.early_load * tuning.max_load * self.capacity
        if is_early or buckets < tuning.build.moved_buckets or not self._grows_in_steps:
            return None
        with suppress(MemoryLimitError):
            memory, totals = self._allocate(launcher, 2 * buckets, is_built=True), launcher.allocate(TOTALS_BYTES, fill=0)
            return Growth(self._memory, memory, self._widths, tuning, totals)
        return None

    def _end_growth(self, launcher: Launcher, growth: Growth) -> None:
        """Take the new table, whose lists have all moved. The host waits."""
        if not growth.is_failed(launcher):
            self._memory = growth.memory
            return
        with suppress(MemoryLimitError):
            self._rebuild(launcher, growth.memory.buckets)

    @abstractmethod
    def _rebuild(self, launcher: Launcher, buckets: int) -> None:
        """Move all pairs to a table of that many buckets, with super blocks if they do not fit.

        Raise MemoryLimitError if there is no memory for it; the table is as before.
        """

    def _make_room(self, launcher: Launcher, buckets: int, rows: int) -> None:
        """Give a table whose slabs ran out more of them, for a batch of that many rows that has changed nothing.

        If enough of all slots are in use, super blocks are added, and nothing moves. Else a rebuild with that many buckets
        compacts the lists. If that is refused, super blocks are added.

        Raise MemoryLimitError if there is no memory for either; the table is as before.
        """
        if self.size < self._tuning.dense_load * self._memory.slab_count * self._slots:
            with suppress(MemoryLimitError):
                self._rebuild(launcher, buckets)
                return
        self._add_super_blocks(launcher, ceil(rows / self._slots))

    def _add_super_blocks(self, launcher: Launcher, slabs: int) -> None:
        """Add super blocks with at least that many slabs. They have an eighth of the table's slabs or more.

        Raise MemoryLimitError if there is no memory for them; the table is as before.
        """
        memory, super_blocks = self._memory, list(self._memory.supers)
        log = memory.super_log or (max(BLOCK_SLABS, memory.slab_count // 8) - 1).bit_length()
        count = max(1, ceil(slabs / (1 << log)))
        self._check_slabs(memory.slab_count + (count << log), has_super_blocks=True)
        for _ in range(count):
            added = launcher.allocate((SLAB_BYTES << log) + (1 << log) // 8)
            launcher.fill(BufferSlice(added, 0, SLAB_BYTES << log), 0xFF)
            launcher.fill(BufferSlice(added, SLAB_BYTES << log), 0)
            super_blocks.append(added)
        pointers = launcher.put(np.array([block.address for block in super_blocks], np.uint64))
        launcher.fill(BufferSlice(memory.bitmaps, memory.is_full_offset, 4), 0)
        blocks = memory.blocks + (count << log) // BLOCK_SLABS
        self._memory = replace(memory, blocks=blocks, supers=tuple(super_blocks), pointers=pointers, super_log=log)

    def _buckets_for(self, pairs: int) -> int:
        return max(1, ceil(pairs / (self._slots * self._tuning.load)))

    def _allocate(self, launcher: Launcher, buckets: int, *, is_built: bool = False) -> Memory:
        """Allocate an empty table. `is_built`: the first slabs will be written."""
        buckets = whole_blocks(buckets, self._tuning.build.buckets)
        blocks = ceil(buckets * self._tuning.list_slabs / BLOCK_SLABS)
        self._check_slabs(buckets + 1 + blocks * BLOCK_SLABS)
        slabs = launcher.allocate((buckets + 1 + blocks * BLOCK_SLABS) * SLAB_BYTES)
        launcher.fill(BufferSlice(slabs, buckets * SLAB_BYTES) if is_built else slabs, 0xFF)
        return Memory(slabs, launcher.allocate(blocks * BLOCK_SLABS // 8 + 4, fill=0), buckets, blocks, self._seed)

    def _launch(self, launcher: Launcher, name: str, threads: int, args: tuple[Any, ...]) -> None:
        self._is_used = True
        block = self._tuning.threads
        shape = Shape(slab_defines(self._widths, block, self._slot_bytes), -(-threads // block), block)
        launcher.launch(slab_entry(name), shape, (self._memory.packed, *args))
