"""Moves a slab hash to a larger table in steps, one after each batch of changes, so that no batch waits for all of them.

The old table has all pairs until the last step, and all searches and changes run on it. A step moves the lists of some buckets.
After a batch, the keys of lists that have moved get the same state in the new table. So an operation on the table costs nothing
more, and growth can be given up at any time.

For example, with 8 buckets of which 4 have moved, an insertion of two keys fills slots of buckets 1 and 6 in the old table. The
first one is then inserted into the new table too.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np  # a dependency of cuda-core

from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Launcher, Shape
from headrace.index.hash_map.gpu.block_batch.bulk_build import ListBuilder
from headrace.index.hash_map.gpu.slab_kernels import Memory, Rows, slab_defines, slab_entry
from headrace.index.hash_map.gpu.tuning import SlabTuning


@dataclass(slots=True)
class Growth:
    """The growth of a table."""

    old: Memory
    memory: Memory
    """The new table. Its first slabs need not be initialised."""
    widths: tuple[int, int]
    tuning: SlabTuning
    """Bytes of keys and values, and sizes."""
    totals: DeviceBuffer
    """The totals of ``ListBuilder.move_some``."""
    moved: int = 0
    """Number of blocks of buckets that have moved."""

    def follow(self, launcher: Launcher, rows: Rows, *, are_erased: bool) -> None:
        """Give the keys of a batch the state that they have in the old table. `are_erased`: all of them are absent there."""
        moved = self.moved * (self.memory.buckets // self._builder(launcher).blocks)
        if not moved:
            return
        if not are_erased:
            failed = BufferSlice(self.totals, 8, 8)
            self._launch(launcher, "copy_pairs", rows.count, (self.old.packed, rows.keys, rows.count, moved, failed))
            return
        slots = launcher.allocate(rows.count * 4)
        self._launch(launcher, "locate_copies", rows.count, (rows.keys, rows.count, moved, slots))
        self._launch(launcher, "clear_slots", rows.count, (slots, rows.count, 0))

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

    def _builder(self, launcher: Launcher) -> ListBuilder:
        return ListBuilder(launcher, self.memory, self.widths, self.tuning.build)

    def _launch(self, launcher: Launcher, name: str, threads: int, args: tuple[Any, ...]) -> None:
        block = self.tuning.threads
        shape = Shape(slab_defines(self.widths, block), -(-threads // block), block)
        launcher.launch(slab_entry(name), shape, (self.memory.packed, *args))
