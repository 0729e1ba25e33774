"""Rows out of columns on a GPU, and single values into them: remove_rows.cu and store_values.cu."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from headrace.columns.buffers.column_buffers_gpu import Taken, ordered, strings_of
from headrace.columns.convert.gpu.string_offsets import place_strings
from headrace.columns.types import has_offsets
from headrace.gpu.kernels.launcher import Entry, Launcher, Room, Shape

DROPPED = np.dtype(
    [
        ("from", "u8"),
        ("to", "u8"),
        ("validity", "u8"),
        ("validity_to", "u8"),
        ("bytes", "u8"),
        ("bytes_to", "u8"),
        ("width", "u4"),
        ("width_to", "u4"),
        ("string", "u4"),
        ("reserved", "u4"),
    ]
)
_WORDS = ("gone", "gone_count", "rows", "dropped", "totals")
DROP_TASK = np.dtype([*((name, "u8") for name in _WORDS), ("strings", "u4"), ("keeps_rows", "u4")])
PUT_VALUE = np.dtype([("row", "u8"), ("low", "u8"), ("high", "u8"), ("column", "u4"), ("is_null", "u4")])
"""The structs of columns/faults/gpu/remove_task.hpp, byte for byte."""

_SIZE = Entry("columns/faults/gpu/remove_rows.cu", "size_dropped", "PP48s")
_ROWS = Entry("columns/faults/gpu/remove_rows.cu", "drop_rows", "PP48s")
_BYTES = Entry("columns/faults/gpu/remove_rows.cu", "drop_bytes", "P48s")
_PUT = Entry("columns/faults/gpu/store_values.cu", "put_values", "PPQ")
_THREADS = 256
_DEFINES = {"HR_THREADS": _THREADS}
_ROWS_OF_BLOCK = 8 * _THREADS
_MOST_BLOCKS = 1024
_NO_STRING = 0xFFFFFFFF
_MOST_STRING_BYTES = 0x7FFFFFFF
_TOGETHER_BYTES = 64 << 20
_MOST_TOGETHER = 65535
"""Rows of a grid."""


def put_values(launcher: Launcher, table: Room, values: NDArray[np.void]) -> None:
    """Put values, as PUT_VALUE, into the columns of the conversion's table, and make their rows valid, or null."""
    shape = Shape(_DEFINES, -(-len(values) // _THREADS), _THREADS)
    launcher.launch(_PUT, shape, [table, launcher.put(values), len(values)])


def drop_rows(launcher: Launcher, columns: Sequence[Taken], rows: int, gone: NDArray[np.uint64]) -> None:
    """Take rows out of columns and count their nulls again.

    Memory: beside the columns a second copy of 64 MiB of them, or of the largest. The host waits twice for as many columns.

    Parameters
    ----------
    launcher
        Where they lie.
    columns
        Of `rows` rows.
    gone
        Rows that go, ascending.
    """
    listed = launcher.put(gone)
    for group in _groups(columns):
        _Drop(launcher, ordered(group), rows, listed, len(gone)).run()


def drop_texts(launcher: Launcher, column: Taken, rows: int, null: NDArray[np.uint64]) -> None:
    """Take the bytes of rows that are null, ascending, out of a column of strings. Memory and waits: as `drop_rows`."""
    _Drop(launcher, [column], rows, launcher.put(null), len(null), keeps_rows=True).run()


def _groups(columns: Sequence[Taken]) -> Iterator[list[Taken]]:
    group: list[Taken] = []
    size = 0
    for one in columns:
        own = sum(room.nbytes for name, room in one.rooms.items() if name != "sightings")
        if group and (size + own > _TOGETHER_BYTES or len(group) == _MOST_TOGETHER):
            yield group
            group, size = [], 0
        group.append(one)
        size += own
    if group:
        yield group


class _Drop:
    """Some columns, those of strings first."""

    def __init__(
        self, launcher: Launcher, columns: list[Taken], rows: int, gone: Room, count: int, *, keeps_rows: bool = False
    ) -> None:
        self._launcher, self._columns, self._rows = launcher, columns, rows
        self._kept = rows if keeps_rows else rows - count
        self._strings = strings_of(columns)
        strings = len(self._strings)
        self._dropped, self._totals = launcher.room(count * strings * 8), launcher.room(strings * 8)
        self._gone, self._gone_count = gone, count  # held until all is launched
        self._table: NDArray[np.void] = np.zeros(len(columns), DROPPED)
        task: NDArray[np.void] = np.zeros(1, DROP_TASK)
        task[0] = (gone.address, count, rows, self._dropped.address, self._totals.address, strings, keeps_rows)
        self._task = task.tobytes()

    def run(self) -> None:
        for row, one in zip(self._table, self._columns, strict=True):
            self._describe(row, one)
        bytes_left = self._size_strings()
        made = [self._make(row, one, left) for row, one, left in zip(self._table, self._columns, bytes_left, strict=True)]
        launcher, task = self._launcher, self._task
        table, valid = launcher.put(self._table), launcher.room(len(made) * 8, fill=0)
        blocks = self._kept // _ROWS_OF_BLOCK + 1
        launcher.launch(_ROWS, Shape(_DEFINES, (blocks, len(made), 1), _THREADS), [table, valid, task])
        if self._strings:
            blocks = min(max(bytes_left) // (16 * _THREADS) + 1, _MOST_BLOCKS)
            launcher.launch(_BYTES, Shape(_DEFINES, (blocks, len(self._strings), 1), _THREADS), [table, task])
        for one, rooms, count in zip(self._columns, made, launcher.fetch(valid).view(np.uint64).tolist(), strict=True):
            one.rooms = rooms
            one.nulls = self._kept - count

    def _describe(self, row: np.void, one: Taken) -> None:
        rooms = one.rooms
        strings = has_offsets(one.made)
        row["from"] = rooms["offsets" if strings else "values"].address if one.made.bits else 0
        row["validity"] = rooms["validity"].address
        row["width"] = one.made.bits // 8
        row["string"] = _NO_STRING
        if strings:
            row["bytes"] = rooms["values"].address
            row["string"] = next(number for number, other in enumerate(self._strings) if other is one)

    def _size_strings(self) -> list[int]:
        """The bytes of strings that each column keeps; of others 0."""
        launcher, count = self._launcher, len(self._strings)
        left = [0] * len(self._columns)
        if not count:
            return left
        blocks = min(-(-self._gone_count // _THREADS), _MOST_BLOCKS)
        shape = Shape(_DEFINES, (blocks, count, 1), _THREADS)
        launcher.launch(_SIZE, shape, [launcher.put(self._table), self._dropped, self._task])
        place_strings(launcher, self._dropped, (self._gone_count, count), self._totals)
        for number, gone in enumerate(launcher.fetch(self._totals).view(np.uint64).tolist()):
            left[number] = self._strings[number].rooms["values"].nbytes - gone
        return left

    def _make(self, row: np.void, one: Taken, string_bytes: int) -> dict[str, Room]:
        """Rooms for what is left."""
        launcher, kept = self._launcher, self._kept
        if one.large and string_bytes <= _MOST_STRING_BYTES:
            one.large = False
        made = Taken(one.position, one.type, one.guess, one.large)
        if has_offsets(one.made):
            made.rooms["values"] = launcher.room(string_bytes)
            row["bytes_to"] = made.rooms["values"].address
        made.make_rooms(launcher, kept)
        row["to"] = made.rooms["offsets" if has_offsets(one.made) else "values"].address
        row["width_to"] = one.made.bits // 8
        row["validity_to"] = made.rooms["validity"].address
        return made.rooms
