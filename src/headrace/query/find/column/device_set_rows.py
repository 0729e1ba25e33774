"""Launches the kernels that find many patterns in the rows of a column in GPU memory.

The bytes of all rows are one text, which is searched at once. Hits are listed in no order. Those that lie in two rows, or in a
null row, are left out before the others are sorted.
"""

from __future__ import annotations

import numpy as np  # a dependency of cuda-core

from headrace.arrange.gather.take_gpu import columns_launcher
from headrace.arrange.sort.gpu.column_sort import as_array
from headrace.arrange.sort.sort import sort
from headrace.arrays.arrays import take
from headrace.arrays.device_array import DeviceArray
from headrace.arrays.placement import in_stream_of
from headrace.columns.column import Column
from headrace.core.context import Context
from headrace.gpu.kernels.launcher import DeviceBuffer, Launcher
from headrace.gpu.memory.pool import PoolBuffer
from headrace.query.find.column.device_rows import KEEP_WHOLE, RowTexts, check_listed
from headrace.query.find.gpu.pattern_set.search_set import DeviceSetSearch
from headrace.query.find.gpu.pattern_set.tuning import SET_TUNING, SetTuning
from headrace.query.find.pattern.pattern_set import PatternSet


class SetRowSearch(RowTexts):
    """Finds patterns in the rows of a column of texts with offsets. `blocks`: as for `DeviceSetSearch`."""

    def __init__(
        self, launcher: Launcher, column: Column, patterns: PatternSet, blocks: int, *, tuning: SetTuning = SET_TUNING
    ) -> None:
        super().__init__(launcher, column)
        self._search: DeviceSetSearch | None = None
        self._lengths = np.array([len(pattern) for pattern in patterns.patterns], np.uint32)
        if self.text is not None:
            self._search = DeviceSetSearch(launcher, self.text, patterns, blocks, tuning=tuning)

    def keys(self) -> tuple[DeviceBuffer, int]:
        """Return the keys of the hits in no order, and their number. The host waits two or three times."""
        launcher = self._launcher
        if self._search is None:
            return launcher.allocate(0), 0
        keys, count = self._search.keys()
        whole, total = launcher.allocate(8 * count), launcher.allocate(8, fill=0)
        args = (keys, count, self._search.pattern_bits, launcher.put(self._lengths), whole, total)
        self._launch(KEEP_WHOLE, count, (self._rows, *args))
        return whole, int(launcher.fetch(total).view(np.uint64)[0]) if count else 0

    def split(self, keys: DeviceBuffer, count: int) -> tuple[DeviceBuffer, DeviceBuffer, DeviceBuffer]:
        """Return rows and offsets of 8 bytes, and patterns of 4, of sorted keys."""
        positions, patterns = self._launcher.allocate(8 * count), self._launcher.allocate(4 * count)
        if self._search is not None:
            self._search.split(keys, count, positions, patterns)
        return *self.rows_of(positions, count), patterns


def set_hits_on_gpu(column: Column, patterns: PatternSet, context: Context) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
    """Return rows, offsets and patterns of all hits in a column in GPU memory, in arrays on its GPU.

    Raise MemoryLimitError if the hits do not fit. Raise UnsupportedDeviceError if the column has a dictionary, or string views.
    """
    check_listed(column)
    with columns_launcher({"": column}, context) as (launcher, card):
        search = SetRowSearch(launcher, column, patterns, card.multiprocessors)
        keys, count = search.keys()
        assert isinstance(keys, PoolBuffer)
        listed = DeviceArray(keys, "<u8", count)
        ordered = take(sort(listed, context=context), "keys")
        with in_stream_of(take(listed), ordered):
            rows, offsets, found = search.split(ordered, count)
        return as_array(rows, "<u8"), as_array(offsets, "<u8"), as_array(found, "<u4")
