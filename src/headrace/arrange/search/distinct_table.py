"""Launches distinct_table.cu."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np  # a dependency of cuda-core

from headrace.arrange.search.tuning import DISTINCT_TABLE, KEY_TYPES, TableTuning
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Launcher, Shape

_FILE = "arrange/search/distinct_table.cu"
_STATE_BYTES = 16


class DistinctTable:
    """A hash table of the distinct keys of an array in device memory.

    `width`: Bytes of a key: 4 or 8. Keys are the same if their bits are.
    """

    def __init__(self, launcher: Launcher, width: int, tuning: TableTuning = DISTINCT_TABLE) -> None:
        self._launcher, self._tuning = launcher, tuning
        self._tile = tuning.tile_keys(width)
        self._defines: dict[str, Any] = {"HR_KEY": KEY_TYPES[width], "HR_THREADS": tuning.threads, "HR_ROWS": tuning.rows}
        self._table = launcher.allocate(width << tuning.bits, fill=0xFF)
        self._state = launcher.allocate(_STATE_BYTES, fill=0)

    def count(self, keys: DeviceBuffer, count: int, multiprocessors: int) -> int | None:
        """Insert keys, and return the number of distinct ones; None if they are many. The host waits twice.

        A sample decides first, so that many distinct keys cost little.
        """
        tuning, tile = self._tuning, self._tile
        step = max(1, count // tuning.sample_keys)

        def inserted(step: int) -> int:
            """Insert the keys of each tile whose number is a multiple of `step`."""
            tiles = -(-count // (tile * step))
            shape = Shape(self._defines, min(multiprocessors * tuning.blocks, tiles), tuning.threads)
            args = (keys, count, step, self._table, (1 << tuning.bits) - 1, self._state, tuning.max_distinct)
            self._launcher.launch(_entry("insert_keys"), shape, args)
            found: Any = self._launcher.fetch(self._state).view(np.uint32)
            return int(found[0]) + int(found[1])

        if step > 1 and inserted(step) > tuning.max_share * count / step:
            return None
        distinct = inserted(1)
        return distinct if distinct <= tuning.max_distinct else None

    def write(self, distinct: DeviceBuffer) -> None:
        """Write the distinct keys, in any order."""
        shape = Shape(self._defines, (1 << self._tuning.bits) // self._tile, self._tuning.threads)
        self._launcher.launch(_entry("list_keys"), shape, (self._table, self._state, distinct))


@cache
def _entry(name: str) -> Entry:
    return Entry(_FILE, name, {"insert_keys": "PQQPIPI", "list_keys": "PPP"}[name])
