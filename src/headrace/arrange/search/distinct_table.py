"""Launches distinct_table.cu."""

from __future__ import annotations

from functools import cache
from math import expm1
from typing import Any

import numpy as np  # a dependency of cuda-core

from headrace.arrange.search.tuning import DISTINCT_TABLES, KEY_TYPES, TableTuning
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Launcher, Shape

_FILE = "arrange/search/distinct_table.cu"
_STATE_BYTES = 16


class DistinctTable:
    """A hash table of the distinct keys of an array in device memory.

    Parameters
    ----------
    launcher
        Launcher of the device.
    width
        Bytes of a key: 4 or 8. Keys are the same if their bits are.
    tuning
        Sizes; None for those of the width.
    """

    def __init__(self, launcher: Launcher, width: int, tuning: TableTuning | None = None) -> None:
        self._launcher, self._width = launcher, width
        self._tuning = tuning = tuning or DISTINCT_TABLES[width]
        self._tile = tuning.tile_keys(width)
        self._defines: dict[str, Any] = {"HR_KEY": KEY_TYPES[width], "HR_THREADS": tuning.threads, "HR_ROWS": tuning.rows}

    def count(self, keys: DeviceBuffer, count: int, multiprocessors: int) -> int | None:
        """Insert keys, and return the number of distinct ones; None if they are many. The host waits twice.

        A sample decides first, so that many distinct keys cost little.
        """
        if not self._may_be_few(keys, count):
            return None
        tuning, launcher = self._tuning, self._launcher
        self._table = launcher.allocate(self._width << tuning.bits, fill=0xFF)
        self._state = launcher.allocate(_STATE_BYTES, fill=0)
        shape = Shape(self._defines, min(multiprocessors * tuning.blocks, -(-count // self._tile)), tuning.threads)
        args = (keys, count, self._table, (1 << tuning.bits) - 1, self._state, tuning.max_distinct)
        launcher.launch(_entry("insert_keys"), shape, args)
        found: Any = launcher.fetch(self._state).view(np.uint32)
        distinct = int(found[0]) + int(found[1])
        return distinct if distinct <= tuning.max_distinct else None

    def _may_be_few(self, keys: DeviceBuffer, count: int) -> bool:
        """Return whether a sample has no more distinct keys than an even spread over the largest number of distinct keys has."""
        tuning = self._tuning
        step = max(1, count // tuning.sample_keys) | 1  # odd, since data may repeat after a power of 2
        sampled = min(tuning.sample_keys, -(-count // step))
        shape = Shape(self._defines, 1, tuning.threads, 8 * tuning.sample_keys)
        args = (keys, count, step)
        distinct = int(self._launcher.answer(_entry("count_sample"), shape, args, 4).view(np.uint32)[0])
        return distinct < 1 + tuning.max_distinct * -expm1(-sampled / tuning.max_distinct)

    def write(self, distinct: DeviceBuffer) -> None:
        """Write the distinct keys, in any order."""
        shape = Shape(self._defines, (1 << self._tuning.bits) // self._tile, self._tuning.threads)
        self._launcher.launch(_entry("list_keys"), shape, (self._table, self._state, distinct))


@cache
def _entry(name: str) -> Entry:
    return Entry(_FILE, name, {"count_sample": "PQQP", "insert_keys": "PQPIPI", "list_keys": "PPP"}[name])
