"""Launches the fast conversion (convert_rows.cu) and the kernels that measure its strings, for one load."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from headrace.columns.convert.gpu.column_group import ColumnGroup
from headrace.columns.convert.gpu.layouts import dfa_dialect, pack_dfa
from headrace.columns.convert.gpu.row_columns import MEASURED_COLUMNS, ROW_TASK, RowColumns, RowForm, RowReading, RowsFlag
from headrace.columns.convert.gpu.target import GpuTarget, GpuTuning
from headrace.columns.convert.gpu.tuning import Program, RowTuning, measure_program, row_program, summary_program
from headrace.core.identity_cache import IdentityCache
from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Entry, Shape
from headrace.gpu.kernels.trace_expressions import packed
from headrace.structure.dialect import Dialect
from headrace.structure.gpu.dialect_tables import MAX_STATES, PLAIN_DIALECT, plain_dialect
from headrace.structure.gpu.find import TileStructure
from headrace.structure.gpu.launches import TEXT_SIZES, FusedSummary

_TASK, _DIALECT, _MEASURED = ROW_TASK.argument, PLAIN_DIALECT.argument, MEASURED_COLUMNS.argument
SUMMARIZE_ROWS = Entry("columns/convert/gpu/fast/measure_rows.cu", "summarize_rows", f"P{_DIALECT}PPPPP{_TASK}{_MEASURED}")
MEASURE_ROWS = Entry("columns/convert/gpu/fast/convert_rows.cu", "measure_rows", f"PPPPPPPP{_TASK}")
_ADD_FAR = Entry("columns/convert/gpu/fast/measure_rows.cu", "add_far_fields", f"PPPPPP{_TASK}{_MEASURED}")
FAULT_OUTPUT = layout("FaultOutput")
CONVERT_ROWS = Entry("columns/convert/gpu/fast/convert_rows.cu", "convert_rows", f"PPPPPPPPPPPIP{_TASK}")
CONVERT_ROWS_BY_DFA = Entry(CONVERT_ROWS.file, CONVERT_ROWS.name, CONVERT_ROWS.signature + FAULT_OUTPUT.argument)

_Readings = tuple[RowReading, RowReading] | None
_readings: IdentityCache[_Readings] = IdentityCache()
_ONLY_DFA = ("dfa",)  # the search variants of texts that only the DFA reads


def _reading(dialect: Dialect, variants: tuple[str, ...]) -> _Readings:
    """Return the RowReading of a text that these search variants read: for any bytes, then for UTF-8.

    Tiles that are not UTF-8 are not measured. Returns None if the fast conversion cannot read the dialect.
    """
    if variants == _ONLY_DFA:
        utf8 = RowReading(RowsFlag.DFA + RowsFlag.UTF8, 0, dfa_dialect(dialect), 0)
        return (replace(utf8, flags=int(RowsFlag.DFA)), utf8) if suits_dfa_rows(dialect) else None
    masks = plain_dialect(dialect, quoted=dialect.quote_char is not None, declines=True)
    if masks is None:
        return None
    flags = RowsFlag.QUOTED * (dialect.quote_char is not None) + RowsFlag.DFA * (not dialect.looks_ahead)
    quoted_states = sum(1 << state for state in dialect.automaton.quoted)
    by_masks = len(variants) - ("dfa" in variants)
    any_bytes, utf8 = [RowReading(flags + bits, by_masks, masks.tobytes(), quoted_states) for bits in (0, RowsFlag.UTF8)]
    return any_bytes, utf8


def suits_dfa_rows(dialect: Dialect) -> bool:
    """Return whether the fast conversion reads texts of the dialect by its DFA.

    It reads no lenient quotes before a delimiter of several bytes. A delimiter outside ASCII may be a part of a character, and an
    escape other than a backslash a part of a time.
    """
    ends = dialect.sep + (dialect.lineterminator or b"\n")
    is_usual = len(dialect.automaton.states) <= MAX_STATES[-1] and max(ends + (dialect.comment or b"")) < 128
    has_bytes = len(dialect.sep) == len(dialect.lineterminator or b"\n") == 1
    is_unusual = dialect.looks_ahead and not has_bytes
    return is_usual and not is_unusual and dialect.escape_char in (None, b"\\")


def kinds_of(columns: RowColumns, dialect: Dialect) -> int:
    """Return the mask of kinds of the program that reads the columns of a text of this dialect."""
    return columns.kinds | (RowForm.ESCAPES if dialect.decodes_escapes else 0)


def measuring(tuning: GpuTuning, group: ColumnGroup, *, quoted: bool) -> FusedSummary | None:
    """Return the search variant that also measures the group's strings, or None if the group has none or they do not fit it.

    `quoted`: whether the text is expected to have quotes.
    """
    columns = group.fast_columns(quotes=quoted, measures=True) if group.strings else None
    if columns is None or not columns.strings or columns.has_null_words:  # the search has no rules
        return None
    tile = tuning.find.tile
    program = summary_program(tuning.of_rows("quoted" if quoted else "unquoted", strings=True), tuning.find.threads)
    task = columns.shared_task(_SUMMARY_READINGS[group.has_text], tile)
    return FusedSummary(
        "quoted" if quoted else "unquoted", SUMMARIZE_ROWS, *program, task, columns.measured, columns.sizes_bytes(1, tile)
    )


_SUMMARY_READINGS = RowReading(0, 1, bytes(8), 0), RowReading(int(RowsFlag.UTF8), 1, bytes(8), 0)
"""For any bytes, and for UTF-8. The kernel takes the dialect from the search instead."""


@dataclass(frozen=True, slots=True)
class MeasuredStrings:
    """Measured sizes of a text's strings."""

    sums: DeviceBuffer  # bytes for each tile and column; replaced by their offsets once they are scanned
    sizes: DeviceBuffer | None = None  # bytes for each group of 32 records, in tiles that the fast kernel measured
    left: DeviceBuffer | None = None  # A word per tile, not 0 if the fast kernel declined it. None if that kernel did not run.


class RowLaunches:
    """Launches of the fast conversion in one load.

    `marks`: Zeroed `declined` words for the tiles of two launches, 4 bytes each. Later launches allocate theirs. If the search
    has measured strings, it uses the second half.
    `quoted`: whether fields are expected to have quotes.
    """

    def __init__(self, target: GpuTarget, dialect: Dialect, structure: TileStructure, marks: DeviceBuffer, quoted: bool) -> None:
        self._launcher, self._text, self._structure = target.launcher, target.text, structure
        self._marks = halves_of(marks, structure.tiles)
        if structure.measured_strings:
            self._marks.pop()
        self._reading = _readings.get_or_create(lambda: _reading(dialect, structure.variants), dialect, key=structure.variants)
        self._variant = "dfa" if structure.variants == _ONLY_DFA else "quoted" if quoted else "unquoted"
        self._dialect, self._tuning = dialect, target.tuning

    @property
    def by_dfa(self) -> bool:
        """True if only the DFA reads the text."""
        return self._variant == "dfa"

    def go_on(self) -> None:
        """Mark the preallocated `declined` words as used."""
        self._marks.clear()

    def columns(self, group: ColumnGroup, *, writes: bool) -> RowColumns | None:
        """Return the group's columns for the fast kernel, or None if it cannot read them."""
        return None if self._reading is None else group.fast_columns(quotes=self._variant != "unquoted", measures=not writes)

    def measure(
        self, columns: RowColumns, table: DeviceBuffer, all_columns: DeviceBuffer, sums: DeviceBuffer, *, utf8: bool
    ) -> MeasuredStrings:
        """Launch ``measure_rows``, which writes the bytes of each tile and string column to `sums`.

        `utf8`: whether tiles with invalid UTF-8 are declined. The other parameters are those of `convert`.
        """
        tile, tiles = self._tuning.find.tile, self._structure.tiles
        program = measure_program(self._row_tuning(columns), self._tuning.find.threads, columns.has_null_words)
        marks, sizes = self._new_marks(-1), self._launcher.allocate(columns.sizes_bytes(tiles, tile))
        head = [self._text, self._structure.entries, table, sums, sizes, marks]
        self._launch(MEASURE_ROWS, program, [*head, self._structure.totals, all_columns, self._task(columns, utf8=utf8)])
        return MeasuredStrings(sums, sizes, marks)

    def add_far_fields(self, group: ColumnGroup, strings: MeasuredStrings) -> None:
        """Launch ``add_far_fields``, which adds strings of long records to those that the search has measured."""
        search = measuring(self._tuning, group, quoted=self._variant == "quoted")
        if search is None:
            return
        text, structure = self._text, self._structure
        head = [text, structure.entries, structure.totals, strings.sums, strings.sizes, strings.left]
        task = packed(TEXT_SIZES, text.nbytes, structure.tiles) + search.task
        shape = Shape(search.defines, -(-structure.tiles // search.threads), search.threads)
        self._launcher.launch(_ADD_FAR, shape, [*head, task, search.columns])

    def convert(
        self,
        columns: RowColumns,
        table: DeviceBuffer,
        all_columns: DeviceBuffer,
        strings: MeasuredStrings,
        *,
        counts: DeviceBuffer,
        left_fields: DeviceBuffer,
        capacity: int,
        faults: bytes,
        cleared: bool,
        validated_rows: DeviceBuffer | None = None,
    ) -> DeviceBuffer:
        """Launch ``convert_rows``.

        `columns`, `table`, `all_columns`: the columns, and their tables in device memory for this conversion and the general one.
        `strings`: Offsets of the strings. Tiles whose strings the fast kernel did not measure are declined.
        `counts`, `left_fields`, `capacity`: ConvertTotals, zeroed, and the list of LeftField that the kernel writes, with its
        capacity.
        `faults`: a FaultOutput as bytes, for malformed quotes that the DFA finds.
        `cleared`: whether all values are 0 (`ColumnGroup.group_sizes`).
        `validated_rows`: the word with the row count of a speculative launch (columns/convert/gpu/size_estimate.hpp); None if the
        host has counted the rows.
        Result: a word per tile, not 0 if it was declined: the general conversion converts it.
        """
        marks = self._new_marks(0)
        head = [self._text, self._structure.entries, table, strings.sums, strings.sizes, strings.left, marks]
        args = [self._structure.totals, validated_rows, counts, left_fields, capacity, all_columns]
        entry, more = (CONVERT_ROWS_BY_DFA, [faults]) if self.by_dfa else (CONVERT_ROWS, [])
        program = row_program(self._row_tuning(columns), columns.strings > 0, kinds_of(columns, self._dialect))
        self._launch(entry, program, [*head, *args, self._task(columns, cleared=cleared), *more])
        return marks

    def _new_marks(self, place: int) -> DeviceBuffer:
        """Return zeroed marks. Of those allocated with the search, the conversion takes the first, measuring the last."""
        return self._marks.pop(place) if self._marks else self._launcher.allocate(self._structure.tiles * 4, fill=0)

    def _row_tuning(self, columns: RowColumns) -> RowTuning:
        return self._tuning.of_rows(self._variant, strings=bool(columns.strings), width=columns.width)

    def _task(self, columns: RowColumns, *, utf8: bool = False, cleared: bool = False) -> bytes:
        assert self._reading is not None
        reading, dfa = self._reading[utf8], self._structure.dfa
        if cleared:
            reading = replace(reading, flags=reading.flags | RowsFlag.CLEARED)
        if self.by_dfa and dfa is not None:
            reading = replace(reading, dfa=pack_dfa(self._dialect, dfa))
        return columns.task(reading, self._text.nbytes, self._structure.tiles, self._tuning.find.tile)

    def _launch(self, entry: Entry, program: Program, args: list[Any]) -> None:
        defines, threads, shared = program
        self._launcher.launch(entry, Shape(defines, self._structure.tiles, threads, shared), args)


def halves_of(marks: DeviceBuffer, tiles: int) -> list[DeviceBuffer]:
    """Split a buffer of `declined` words into those of two launches."""
    return [BufferSlice(marks, begin, tiles * 4) for begin in (0, tiles * 4)]


def strings_of_search(
    structure: TileStructure, sums: DeviceBuffer, sizes: DeviceBuffer | None, marks: DeviceBuffer
) -> MeasuredStrings:
    """Return the sizes that the search has measured in these buffers; only `sums`, yet to be written, if it has not."""
    return (
        MeasuredStrings(sums, sizes, halves_of(marks, structure.tiles)[1])
        if structure.measured_strings
        else MeasuredStrings(sums)
    )
