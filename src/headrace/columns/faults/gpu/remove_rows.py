"""Removes rows from columns on a GPU (remove_rows.cu), and stores single values into them (store_values.cu)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from headrace.columns.buffers.column_buffers_gpu import ColumnBuffers
from headrace.columns.convert.gpu.string_offsets import scan_string_sizes
from headrace.columns.types import has_offsets
from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Entry, Launcher, Shape

_TASK = layout("RemovalTask")
REMOVAL_COLUMN, STORED_VALUE = layout("RemovalColumn").dtype, layout("StoredValue").dtype
_SIZE = Entry("columns/faults/gpu/remove_rows.cu", "size_removed", f"PP{_TASK.argument}")
_ROWS = Entry("columns/faults/gpu/remove_rows.cu", "remove_rows", f"PP{_TASK.argument}")
_BYTES = Entry("columns/faults/gpu/remove_rows.cu", "remove_bytes", f"P{_TASK.argument}")
_STORE = Entry("columns/faults/gpu/store_values.cu", "store_values", "PPQ")
_THREADS = 256
_DEFINES = {"HR_THREADS": _THREADS}
_BLOCK_ROWS = 8 * _THREADS
_MAX_BLOCKS = 1024
_NO_STRING = 0xFFFFFFFF
_MAX_STRING_BYTES = 0x7FFFFFFF
BATCH_BYTES = 64 << 20
_MAX_BATCH_COLUMNS = 65535  # upper limit of a grid's second dimension


def store_values(launcher: Launcher, table: DeviceBuffer, values: NDArray[np.void]) -> None:
    """Store values, given as STORED_VALUE, into the columns of the conversion's table; make their rows valid, or null."""
    shape = Shape(_DEFINES, -(-len(values) // _THREADS), _THREADS)
    launcher.launch(_STORE, shape, [table, launcher.put(values), len(values)])


def remove_rows(launcher: Launcher, columns: Sequence[ColumnBuffers], rows: int, removed: DeviceBuffer) -> None:
    """Remove rows from columns and count their nulls again.

    Memory: a second copy of 64 MiB of the columns, or of the largest. The host waits once, and once for each such batch with
    strings.

    `columns`: columns of `rows` rows.
    `removed`: the rows to remove, ascending, as unsigned 64-bit integers.
    """
    count, valid = removed.nbytes // 8, launcher.allocate(8 * len(columns), fill=0)
    moved: list[ColumnBuffers] = []
    for batch in _batches(columns):
        strings_first = sorted(batch, key=lambda one: not has_offsets(one.type))
        _Removal(launcher, strings_first, rows, removed, count).run(BufferSlice(valid, 8 * len(moved), 8 * len(batch)))
        moved += strings_first
    _count_nulls(launcher, moved, rows - count, valid)


def remove_texts(launcher: Launcher, column: ColumnBuffers, rows: int, null: NDArray[np.uint64]) -> None:
    """Remove the bytes of rows that are null, given ascending, from a string column. Memory and waits: as `remove_rows`."""
    valid = launcher.allocate(8, fill=0)
    _Removal(launcher, [column], rows, launcher.put(null), len(null), keeps_rows=True).run(valid)
    _count_nulls(launcher, [column], rows, valid)


def _count_nulls(launcher: Launcher, columns: Sequence[ColumnBuffers], rows: int, valid: DeviceBuffer) -> None:
    """Set the nulls of columns of `rows` rows. The host waits. `valid`: number of values of each."""
    for one, count in zip(columns, launcher.fetch(valid).view(np.uint64).tolist(), strict=True):
        one.nulls = rows - count


def _batches(columns: Sequence[ColumnBuffers]) -> Iterator[list[ColumnBuffers]]:
    batch: list[ColumnBuffers] = []
    size = 0
    for one in columns:
        nbytes = sum(buffer.nbytes for name, buffer in one.buffers.items() if name != "sightings")
        if batch and (size + nbytes > BATCH_BYTES or len(batch) == _MAX_BATCH_COLUMNS):
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += nbytes
    if batch:
        yield batch


class _Removal:
    """Removes rows from some columns, those of strings first."""

    def __init__(
        self,
        launcher: Launcher,
        columns: list[ColumnBuffers],
        rows: int,
        removed: DeviceBuffer,
        count: int,
        *,
        keeps_rows: bool = False,
    ) -> None:
        self._launcher, self._columns, self._rows = launcher, columns, rows
        self._retained = rows if keeps_rows else rows - count
        self._strings = [one for one in columns if has_offsets(one.type)]
        strings = len(self._strings)
        self._removed_bytes, self._totals = launcher.allocate(count * strings * 8), launcher.allocate(strings * 8)
        self._removed, self._removed_count = removed, count  # the buffer must live until all kernels are launched
        self._table: NDArray[np.void] = np.zeros(len(columns), REMOVAL_COLUMN)
        task: NDArray[np.void] = np.zeros(1, _TASK.dtype)
        task[0] = (removed.address, count, rows, self._removed_bytes.address, self._totals.address, strings, keeps_rows)
        self._task = task.tobytes()

    def run(self, valid: DeviceBuffer) -> None:
        """Replace the buffers of the columns; `valid`: zeroed words, which receive the number of values of each."""
        for row, one in zip(self._table, self._columns, strict=True):
            self._describe(row, one)
        retained_bytes = self._size_strings()
        result = [
            self._allocate(row, one, nbytes) for row, one, nbytes in zip(self._table, self._columns, retained_bytes, strict=True)
        ]
        launcher, task = self._launcher, self._task
        table = launcher.put(self._table)
        blocks = self._retained // _BLOCK_ROWS + 1
        launcher.launch(_ROWS, Shape(_DEFINES, (blocks, len(result), 1), _THREADS), [table, valid, task])
        if self._strings:
            blocks = min(max(retained_bytes) // (16 * _THREADS) + 1, _MAX_BLOCKS)
            launcher.launch(_BYTES, Shape(_DEFINES, (blocks, len(self._strings), 1), _THREADS), [table, task])
        for one, buffers in zip(self._columns, result, strict=True):
            one.buffers = buffers

    def _describe(self, row: np.void, one: ColumnBuffers) -> None:
        buffers = one.buffers
        strings = has_offsets(one.stored_type)
        row["from"] = buffers["offsets" if strings else "values"].address if one.stored_type.bits else 0
        row["validity"] = buffers["validity"].address
        row["width"] = one.stored_type.bits // 8
        row["string"] = _NO_STRING
        if strings:
            row["bytes"] = buffers["values"].address
            row["string"] = next(number for number, other in enumerate(self._strings) if other is one)

    def _size_strings(self) -> list[int]:
        """Return the string bytes that each column retains; 0 for other columns."""
        launcher, count = self._launcher, len(self._strings)
        result = [0] * len(self._columns)
        if not count:
            return result
        blocks = min(-(-self._removed_count // _THREADS), _MAX_BLOCKS)
        shape = Shape(_DEFINES, (blocks, count, 1), _THREADS)
        launcher.launch(_SIZE, shape, [launcher.put(self._table), self._removed_bytes, self._task])
        scan_string_sizes(launcher, self._removed_bytes, (self._removed_count, count), self._totals)
        for number, removed in enumerate(launcher.fetch(self._totals).view(np.uint64).tolist()):
            result[number] = self._strings[number].buffers["values"].nbytes - removed
        return result

    def _allocate(self, row: np.void, one: ColumnBuffers, string_bytes: int) -> dict[str, DeviceBuffer]:
        """Allocate the buffers of the retained rows, and enter them into the column's row of the table."""
        launcher, retained = self._launcher, self._retained
        if one.large and string_bytes <= _MAX_STRING_BYTES:
            one.large = False
        result = ColumnBuffers(one.position, one.type, one.guess, one.large)
        if has_offsets(one.stored_type):
            result.buffers["values"] = launcher.allocate(string_bytes)
            row["bytes_to"] = result.buffers["values"].address
        result.allocate(launcher, retained)
        row["to"] = result.buffers["offsets" if has_offsets(one.stored_type) else "values"].address
        row["width_to"] = one.stored_type.bits // 8
        row["validity_to"] = result.buffers["validity"].address
        return result.buffers
