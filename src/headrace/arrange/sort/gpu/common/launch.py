"""Describes the arrays of a sort, and launches the small kernels that every GPU sort needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headrace.arrange.sort.gpu.common.key_type import THREADS
from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Launcher, Shape

MAX_COLUMNS = 8  # columns that move with the keys; equal to `max_moved_columns` of sort_task.hpp
MAX_U32_ROWS = 1 << 32  # largest number of rows whose row numbers fit 4 bytes
RESIDENT_THREADS = 2048  # maximum number of threads that are resident on one multiprocessor
_BLOCKS_PER_MULTIPROCESSOR = 8
ARRAYS = layout("SortArrays").argument  # a ``SortArrays`` in a kernel's signature
_MOVED_COLUMN, _SORT_ARRAYS = layout("MovedColumn").packer(), layout("SortArrays").packer()

_GATHER = Entry("arrange/sort/gpu/common/gather.cu", "sort_gather", "PIQPPI")
_CONVERT_ROWS = Entry("arrange/sort/gpu/common/gather.cu", "convert_rows", "PIQPI")
_GATHER_DEFINES = {"HR_THREADS": THREADS}


@dataclass(frozen=True, slots=True)
class MovedColumn:
    """Buffers of the keys, or of a column that moves with them."""

    source: DeviceBuffer | None
    target: DeviceBuffer | None
    between: DeviceBuffer | None
    """Input, output, and a scratch buffer of the same size. Without `source` the items are row numbers. `source` and `target` may
    be the same buffer.
    """
    width: int  # bytes of an item

    @property
    def in_place(self) -> bool:
        """Return whether the source buffer is also the target buffer."""
        return self.source is not None and self.target is not None and self.source.address == self.target.address

    @property
    def packed(self) -> bytes:
        """Return the bytes of a ``MovedColumn`` of sort_task.hpp."""
        addresses = (0 if buffer is None else buffer.address for buffer in (self.source, self.target, self.between))
        return _MOVED_COLUMN.pack(*addresses, self.width, 0)


@dataclass(frozen=True, slots=True)
class SortArrays:
    """Keys, and at most `MAX_COLUMNS` columns that move with them."""

    keys: MovedColumn
    columns: Sequence[MovedColumn]

    @property
    def all(self) -> tuple[MovedColumn, ...]:
        """Return the keys, followed by the columns."""
        return (self.keys, *self.columns)

    @property
    def packed(self) -> bytes:
        """Return the bytes of a ``SortArrays`` of sort_task.hpp."""
        columns = b"".join(column.packed for column in self.columns)
        return _SORT_ARRAYS.pack(self.keys.packed, columns, len(self.columns), 0)


def row_bytes(count: int) -> int:
    """Return the bytes of a row number if there are `count` rows."""
    return 4 if count <= MAX_U32_ROWS else 8


class SortContext:
    """The launcher and sizes that all parts of one sort share, and launches over all its items.

    `capacity`: number of keys for which grids and memory are chosen, not less than `count`; 0 for `count`.
    """

    def __init__(self, launcher: Launcher, count: int, multiprocessors: int, capacity: int = 0) -> None:
        self.launcher = launcher
        self.count = count
        self.capacity = capacity or count
        self.multiprocessors = multiprocessors

    def blocks(self, items: int, block_items: int = THREADS) -> int:
        """Return the blocks of a grid-stride loop over `items` items."""
        return max(1, min(-(-items // block_items), self.multiprocessors * _BLOCKS_PER_MULTIPROCESSOR))

    def gather(self, rows: DeviceBuffer | None, source: DeviceBuffer, target: DeviceBuffer, width: int) -> None:
        """Copy the items at `rows` to consecutive places; without `rows`, copy all items."""
        shape = Shape(_GATHER_DEFINES, self.blocks(self.capacity), THREADS)
        args = rows, row_bytes(self.capacity), self.count, source, target, width
        self.launcher.launch(_GATHER, shape, args)

    def convert_rows(self, rows: DeviceBuffer | None, target: DeviceBuffer, width: int) -> None:
        """Write row numbers in another width; without `rows`, write 0, 1, 2, ..."""
        shape = Shape(_GATHER_DEFINES, self.blocks(self.capacity), THREADS)
        self.launcher.launch(_CONVERT_ROWS, shape, (rows, row_bytes(self.capacity), self.count, target, width))
