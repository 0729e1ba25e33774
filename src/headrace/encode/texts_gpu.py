"""Text columns on a GPU in other forms, as encode/texts.py has them: encode/views.cu and encode/dictionary.cu."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headrace.columns.column import MOST_VIEWED_BYTES, Column, new_column
from headrace.columns.native_columns import type_named
from headrace.columns.types import DataType
from headrace.core.errors import HeadraceError
from headrace.encode.texts import wanted_form
from headrace.encode.tuning import ROWS_PER_THREAD, TEXT_THREADS
from headrace.gpu.kernels.launcher import Entry, Launcher, Part, Room, Shape

PLAIN_TEXTS = np.dtype(
    [("offsets", "u8"), ("bytes", "u8"), ("validity", "u8"), ("rows", "u8"), ("width", "u4"), ("reserved", "u4")]
)
DISTINCT_TEXTS = np.dtype(
    [("texts", PLAIN_TEXTS), ("slots", "u8"), ("mask", "u8"), ("where", "u8"), ("seed", "u8"), ("taken", "u8")]
)
"""The structs of encode/texts_task.hpp, byte for byte."""

_MEASURE_VIEWS = Entry("encode/views.cu", "measure_views", "40sP")
_PUT_VIEWS = Entry("encode/views.cu", "put_views", "40sPPPIP")
_INSERT = Entry("encode/dictionary.cu", "insert_texts", "80s")
_COUNT = Entry("encode/dictionary.cu", "count_firsts", "80sP")
_NUMBER = Entry("encode/dictionary.cu", "number_firsts", "80sPPPP")
_CODES = Entry("encode/dictionary.cu", "put_codes", "80sPP")
_GATHER = Entry("encode/dictionary.cu", "gather_texts", "40sPPQQPP")
_FEWEST_SLOTS, _MORE_SLOTS = 1 << 16, 16
_MOST_INT32 = 0x7FFFFFFF
_SEED = int.from_bytes(os.urandom(8), "little") | 1


@dataclass(frozen=True, slots=True)
class TextShape:
    """Threads of a block, slots of the first table of distinct texts, and bytes of a buffer of views at most."""

    threads: int = TEXT_THREADS
    slots: int = _FEWEST_SLOTS
    most_viewed: int = MOST_VIEWED_BYTES

    @property
    def rows(self) -> int:
        """Of a block."""
        return self.threads * ROWS_PER_THREAD


TEXT_SHAPE = TextShape()


@dataclass(frozen=True, slots=True)
class TextRooms:
    """A column of strings in memory.

    Parameters
    ----------
    offsets, values, validity
        Its parts; None where every row has a value.
    rows
        How many.
    width
        Bytes of an offset.
    """

    offsets: Room
    values: Room
    validity: Room | None
    rows: int
    width: int

    def packed(self) -> np.void:
        """For the kernels."""
        task: NDArray[np.void] = np.zeros(1, PLAIN_TEXTS)
        validity = 0 if self.validity is None else self.validity.address
        task[0] = (self.offsets.address, self.values.address, validity, self.rows, self.width, 0)
        made: np.void = task[0]
        return made


def encoded_on_gpu(launcher: Launcher, column: Column, given: DataType | None, inferred: DataType | None) -> Column:
    """As `headrace.encode.texts.encoded`, of a column that was just loaded on a GPU.

    Raises
    ------
    HeadraceError
        A dictionary of more texts or bytes than an Arrow dictionary of strings holds.
    MemoryLimitError
        There is no room for both forms.
    """
    form = wanted_form(column, given, inferred)
    if not form:
        return column
    parts: Any = column
    texts = TextRooms(parts.offsets, parts.values, parts.validity, column.length, column.type.bits // 8)
    if form == "dictionary":
        codes, distinct, count = text_dictionary(launcher, texts)
        made = new_column(
            type_named("string"), count, 0, launcher.result(distinct.values), offsets=launcher.result(distinct.offsets)
        )
        return replace(column, type=DataType("dictionary"), values=launcher.result(codes), offsets=None, dictionary=made)
    views = string_views(launcher, texts)
    if views is None:
        return column
    data = tuple(launcher.result(room) for room in views[1])
    return replace(column, type=DataType("string_view"), values=launcher.result(views[0]), offsets=None, data=data)


def string_views(launcher: Launcher, texts: TextRooms, shape: TextShape = TEXT_SHAPE) -> tuple[Room, list[Room]] | None:
    """Views, and the buffers of texts that do not fit into them; None where a text is too long for any.

    The host waits once. Memory: 16 bytes a row, the long texts, and 8 bytes a block of rows.
    """
    blocks = -(-texts.rows // shape.rows)
    views = launcher.room(texts.rows * 16)
    if not blocks:
        return views, []
    defines, packed = {"HR_THREADS": shape.threads}, texts.packed()
    grid = Shape(defines, blocks, shape.threads)
    sizes = launcher.room(blocks * 8)
    launcher.launch(_MEASURE_VIEWS, grid, [packed, sizes])
    begins: NDArray[np.uint64] = np.zeros(blocks + 1, np.uint64)
    np.cumsum(launcher.fetch(sizes).view(np.uint64), out=begins[1:])
    limits = _limits(launcher, texts, begins, shape)
    if limits is None:
        return None
    ends = [*limits[1:], int(begins[-1])]
    buffers = [launcher.room(end - begin) for begin, end in zip(limits, ends, strict=True)]
    told = [launcher.put(np.array(each, np.uint64)) for each in (limits, [room.address for room in buffers])]
    launcher.launch(_PUT_VIEWS, grid, [packed, launcher.put(begins[:-1]), *told, len(limits), views])
    return views, [room for room in buffers if room.nbytes]


def _limits(launcher: Launcher, texts: TextRooms, begins: NDArray[np.uint64], shape: TextShape) -> list[int] | None:
    """Where each buffer begins among all long texts: as late as it may, and at none's inside."""
    limits = [0]
    while int(begins[-1]) - limits[-1] > shape.most_viewed:
        most = limits[-1] + shape.most_viewed
        block = int(np.searchsorted(begins, most, "right")) - 1
        first = block * shape.rows
        count = min(shape.rows, texts.rows - first)
        found = launcher.fetch(Part(texts.offsets, first * texts.width, (count + 1) * texts.width))
        sizes = np.diff(found.view(np.uint64 if texts.width == 8 else np.uint32).astype(np.int64))
        places = int(begins[block]) + np.cumsum(np.where(sizes > 12, sizes, 0))
        fits = [int(begins[block]), *places[places <= most].tolist()]
        if fits[-1] == limits[-1]:
            return None  # one text alone is longer
        limits.append(fits[-1])
    return limits


def text_dictionary(launcher: Launcher, texts: TextRooms, shape: TextShape = TEXT_SHAPE) -> tuple[Room, TextRooms, int]:
    """Codes, the distinct texts in the order of their first rows, and how many they are.

    The host waits three times, and once more each time that the table of distinct texts was too small. Memory: 8 bytes a row,
    24 to 500 a distinct text.

    Raises
    ------
    HeadraceError
        The texts are too many or too long.
    """
    if not texts.rows:
        return launcher.room(0), TextRooms(launcher.put(np.zeros(1, np.int32)), launcher.room(0), None, 0, 4), 0
    table = _Distinct(launcher, texts, shape)
    counts = launcher.room(table.blocks * 8)
    launcher.launch(_COUNT, table.grid, [table.packed, counts])
    begins: NDArray[np.uint64] = np.zeros(table.blocks + 1, np.uint64)
    np.cumsum(launcher.fetch(counts).view(np.uint64), out=begins[1:])
    count = int(begins[-1])
    if count > _MOST_INT32:
        raise HeadraceError("more than 2147483647 distinct texts; read them as string")
    rows, sizes, codes_of = launcher.room(count * 8), launcher.room(count * 8), launcher.room(4 * table.slots)
    codes = launcher.room(texts.rows * 4)
    launcher.launch(_NUMBER, table.grid, [table.packed, launcher.put(begins[:-1]), codes_of, rows, sizes])
    launcher.launch(_CODES, table.grid, [table.packed, codes_of, codes])
    places: NDArray[np.uint64] = np.zeros(count + 1, np.uint64)
    np.cumsum(launcher.fetch(sizes).view(np.uint64), out=places[1:])
    nbytes = int(places[-1])
    if nbytes > _MOST_INT32:
        raise HeadraceError("distinct texts of more than 2147483647 bytes; read them as large_string")
    made = TextRooms(launcher.room((count + 1) * 4), launcher.room(nbytes), None, count, 4)
    grid = Shape(table.grid.defines, (count + 1) * 32 // shape.threads + 1, shape.threads)
    args = [texts.packed(), rows, launcher.put(places[:-1]), count, nbytes, made.offsets, made.values]
    launcher.launch(_GATHER, grid, args)
    return codes, made, count


class _Distinct:
    """The table of distinct texts, as large as it has to be."""

    def __init__(self, launcher: Launcher, texts: TextRooms, shape: TextShape) -> None:
        self.blocks = -(-texts.rows // shape.rows)
        self.grid = Shape({"HR_THREADS": shape.threads}, self.blocks, shape.threads)
        where, taken = launcher.room(texts.rows * 4), launcher.room(8)
        task: NDArray[np.void] = np.zeros(1, DISTINCT_TEXTS)
        self.slots = shape.slots
        while True:
            table = launcher.room(self.slots * 8, fill=0xFF)
            launcher.fill(taken, 0)
            task[0] = (texts.packed(), table.address, self.slots - 1, where.address, _SEED, taken.address)
            self.packed: np.void = task[0]
            launcher.launch(_INSERT, self.grid, [self.packed])
            found = int(launcher.fetch(taken).view(np.uint64)[0])
            if 2 * found < self.slots:
                break
            self.slots *= _MORE_SLOTS
        self._held = table, where, taken
