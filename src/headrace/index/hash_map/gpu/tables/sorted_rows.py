"""Sorts rows by columns in device memory: by the last column first, and by texts from their last word to their first.

Texts are first sorted by their sizes. So those that have a byte in a word follow each other, and others do not move. The time is
proportional to the bytes of all texts, and there is a sort for each 8 bytes of the second longest one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np  # a dependency of cuda-core

from headrace.arrange.gather.moved_items import MovedItems
from headrace.arrange.gather.take_gpu import Taker
from headrace.arrange.sort.gpu.planner import SortRequest
from headrace.arrange.sort.gpu.sort import Sorters
from headrace.arrange.sort.key_order import KeyOrder
from headrace.columns.column import Column
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer
from headrace.index.hash_map.gpu.tables.kept_columns import launch

_WORD_BYTES = 8


class ItemBuffer(NamedTuple):
    """Memory with items of some bytes."""

    buffer: DeviceBuffer
    width: int

    def moved(self, begin: int) -> MovedItems:
        """Return the items from a number on, to be sorted in place."""
        part = BufferSlice(self.buffer, begin * self.width)
        return MovedItems(part, part, self.width)


@dataclass(frozen=True, slots=True)
class SortedRows:
    """Row numbers of 4 or 8 bytes, perhaps with a value for each, which are sorted in place."""

    sorters: Sorters
    count: int  # number of rows
    rows: ItemBuffer
    values: ItemBuffer | None

    def by_values(self, order: KeyOrder) -> None:
        """Sort by the values."""
        if self.values is not None:
            keys = self.values.buffer
            self.sorters.of(self.count).sort(SortRequest(order, keys, keys, (self.rows.moved(0),)))

    def by_columns(self, columns: Mapping[str, Column], orders: Mapping[str, KeyOrder | None]) -> None:
        """Sort by columns, the first one first. Equal rows keep their order.

        `orders`: the order of each column; None for texts, whose offsets have 8 bytes.
        """
        for name, column in reversed([*columns.items()]):
            order = orders[name]
            if order is None:
                self._by_texts(column)
            else:
                parts = _parts(column)
                keys = Taker(self.sorters.launcher, *self._rows_from(0)).items(parts.values, order.bits // 8)
                self._sort(order, keys, 0)

    def _rows_from(self, begin: int) -> tuple[DeviceBuffer, int, int]:
        """Return the rows from a number on, and how many."""
        return self.rows.moved(begin).source, self.count - begin, self.rows.width

    def _sort(self, order: KeyOrder, keys: DeviceBuffer, begin: int) -> None:
        """Sort the rows from `begin` on, and their keys."""
        items = [self.rows] if self.values is None else [self.rows, self.values]
        self.sorters.of(self.count - begin).sort(SortRequest(order, keys, keys, tuple(one.moved(begin) for one in items)))

    def _by_texts(self, column: Column) -> None:
        launcher, parts, order, count = self.sorters.launcher, _parts(column), KeyOrder.of("<u8"), self.count
        if count < 2:
            return
        keys = launcher.allocate(_WORD_BYTES * count)
        launch(launcher, "size_texts", count, (parts.offsets, self.rows.buffer, self.rows.width, count, keys))
        self._sort(order, keys, 0)
        shorter = count - 1  # the longest text is alone in its last words
        most = int(launcher.fetch(BufferSlice(keys, _WORD_BYTES * (shorter - 1), _WORD_BYTES)).view(np.uint64)[0])
        words = -(-most // _WORD_BYTES)
        begins = launcher.allocate(_WORD_BYTES * words)
        launch(launcher, "find_word_begins", shorter if words else 0, (keys, shorter, begins))
        for word, begin in reversed(list(enumerate(launcher.fetch(begins).view(np.uint64).tolist()))):
            rows, some, width = self._rows_from(begin)
            part = BufferSlice(keys, 0, _WORD_BYTES * some)
            launch(launcher, "put_text_words", some, (parts.offsets, parts.values, rows, width, some, word, part))
            self._sort(order, part, begin)


def _parts(column: Column) -> Any:
    """Return the column for access to its buffers, which are device buffers."""
    return column
