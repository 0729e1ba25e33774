"""What columns/convert/gpu/fast/convert_rows.cu is told, and whether a load's columns can be read that way.

Types here are those of columns/convert/gpu/fast/row_task.hpp, byte for byte.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntFlag
from functools import cache
from struct import Struct

import numpy as np
from numpy.typing import NDArray

from headrace.columns.convert.gpu.layouts import EMPTY, Family, Flag
from headrace.gpu.kernels.launcher import Entry
from headrace.gpu.kernels.trace_expressions import packed
from headrace.structure.gpu.launches import TEXT_SIZES

TALLY_ROWS = Entry("columns/convert/gpu/fast/measure_rows.cu", "tally_rows", "P8sPPPPP48s264s")
MEASURE_ROWS = Entry("columns/convert/gpu/fast/convert_rows.cu", "measure_rows", "PPPPPPP48s")
CONVERT_ROWS = Entry("columns/convert/gpu/fast/convert_rows.cu", "convert_rows", "PPPPPPPPP48s")
ROW_COLUMN = np.dtype(
    [
        ("values", "u8"),
        ("validity", "u8"),
        ("more", "u8"),
        ("largest", "u4"),
        ("kind", "u1"),
        ("flags", "u1"),
        ("string", "u1"),
        ("reserved", "u1"),
    ]
)
MOST_STRINGS = 16
_BRIEF = np.dtype([("largest", "u4"), ("kind", "u1"), ("string", "u1"), ("reserved", "u2")])
_MOST_BRIEFS = 2 * MOST_STRINGS + 1
"""Columns of strings, and fields between: RowBriefs of columns/convert/gpu/fast/measure_rows.cu."""
_LEAST_RECORD = 8
"""Bytes: tiles with more records than of such ones are not read by rows."""
_MEASURE_BLOCKS = 8
_TALLY_BLOCKS = 12, 10
"""Without quotes and with them."""
_STREAM_BYTES = 512
_LONG_STRINGS, _LONG_BYTES = 4096, 200
"""Bytes of 32 strings that all warps copy, at least, and what is noted of them: LongStrings."""
_INT4, _FLOAT4, _INT1, _INT2, _INT8, _FLOAT8, _DATE, _TIMESTAMP, _TEXT, _SKIP = range(10)
_INTEGERS = {1: _INT1, 2: _INT2, 4: _INT4, 8: _INT8}
_KINDS = {Family.FLOAT32: _FLOAT4, Family.FLOAT64: _FLOAT8, Family.DATE: _DATE, Family.TIMESTAMP: _TIMESTAMP, Family.TEXT: _TEXT}
_EMPTY_IS_NULL, _CANONICAL, _SIGNED, _LONG_OFFSETS = 1, 2, 4, 8
_TASK = Struct("=IIHH8sQII")
"""RowTask, behind TEXT_SIZES."""


class RowsFlag(IntFlag):
    """What all tiles share: RowTaskFlag."""

    ASCII = 1
    QUOTED = 2
    STEPS = 4


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowShape:
    """Macros of convert_rows.cu: whether quotes mean something, threads of a block, bytes of a tile and of the text
    before it, records that a thread reads side by side, and blocks that a multiprocessor holds.

    A record a thread, and threads for as many as a tile of 16 KB has where they are of 85 bytes and more, with quotes of 102:
    taxi has 178, lineitem 131, and in a round of 128 three warps waited for the one that had the rest.
    """

    quotes: bool = False
    threads: int = 192
    tile: int = 16384
    head: int = 512
    records: int = 1
    blocks: int = 6

    def defines(self, *, writes: bool) -> dict[str, int]:
        """As `kernel` takes them: of ``convert_rows``, which writes, or of ``measure_rows``."""
        names = ("HR_QUOTES", "HR_THREADS", "HR_TILE", "HR_HEAD", "HR_RECORDS", "HR_BLOCKS", "HR_WRITES")
        values = (int(self.quotes), self.threads, self.tile, self.head, self.records, self.blocks, int(writes))
        return dict(zip(names, values, strict=True))

    def shared_bytes(self, *, strings: bool, writes: bool) -> int:
        """RowMemory, and RowStrings behind it; the text is kept where columns are made."""
        warps, chunks = self.threads // 32, (self.tile + self.head) // 32
        size = (self.tile + self.head + 80 if writes else 16) + 4 * (chunks + 3) + 12 + self.tile // 4 + 4
        size += (6 * (chunks + 2) + 12 * warps if self.quotes else 20) + 12 + 8 * warps + 4 * MOST_STRINGS
        size = -(-size // 16) * 16 + 16
        if strings:
            size += 8 + -(-warps * (_STREAM_BYTES + 4) // 8) * 8 + _LONG_BYTES * ((self.tile + self.head) // _LONG_STRINGS + 1)
        return size


@cache
def row_program(shape: RowShape, strings: bool) -> tuple[dict[str, int], int, int]:
    """Of ``convert_rows`` macros, threads, and shared memory."""
    return shape.defines(writes=True), shape.threads, shape.shared_bytes(strings=strings, writes=True)


@cache
def measure_program(shape: RowShape, threads: int) -> tuple[dict[str, int], int, int]:
    """The same of ``measure_rows``, by the search's threads: what a record costs is little, and what a tile does is most."""
    own = replace(shape, threads=threads, records=1, blocks=_MEASURE_BLOCKS)
    return own.defines(writes=False), threads, own.shared_bytes(strings=False, writes=False)


@cache
def tally_program(shape: RowShape, threads: int) -> tuple[dict[str, int], int, int]:
    """The same of ``tally_rows``: TallyMemory."""
    own = replace(shape, threads=threads, records=1, blocks=_TALLY_BLOCKS[shape.quotes])
    words, of_warps = 2 * (shape.tile + shape.head) // 32 + 2 * shape.tile // 32, 10 * (threads // 32)
    shared = own.shared_bytes(strings=False, writes=False) + 4 * (words + of_warps) + 32
    return {**own.defines(writes=False), "HR_UNROLL": 3}, threads, shared


@dataclass(frozen=True, slots=True)
class RowReading:
    """How a text is read by rows.

    Parameters
    ----------
    flags
        `RowsFlag`.
    forms
        Of the search, that read by masks; an automaton read what none of them did.
    dialect
        PLAIN_DIALECT of structure/gpu/dialect_tables.py, with the quotes that the text may have.
    inside
        States of that automaton that are inside quotes, a bit for each.
    """

    flags: int
    forms: int
    dialect: bytes
    inside: int


class RowColumns:
    """The columns of a table as rows are read, from left to right, with what lies between for fields that nobody wants.

    Parameters
    ----------
    rows
        Of ROW_COLUMN, without addresses.
    numbers
        Of each but those between, which column of the kernels' other table it is.
    width
        Fields of a record, each of which has a byte at least.
    """

    def __init__(self, rows: NDArray[np.void], numbers: list[int], width: int) -> None:
        self._width = width
        self._words = rows.view(np.uint64).reshape(len(rows), -1)
        self._own = np.flatnonzero(rows["kind"] != _SKIP)
        self._numbers = np.array(numbers, np.intp)
        texts = rows["kind"][self._own] == _TEXT
        self._texts, self._text_numbers = self._own[texts], self._numbers[texts]
        self.strings = int(texts.sum())
        self.briefs = _briefs(rows) if len(rows) <= _MOST_BRIEFS else b""
        """What ``tally_rows`` is told of columns to measure."""

    def table(self, values_at: NDArray[np.intp], offsets_at: int) -> tuple[NDArray[np.uint64], NDArray[np.intp]]:
        """For the kernels.

        Parameters
        ----------
        values_at
            Of each column of the other table, which room its values have; that of its validity has the column's own number.
        offsets_at
            Which room those of the first string's offsets are.

        Returns
        -------
        numpy.ndarray, numpy.ndarray
            Words without addresses; and which words are addresses, of which rooms, a row each.
        """
        own: NDArray[np.intp] = self._own * 4
        where = np.concatenate((own, own + 1, self._texts * 4 + 2))
        places = np.concatenate((values_at[self._numbers], self._numbers, offsets_at + self._text_numbers))
        return self._words.reshape(-1), np.array((where, places))

    def _groups(self, tile: int) -> int:
        """Of 32 records that a tile of so many bytes has, at most; one that is open at its end included."""
        return tile // max(self._width, _LEAST_RECORD) // 32 + 2

    def task(self, reading: RowReading, size: int, tiles: int, tile: int) -> bytes:
        """What all tiles of a text of so many bytes share; a tile has `tile`."""
        told: bytes = packed(TEXT_SIZES, size, tiles) + self.shared_task(reading, tile)
        return told

    def shared_task(self, reading: RowReading, tile: int) -> bytes:
        """The same behind the text's size and tiles, which texts share too."""
        how = reading.flags, reading.forms, reading.dialect, reading.inside
        return _TASK.pack(len(self._words), self.strings, *how, self._groups(tile), 0)

    def sizes_bytes(self, tiles: int, tile: int) -> int:
        """Of the sizes of strings by 32 records."""
        return 2 * tiles * self._groups(tile) * self.strings


def most_row_bytes(columns: int) -> int:
    """Of what the kernels are told of so many columns."""
    return int((2 * columns + 1) * ROW_COLUMN.itemsize)


def row_columns(table: NDArray[np.void], width: int, *, quotes: bool, measures: bool) -> RowColumns | None:
    """The columns of a table as rows are read.

    Parameters
    ----------
    table
        Wanted columns as ``pack_columns`` has them.
    width
        Fields of a record.
    quotes
        Whether fields with quotes are read, too.
    measures
        For ``measure_rows``, to which only strings matter.

    Returns
    -------
    RowColumns
        None if a column is not one that rows can be read by.
    """
    rows: list[tuple[int, ...]] = []
    numbers: list[int] = []
    strings = behind = 0
    for number in np.argsort(table["position"]).tolist():
        column = table[number]
        kind = _kind(column, quotes=quotes)
        if measures and column["family"] != Family.TEXT:
            continue
        if kind == _SKIP or strings == MOST_STRINGS:
            return None
        position, text = int(column["position"]), kind == _TEXT
        if position > behind:
            rows.append((0, 0, 0, position - behind, _SKIP, 0, 0, 0))
        behind = position + 1
        numbers.append(number)
        # Strings come first in `table`: their numbers there are those of the other kernels.
        units = 0 if text else int(column["units_per_second"])
        rows.append((0, 0, units, int(column["largest"]), kind, _flags(column), number if text else 0, 0))
        strings += text
    if width > behind:
        rows.append((0, 0, 0, width - behind, _SKIP, 0, 0, 0))
    return RowColumns(np.array(rows, ROW_COLUMN), numbers, width)


def _briefs(rows: NDArray[np.void]) -> bytes:
    briefs: NDArray[np.void] = np.zeros(_MOST_BRIEFS, _BRIEF)
    for name in ("largest", "kind", "string"):
        briefs[name][: len(rows)] = rows[name]
    return bytes(briefs.tobytes())


def _flags(column: np.void) -> int:
    """RowFlag."""
    flags, text = int(column["flags"]), column["family"] == Family.TEXT
    made = _EMPTY_IS_NULL * bool(flags & Flag.EMPTY_IS_NULL) + _CANONICAL * (bool(flags & Flag.INFERRED) and not text)
    return made + _SIGNED * bool(column["signed"]) + _LONG_OFFSETS * bool(text and column["width"] == 8)


def _kind(column: np.void, *, quotes: bool) -> int:
    """RowKind; that of a column to skip if its fields cannot be read by their common shapes alone."""
    flags, family = int(column["flags"]), int(column["family"])
    inferred = bool(flags & Flag.INFERRED)
    if family == Family.TEXT:
        odd = Flag.NULL_WORDS | (Flag.RAW | Flag.QUOTED_NULL if quotes else 0)
        plain = not flags & odd and not (inferred and int(column["guess"]) == EMPTY)
        return _TEXT if plain else _SKIP
    if not flags & Flag.FAST or (inferred and flags & Flag.UTC):
        return _SKIP
    if family == Family.INTEGER:
        return _INTEGERS[int(column["width"])]
    return _KINDS.get(Family(family), _SKIP)
