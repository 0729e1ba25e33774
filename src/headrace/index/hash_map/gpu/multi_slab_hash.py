"""Runs the operations of a slab hash with several values for a key: the launches of multi_map.cu."""

from __future__ import annotations

from typing import Any

import numpy as np  # a dependency of cuda-core

from headrace.gpu.kernels.launcher import DeviceBuffer, Launcher
from headrace.index.hash_map.gpu.slab_hash import Contest, SlabHash
from headrace.index.hash_map.gpu.slab_kernels import Rows
from headrace.index.hash_map.gpu.tuning import MULTI_TUNING, SlabTuning


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
