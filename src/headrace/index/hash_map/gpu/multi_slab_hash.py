"""Runs the operations of a slab hash with several values for a key: the launches of multi_map.cu."""

from __future__ import annotations

from typing import Any

import numpy as np  # a dependency of cuda-core

from headrace.core.errors import UnsupportedDeviceError
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Launcher
from headrace.index.hash_map.gpu.mixed_slab_hash import MixedRows
from headrace.index.hash_map.gpu.slab_hash import Contest, SlabHash
from headrace.index.hash_map.gpu.slab_kernels import COUNTS_BYTES, LOCATED, Rows
from headrace.index.hash_map.gpu.tuning import MULTI_TUNING, SlabTuning

ERASE_ERROR = "a multimap on a GPU erases all values of a key: use erase_all(), or a multimap on the CPU"


class MultiSlabHash(SlabHash):
    """A hash multimap in device memory.

    Parameters
    ----------
    launcher, widths, capacity, tuning, seed
        As for `SlabHash`.
    """

    def __init__(
        self,
        launcher: Launcher,
        widths: tuple[int, int],
        capacity: int = 0,
        *,
        tuning: SlabTuning = MULTI_TUNING,
        seed: int = 0,
    ) -> None:
        super().__init__(launcher, widths, capacity, tuning=tuning, seed=seed)
        self._insertion = "append_pairs"

    def insert(self, launcher: Launcher, rows: Rows) -> None:
        """Insert pairs. The host waits.

        Raises
        ------
        MemoryLimitError
            The map does not fit; it is as before.
        """
        self.upsert(launcher, rows, "last", "u")

    def count(self, launcher: Launcher, keys: Rows, counts: Any) -> None:
        """Write the number of values of each key, 8 bytes each."""
        self._launch(launcher, "count_values", keys.count, (keys.keys, keys.count, counts))

    def copy_values(self, launcher: Launcher, keys: Rows, offsets: Any, values: Any) -> DeviceBuffer:
        """Write the values of each key from its offset on, in no order, and return the row of each value as uint32."""
        rows = launcher.allocate(values.nbytes // self._widths[1] * 4)
        self._launch(launcher, "copy_values", keys.count, (keys.keys, keys.count, offsets, values, rows))
        return rows

    def erase_all(self, launcher: Launcher, keys: Rows, counts: Any) -> None:
        """Erase all values of keys, and write for each key the number that its row has erased. The host waits."""
        located, erased = self._locate(launcher, keys), launcher.allocate(8, fill=0)
        with launcher.together():
            self._contest(launcher, located, keys.count, Contest())
            self._launch(launcher, "erase_values", keys.count, (keys.keys, keys.count, located.slots, counts, erased))
        self.size -= int(launcher.fetch(erased).view(np.uint64)[0])

    def run_in_order(self, launcher: Launcher, mixed: MixedRows, counts: Any, by_key: Any) -> None:
        """Run operations in their order. The host waits twice.

        New pairs are inserted while the erased ones are still there, so that nothing has changed if slabs run out.

        Parameters
        ----------
        launcher, mixed, by_key
            As for `MixedSlabHash.run_in_order`. `mixed` has no marks of found keys.
        counts
            Result: number of values of each key before its operation, 8 bytes each.

        Raises
        ------
        UnsupportedDeviceError
            An operation removes a single value. The map is as before.
        MemoryLimitError
            The map does not fit; it is as before.
        """
        rows, count = mixed.rows, mixed.rows.count
        numbers, slots, erasures = (launcher.allocate(size) for size in (COUNTS_BYTES, 4 * count, 4 * count))
        self._load(launcher)
        is_reserved, buckets = False, 0
        while True:
            launcher.fill(numbers, 0)
            self._launch(launcher, "replay_lists", count, (mixed.packed, by_key, counts, slots, erasures, numbers))
            added, erased, refused = launcher.fetch(numbers).view(np.uint64)[:3].tolist()
            if refused:
                raise UnsupportedDeviceError(ERASE_ERROR)
            if not is_reserved and self._reserve(launcher, added):
                is_reserved = True
            old, counter = launcher.allocate(4 * erased or 4), BufferSlice(numbers, 24, 8)
            if erased:
                self._launch(launcher, "list_slots", count, (rows.keys, count, erasures, counts, old, counter))
            if not added or self._append(launcher, rows, slots):
                break
            # A rebuild without growth compacts the lists.
            self._rebuild(launcher, max(buckets, self._memory.buckets, self._buckets_for(self.size + added)))
            buckets = 2 * self._memory.buckets
        if erased:
            self._launch(launcher, "clear_slots", erased, (old, erased, 0))
        self.size += added - erased

    def _append(self, launcher: Launcher, rows: Rows, slots: DeviceBuffer) -> bool:
        """Insert the rows that have no slot. Return False if memory was missing for one; then none is inserted."""
        counts = launcher.allocate(COUNTS_BYTES, fill=0)
        self._launch(launcher, "append_pairs", rows.count, (rows.keys, rows.values, rows.count, LOCATED, slots, counts))
        is_complete = False
        try:
            is_complete = not launcher.fetch(counts).view(np.uint64)[1]
        finally:  # also after an interrupt
            if not is_complete:
                self._launch(launcher, "clear_slots", rows.count, (slots, rows.count, 1))
        return is_complete
