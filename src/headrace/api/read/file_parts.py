"""Holds the state of each file in a read of several: its first records, its loaded columns, its report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Any

from headrace.api.load.prepared import Prepared
from headrace.api.load.read_report import skipped_records
from headrace.api.options.csv_options import CsvOptions
from headrace.api.report import FileReport, Position, Report, Skipped
from headrace.columns.buffers.load_result import Loaded
from headrace.columns.column import Column
from headrace.columns.finish.header_faults import with_header_count, with_header_faults
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.records.data_range import DataStart, find_data_start
from headrace.columns.types import DataType
from headrace.core.context import Context
from headrace.core.device import Device
from headrace.core.errors import ParseError
from headrace.sources.open import SourceLike, SourceOptions
from headrace.sources.reopen import ReopenedSource, SharedResources


class SourceFile(ReopenedSource):
    """One of several sources, and the beginning of its text."""

    is_only = False  # True for the only source of a call that takes one: errors do not name it

    def __init__(self, number: int, source: SourceLike, options: SourceOptions, keeping: SharedResources) -> None:
        super().__init__(number, source, options, keeping)
        self.size = 0
        self.beginning = DataStart(begin=0, lines=0, first=None)
        self.device: Device | None = None  # the GPU that the text is on; None for a text on the host

    def look(self, options: CsvOptions) -> None:
        """Find the first record."""
        with self.opened() as source:
            self.size = source.size
            self.device = None if source.on_gpu is None else source.on_gpu.device
            self.beginning = find_data_start(source, options.dialect, options.extent, options.context)

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Add the name of the file to errors of its data."""
        try:
            yield
        except ParseError as error:
            raise error if self.is_only else error.in_source(self.name) from None


@dataclass(slots=True)
class FilePart:
    """The rows of a file, or of a part of it."""

    file: SourceFile
    places: tuple[int, ...]  # positions of the file's columns among those of the table
    prepared: Prepared
    plan: LoadPlan  # the decisions made before the load, and the plan of the load
    rows: int = 0  # number of rows
    columns: Sequence[Column | None] = ()
    """Loaded columns; None for those that are not read, or were released."""
    described: Sequence[tuple[DataType, int] | None] = ()  # type and number of nulls of each column that was read
    row_index: Column | None = None  # column of the row index, if there is one
    rejects: Mapping[str, Column] = field(default_factory=dict)  # columns of the table of faults
    rejected: bytes = b""  # numbers of the rejected records, as 64-bit words
    counts: Mapping[str, int] = field(default_factory=dict)  # native counts of records
    passes: int = 0  # number of passes over the text, over all loads of the file
    replaced: int = 0  # number of strings with U+FFFD
    left_out: int = 0  # number of records that a condition left out before their other columns were converted
    loaded_as: list[DataType] | None = None  # types that the columns were loaded with; None before the first load
    reached: Position | None = None  # end of the part in the file
    is_last: bool = True  # True if no part of the file follows

    def take(self, loaded: Loaded) -> None:
        """Store the result of a load."""
        self.rows = loaded.counts["rows"]
        self.columns = loaded.columns
        self.described = loaded.descriptions()
        self.row_index = loaded.row_index
        self.rejects = loaded.rejects
        self.rejected = loaded.rejected_records
        self.counts = loaded.counts
        self.passes += loaded.counts["passes"]
        self.replaced = sum(loaded.replaced)
        self.left_out = loaded.left_out

    def add_header_faults(self, context: Context) -> None:
        """Put the faults of the file's header before the others."""
        self.rejects = with_header_faults(self.rejects, self.prepared.beginning, context)
        self.counts = with_header_count(self.counts, self.prepared.beginning)

    def report(self) -> FileReport:
        """Return the counts of the file."""
        skipped = skipped_records(self.prepared, self.counts)
        records = self.counts["records"] + skipped.total
        return FileReport(self.file.name, self.file.size, records, self.rows, self.counts["rejected"], skipped)

    def is_stale(self, types: list[DataType]) -> bool:
        """Return whether a column has values, and another type than that of all files."""
        return any(not same_type(kind, types[place]) for place, kind in self.valued_types())

    def valued_types(self) -> Iterator[tuple[int, DataType]]:
        """Yield the position in the table and the type of each column that has a value. No column is made for it."""
        for place, described in zip(self.places, self.described, strict=True):
            if described is not None and described[1] < self.rows:
                yield place, described[0]

    def give(self, position: int | None, kind: DataType) -> int | Column:
        """Return this part of a column, and release it; or the number of rows if all of them are null there."""
        if position is None:
            return self.rows
        if not isinstance(self.columns, list):
            self.columns = list(self.columns)  # all are made, so that each can be released
        column, self.columns[position] = self.columns[position], None
        return column if column is not None and same_type(column.type, kind) else self.rows

    def rejected_records(self) -> list[int]:
        """Return the numbers of the rejected records, ascending."""
        return memoryview(self.rejected).cast("Q").tolist()


def file_of_row(parts: Sequence[FilePart], row: int) -> int:
    """Return the index of the file that a row of the table comes from."""
    end = 0
    for number, part in enumerate(parts):
        end += part.rows
        if row < end:
            return number
    raise IndexError(f"row {row} of {end}")


def report_of(parts: Sequence[FilePart], options: CsvOptions, whole: Mapping[str, Any]) -> Report:
    """Return the report of all files; `whole` has the fields that concern the table as a whole."""
    files = tuple(part.report() for part in parts)
    skipped = {one.name: sum(getattr(file.skipped, one.name) for file in files) for one in fields(Skipped)}
    return Report(
        bytes=sum(file.bytes for file in files),
        records=sum(file.records for file in files),
        rows=sum(file.rows for file in files),
        rejected=sum(file.rejected for file in files),
        skipped=Skipped(**skipped),
        unread_bytes=sum(part.prepared.extent.unread for part in parts),
        filled=sum(part.counts["filled"] for part in parts),
        replaced=sum(part.replaced for part in parts),
        passes=max(part.passes for part in parts),
        threads=options.context.thread_count,
        isa=options.context.isa_name,
        crossings=options.context.crossings,
        files=files,
        notes=options.notes,
        **whole,
    )


def same_type(first: DataType, second: DataType) -> bool:
    """Return whether columns of both types can be concatenated."""
    return first == second or (first.is_string and second.is_string) or (first.is_binary and second.is_binary)
