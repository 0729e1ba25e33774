"""Packs the column table and the arguments of the fast conversion (fast/convert_rows.cu), which reads one record per thread.

Not every table can be read that way: `row_columns` returns None for a column that needs the general conversion.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, IntFlag

import numpy as np
from numpy.typing import NDArray

from headrace.columns.convert.gpu.layouts import EMPTY, FIELD_RULES, HEX_KINDS, NULL_WORDS, TYPE_IDS, ConvertFamily, ConvertFlag
from headrace.columns.convert.gpu.tuning import MAX_STRINGS
from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.trace_expressions import packed
from headrace.structure.gpu.launches import TEXT_SIZES

ROW_COLUMN = layout("RowColumn")
ROW_TASK = layout("RowTask")
MEASURED_COLUMN = layout("MeasuredColumn")
MEASURED_COLUMNS = layout("MeasuredColumns")
NO_DFA = bytes(layout("DfaTask").size)  # the part of RowTask for texts that byte masks read
_TASK = ROW_TASK.packer(first="columns", last="sums")  # the fields of RowTask between `TEXT_SIZES` and DfaTask
_COLUMN_WORDS = ROW_COLUMN.size // 8
_VALUES_WORD, _VALIDITY_WORD = ROW_COLUMN.offset("values") // 8, ROW_COLUMN.offset("validity") // 8
_OFFSETS_WORD = ROW_COLUMN.offset("offsets_or_rules") // 8
_MAX_NUMBER = 0xFFFE  # the largest index of a column in the general conversion's table that a RowColumn holds
_MAX_MEASURED = MEASURED_COLUMNS.size // MEASURED_COLUMN.size
_FAR_BYTES = layout("FarFields").size
_MIN_RECORD_BYTES = 4  # size of the shortest records whose strings are measured (`RowTuning.record_bytes` of tables with strings)


class RowKind(IntEnum):
    """RowKind of fast/row_task.hpp."""

    INT4 = 0
    FLOAT4 = 1
    INT1 = 2
    INT2 = 3
    INT8 = 4
    FLOAT8 = 5
    DATE = 6
    TIMESTAMP = 7
    TEXT = 8
    SKIP = 9
    EMPTY = 10
    BOOLEAN = 11
    TIME4 = 12
    TIME8 = 13
    DURATION = 14
    DECIMAL = 15


class RowForm(IntFlag):
    """Bits of a program's mask of kinds after those of RowKind: RowForm of fast/row_task.hpp."""

    MARKS = 1 << 16
    FORMATS = 1 << 17
    WORDS = 1 << 18
    ESCAPES = 1 << 19
    SHORT = 1 << 20
    ZONES = 1 << 21
    NULLS = 1 << 22


class _ColumnFlag(IntFlag):
    """RowColumnFlag of fast/row_task.hpp."""

    EMPTY_IS_NULL = 1
    CANONICAL = 2
    SIGNED = 4
    LONG_OFFSETS = 8
    UTC = 16
    RESERVED = 32
    HEX = 64
    ZONE = 128


class RowsFlag(IntFlag):
    """RowTaskFlag of fast/row_task.hpp."""

    UTF8 = 1
    QUOTED = 2
    DFA = 4
    FILLS = 8
    CLEARED = 16


_INTEGERS = {1: RowKind.INT1, 2: RowKind.INT2, 4: RowKind.INT4, 8: RowKind.INT8}  # kinds of integers by bytes of a value
_NUMBERS = {ConvertFamily.INTEGER, ConvertFamily.FLOAT32, ConvertFamily.FLOAT64, ConvertFamily.DECIMAL}
_MOMENTS = {ConvertFamily.DATE, ConvertFamily.TIMESTAMP}
_OF_UNITS = RowKind.TIMESTAMP, RowKind.TIME4, RowKind.TIME8, RowKind.DURATION
_KINDS = {
    ConvertFamily.FLOAT32: RowKind.FLOAT4,
    ConvertFamily.FLOAT64: RowKind.FLOAT8,
    ConvertFamily.DATE: RowKind.DATE,
    ConvertFamily.TIMESTAMP: RowKind.TIMESTAMP,
    ConvertFamily.TEXT: RowKind.TEXT,
    ConvertFamily.BOOLEAN: RowKind.BOOLEAN,
    ConvertFamily.DECIMAL: RowKind.DECIMAL,
}


@dataclass(frozen=True, slots=True)
class RowReading:
    """Properties of the text and its dialect that the kernels receive in RowTask."""

    flags: int  # `RowsFlag`
    mask_variants: int  # Search variants that use byte masks. If all of them declined, the DFA search read the text.
    dialect: bytes  # a PLAIN_DIALECT of structure/gpu/dialect_tables.py as bytes, with the quotes that the text may have
    inside: int  # bit mask of the DFA's states that are inside quotes
    dfa: bytes = NO_DFA  # a DfaTask as bytes, if only the DFA reads the text


class RowColumns:
    """The columns of a table in the order of a record's fields, with entries for runs of skipped fields.

    `rows`: array of RowColumn, without addresses.
    `numbers`: for each entry that is not a skipped run, its index in the general conversion's column table.
    `width`: fields of a record; each takes at least one byte.
    `sums`: columns of the table whose strings are measured, or that have no type yet.
    `forms`: unusual forms that the columns may have.
    """

    def __init__(self, rows: NDArray[np.void], numbers: list[int], width: int, sums: int, forms: RowForm) -> None:
        self.width = width
        self._words = rows.view(np.uint64).reshape(len(rows), -1)
        self._wanted = np.flatnonzero(rows["kind"] != RowKind.SKIP)
        self._numbers = np.array(numbers, np.intp)
        kinds = rows["kind"][self._wanted]
        texts = (kinds == RowKind.TEXT) | (kinds == RowKind.EMPTY)
        self._ruled: NDArray[np.intp] = self._wanted[~texts]
        self._texts, self._text_numbers = self._wanted[texts], self._numbers[texts]
        self.kinds: int = sum(1 << kind for kind in set(kinds.tolist())) + forms  # bit mask of the columns' RowKind, and RowForm
        self.strings, self._sums = int((kinds == RowKind.TEXT).sum()), sums
        self._flags, self.has_null_words = RowsFlag.FILLS * (RowForm.SHORT in forms), RowForm.NULLS in forms
        self.measured = _measured_columns(rows) if len(rows) <= _MAX_MEASURED else b""
        """The argument `measured` of ``summarize_rows``; empty if there are too many columns for it."""

    @property
    def rule_words(self) -> NDArray[np.intp]:
        """Indices of the words of `table` that are addresses of rules, relative to address 0."""
        return self._ruled * _COLUMN_WORDS + _OFFSETS_WORD

    def table(self, values_at: NDArray[np.intp], offsets_at: int) -> tuple[NDArray[np.uint64], NDArray[np.intp]]:
        """Return the column table for the kernels.

        `values_at`: for each column of the general table, the index of its values' buffer. The index of its validity is the
        column's.
        `offsets_at`: index of the buffer with the first string column's offsets.
        Result: the table as words without addresses. Then two rows: indices of the words that are addresses, and of their
        buffers.
        """
        first_words: NDArray[np.intp] = self._wanted * _COLUMN_WORDS
        offsets: NDArray[np.intp] = self._texts * _COLUMN_WORDS + _OFFSETS_WORD
        where = np.concatenate((first_words + _VALUES_WORD, first_words + _VALIDITY_WORD, offsets))
        buffers = np.concatenate((values_at[self._numbers], self._numbers, offsets_at + self._text_numbers))
        return self._words.reshape(-1), np.array((where, buffers))

    def _max_groups(self, tile: int) -> int:
        """Return the maximum number of groups of 32 records in a tile of `tile` bytes, with the group open at its end."""
        return tile // max(self.width, _MIN_RECORD_BYTES) // 32 + 2

    def task(self, reading: RowReading, size: int, tiles: int, tile: int) -> bytes:
        """Return RowTask for a text of `size` bytes in `tiles` tiles of `tile` bytes."""
        task: bytes = packed(TEXT_SIZES, size, tiles) + self.shared_task(reading, tile)
        return task

    def shared_task(self, reading: RowReading, tile: int) -> bytes:
        """Return the fields of RowTask after `TEXT_SIZES`, which do not depend on the text."""
        fields = reading.flags + self._flags, reading.mask_variants, reading.dialect, reading.inside
        return _TASK.pack(len(self._words), self.strings, *fields, self._max_groups(tile), self._sums) + reading.dfa

    def sizes_bytes(self, tiles: int, tile: int) -> int:
        """Return the size of the buffer with string bytes per group of 32 records, 2 bytes a column and group, and FarFields."""
        return tiles * (2 * self._max_groups(tile) * self.strings + _FAR_BYTES)


def max_row_bytes(columns: int) -> int:
    """Return the maximum size of a column table with this number of wanted columns."""
    return (2 * columns + 1) * ROW_COLUMN.size


def row_forms(table: NDArray[np.void], packed: bytes) -> RowForm:
    """Return the unusual forms that columns of a table may have.

    `table`: wanted columns, from ``pack_columns``.
    """
    forms = RowForm.WORDS if (table["flags"] & ConvertFlag.RESERVED).any() else RowForm(0)
    forms |= RowForm.ZONES * bool(table["zone"].any())
    nulls = set(table["largest"][table["family"] == ConvertFamily.TEXT].tolist()) - {0}
    forms |= RowForm.NULLS * (NULL_WORDS in nulls) | RowForm.ESCAPES * bool(nulls - {NULL_WORDS})
    for at in set(table["rules"].tolist()):  # `np.unique` imports `numpy.ma`, which takes 8 ms
        rules = np.frombuffer(packed, FIELD_RULES, 1, at)[0]
        families = set(table["family"][table["rules"] == at].tolist())
        if families & _NUMBERS and (rules["marks"]["decimal"] != ord(".") or rules["marks"]["thousands"] != -1):
            forms |= RowForm.MARKS
        if families & _MOMENTS and (rules["dates"]["count"] or not rules["dates"]["iso_first"]):
            forms |= RowForm.FORMATS
    return forms


def row_columns(table: NDArray[np.void], width: int, forms: RowForm, *, quotes: bool, measures: bool) -> RowColumns | None:
    """Return a table's columns for the fast conversion, or None if it cannot read one of them.

    `table`: wanted columns, from ``pack_columns``.
    `width`: fields of a record.
    `forms`: from `row_forms`.
    `measures`: whether the columns are for ``measure_rows``, which reads only strings.
    """
    rows: list[tuple[int, ...]] = []
    numbers: list[int] = []
    strings = next_position = 0
    for number in np.argsort(table["position"]).tolist():
        column = table[number]
        kind = _kind(column, quotes=quotes)
        if measures and (column["family"] != ConvertFamily.TEXT or kind == RowKind.EMPTY):
            continue
        if kind == RowKind.SKIP or (kind == RowKind.TEXT and strings == MAX_STRINGS) or number > _MAX_NUMBER:
            return None
        position, is_text = int(column["position"]), kind == RowKind.TEXT
        has_text = is_text or kind == RowKind.EMPTY
        if position > next_position:
            rows.append((0, 0, 0, position - next_position, RowKind.SKIP, 0, 0))
        next_position = position + 1
        numbers.append(number)
        # Strings come first in `table`, so a string column's index there is its index among the strings.
        rules = 0 if has_text else int(column["rules"])
        rows.append((0, 0, rules, _largest(column, kind), kind, _flags(column), number))
        strings += is_text
    if width > next_position:
        rows.append((0, 0, 0, width - next_position, RowKind.SKIP, 0, 0))
    sums = int((table["family"] == ConvertFamily.TEXT).sum())
    return RowColumns(np.array(rows, ROW_COLUMN.dtype), numbers, width, sums, forms)


def _measured_columns(rows: NDArray[np.void]) -> bytes:
    measured: NDArray[np.void] = np.zeros(_MAX_MEASURED, MEASURED_COLUMN.dtype)
    for name in ("largest", "kind", "number"):
        measured[name][: len(rows)] = rows[name]
    return bytes(measured.tobytes())


def _largest(column: np.void, kind: RowKind) -> int:
    """Return the column's `largest` in fast/row_task.hpp."""
    if kind == RowKind.DECIMAL:
        return int(column["precision"]) + 256 * int(column["scale"])
    return int(column["units_per_second" if kind in _OF_UNITS else "largest"])


def _flags(column: np.void) -> int:
    """Return the column's RowColumnFlag."""
    flags, is_text = int(column["flags"]), column["family"] == ConvertFamily.TEXT
    is_hex = flags & ConvertFlag.INFERRED and int(column["guess"]) in HEX_KINDS
    result = _ColumnFlag.EMPTY_IS_NULL * bool(flags & ConvertFlag.EMPTY_IS_NULL)
    result += _ColumnFlag.CANONICAL * (bool(flags & ConvertFlag.INFERRED) and not is_text)
    return (
        result
        + _ColumnFlag.SIGNED * bool(column["is_signed"])
        + _ColumnFlag.LONG_OFFSETS * bool(is_text and column["width"] == 8)
        + _ColumnFlag.UTC * bool(flags & ConvertFlag.UTC)
        + _ColumnFlag.RESERVED * bool(flags & ConvertFlag.RESERVED and not is_text)
        + _ColumnFlag.HEX * bool(is_hex)
        + _ColumnFlag.ZONE * bool(column["zone"])
    )


def _kind(column: np.void, *, quotes: bool) -> RowKind:
    """Return the column's RowKind; SKIP if its fields need more than the usual shapes."""
    flags, family = int(column["flags"]), int(column["family"])
    inferred = bool(flags & ConvertFlag.INFERRED)
    if inferred and int(column["guess"]) == EMPTY:
        return RowKind.EMPTY if flags & ConvertFlag.EMPTY_IS_NULL else RowKind.SKIP
    if family == ConvertFamily.TEXT:
        unusual = ConvertFlag.RAW | ConvertFlag.QUOTED_NULL if quotes else 0
        has_other_nulls = flags & ConvertFlag.NULL_WORDS and not column["largest"]
        return RowKind.SKIP if flags & unusual or has_other_nulls else RowKind.TEXT
    if family == ConvertFamily.INTEGER:
        return _INTEGERS[int(column["width"])]
    if family == ConvertFamily.TIME:
        is_duration = int(column["type"]) == TYPE_IDS["duration"]
        return RowKind.DURATION if is_duration else RowKind.TIME4 if int(column["width"]) == 4 else RowKind.TIME8
    return _KINDS.get(ConvertFamily(family), RowKind.SKIP)
