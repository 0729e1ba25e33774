"""Sorts rows by columns in device memory: by the last column first, and by texts from their last word to their first.

Texts are first sorted by their sizes. So those that have a byte in a word follow each other, and others do not move. The time is
proportional to the bytes of all texts, and there is a sort for each 8 bytes of the longest one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np  # a dependency of cuda-core

from headrace.arrange.gather.moved_items import MovedItems
from headrace.arrange.gather.take_gpu import Taker
from headrace.arrange.sort.gpu.planner import SortRequest
from headrace.arrange.sort.gpu.sort import Sorters
from headrace.arrange.sort.key_order import KeyOrder
from headrace.columns.column import Column
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer
from headrace.index.hash_map.gpu.tables.numbered_rows import launch

_WORD_BYTES = 8


@dataclass(frozen=True, slots=True)
class SortedRows:
    """Row numbers of 4 bytes, perhaps with a value for each, which are sorted in place."""

    sorters: Sorters
    rows: DeviceBuffer
    count: int  # number of rows
    values: DeviceBuffer | None
    value_width: int  # bytes of a value

    def by_values(self, order: KeyOrder) -> None:
        """Sort by the values."""
        if self.values is not None:
            self.sorters.of(self.count).sort(SortRequest(order, self.values, self.values, (MovedItems(self.rows, self.rows, 4),)))

    def by_columns(self, columns: Mapping[str, Column], orders: Mapping[str, KeyOrder | None]) -> None:
        """Sort by columns, the first one first. Equal rows keep their order.

        `orders`: the order of each column; None for texts, whose offsets have 8 bytes.
        """
        for name, column in reversed(columns.items()):
            order = orders[name]
            if order is None:
                self._by_texts(column)
            else:
                parts: Any = column
                keys = Taker(self.sorters.launcher, self.rows, self.count, 4).items(parts.values, order.bits // 8)
                self._sort(order, keys, 0)

    def _sort(self, order: KeyOrder, keys: DeviceBuffer, begin: int) -> None:
        """Sort the rows from `begin` on, and their keys."""
        columns = [(self.rows, 4)] if self.values is None else [(self.rows, 4), (self.values, self.value_width)]
        parts = [(BufferSlice(buffer, begin * width), width) for buffer, width in columns]
        moved = tuple(MovedItems(part, part, width) for part, width in parts)
        self.sorters.of(self.count - begin).sort(SortRequest(order, keys, keys, moved))

    def _by_texts(self, column: Column) -> None:
        launcher, parts, order, count = self.sorters.launcher, _parts(column), KeyOrder.of("<u8"), self.count
        if not count:
            return
        keys = launcher.allocate(8 * count)
        launch(launcher, "size_texts", count, (parts.offsets, self.rows, count, keys))
        self._sort(order, keys, 0)
        longest = int(launcher.fetch(BufferSlice(keys, 8 * (count - 1), 8)).view(np.uint64)[0])
        words = -(-longest // _WORD_BYTES)
        begins = launcher.allocate(8 * words)
        launch(launcher, "find_word_begins", count if words else 0, (keys, count, begins))
        for word, begin in reversed(list(enumerate(launcher.fetch(begins).view(np.uint64).tolist()))):
            rows, some = BufferSlice(self.rows, 4 * begin), BufferSlice(keys, 0, 8 * (count - begin))
            launch(launcher, "put_text_words", count - begin, (parts.offsets, parts.values, rows, count - begin, word, some))
            self._sort(order, some, begin)


def _parts(column: Column) -> Any:
    """Return the column for access to its buffers, which are device buffers."""
    return column
