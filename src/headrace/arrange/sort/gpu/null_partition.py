"""Partitions the rows of a column on a GPU by class (null, false, true): launches null_partition.cu."""

from __future__ import annotations

from typing import Any

import numpy as np  # a dependency of cuda-core
from numpy.typing import NDArray

from headrace.arrange.gather.moved_items import MovedItems, RowNumbers
from headrace.arrange.sort.gpu.row_tuning import NullPartitionTuning
from headrace.columns.column import Column
from headrace.core.layouts.layout import layout
from headrace.core.lazy import LazyAttribute
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Launcher, Shape

_FILE = "arrange/sort/gpu/null_partition.cu"
_ROWS, _SPLIT_TASK = layout("ClassedRows"), layout("ClassSplit")
_PACKED_ROWS, _PACKED_SPLIT = _ROWS.packer(), _SPLIT_TASK.packer()
_COUNT = Entry(_FILE, "count_classes", f"{_ROWS.argument}P")
_SPLIT = Entry(_FILE, "split_classes", f"{_ROWS.argument}PI{_SPLIT_TASK.argument}")
_PUT = Entry(_FILE, "put_classes", f"{_ROWS.argument}PIPQI")
_WORD_ROWS = 32
_COUNTS = 3  # 64-bit words of a ``ChunkCounts``


class RowClasses:
    """Partitions the rows of a column by class.

    `column`: its rows are null or valid; those of a bool column are null, false or true.
    `nulls_first`, `descending`: order of the classes: whether null rows precede all others, and true rows precede false ones.
    """

    def __init__(
        self,
        launcher: Launcher,
        column: Column,
        *,
        nulls_first: bool,
        descending: bool,
        tuning: NullPartitionTuning | None = None,
    ) -> None:
        self.launcher = launcher
        self._column = column
        self._nulls_first = nulls_first
        self._tuning = tuning or NullPartitionTuning()
        tile = self._tuning.threads * _WORD_ROWS
        chunk = -(-column.length // (self._tuning.blocks * tile)) * tile
        self._chunks = -(-column.length // max(chunk, tile))
        parts: Any = column  # its buffers are in device memory
        validity = 0 if parts.validity is None else parts.validity.address
        truths = parts.values.address if column.type.name == "bool" else 0
        self._rows = _PACKED_ROWS.pack(validity, truths, column.offset, column.length, chunk, nulls_first, descending)

    @LazyAttribute
    def _counts(self) -> DeviceBuffer:
        counts = self.launcher.allocate(self._chunks * _COUNTS * 8)
        self._launch(_COUNT, self._chunks, counts)
        return counts

    @LazyAttribute
    def _fetched(self) -> NDArray[np.uint64]:
        """Return for each chunk its rows of the first and second class, and whether a row precedes one of an earlier class."""
        return self.launcher.fetch(self._counts).view(np.uint64).reshape(-1, _COUNTS)

    @LazyAttribute
    def nulls(self) -> int:
        """Return the number of null rows. If the column does not know it, the host waits for the kernel's count."""
        if self._column.null_count >= 0:
            return self._column.null_count
        first, second = self._fetched[:, :2].sum(axis=0, dtype=np.uint64).tolist()
        return int(first if self._nulls_first else self._column.length - first - second)

    def are_in_order(self) -> bool:
        """Return whether no row precedes one of an earlier class; the host waits."""
        return not self._fetched[:, 2].any()

    def split(self, keys: MovedItems | None, places: RowNumbers | None, *, limit: int | None = None) -> None:
        """Partition the rows stably: classes in their order, and rows of one class in the order of the column.

        `keys`: items of all rows, and the buffer for those of valid rows without gaps, of 1, 2, 4 or 8 bytes each; None if they
        are not needed.
        `places`: buffer for the row numbers; None if they are not needed.
        `limit`: number of row numbers to write; None for all.
        """
        source, target, width = (0, 0, 1) if keys is None else (keys.source.address, keys.target.address, keys.width)
        numbers, number_width = (0, 0) if places is None else (places.buffer.address, places.width)
        wanted = self._column.length if limit is None else limit
        split = _PACKED_SPLIT.pack(source, target, numbers, wanted, width, number_width)
        self._launch(_SPLIT, self._chunks, self._counts, self._chunks, split)

    def bits(self, count: int, *, of_truths: bool) -> DeviceBuffer:
        """Return a bitmap of the first `count` rows in order, in whole words: whether each is true, or whether it is valid."""
        words = -(-count // _WORD_ROWS)
        result = self.launcher.allocate(words * 4)
        blocks = min(-(-words // self._tuning.threads), self._tuning.blocks)
        self._launch(_PUT, blocks, self._counts, self._chunks, result, count, int(of_truths))
        return result

    def _launch(self, entry: Entry, blocks: int, *args: Any) -> None:
        if blocks:
            shape = Shape(self._tuning.defines(), blocks, self._tuning.threads)
            self.launcher.launch(entry, shape, (self._rows, *args))
