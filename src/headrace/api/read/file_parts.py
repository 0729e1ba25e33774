"""One file among several: where its text begins, what its load gave, and the account of all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Any

from headrace.api.load.prepared import Prepared
from headrace.api.load.reading import skipped_records
from headrace.api.options.csv_options import CsvOptions
from headrace.api.report import FileReport, Position, Report, Skipped
from headrace.columns.column import Column
from headrace.columns.faults.header_faults import with_header_faults
from headrace.columns.plan.load_plan import Loaded, LoadPlan
from headrace.columns.records.data_range import Beginning, find_beginning
from headrace.columns.types import DataType
from headrace.core.context import Context
from headrace.core.device import Device
from headrace.core.errors import ParseError
from headrace.sources.open import SourceLike, SourceOptions
from headrace.sources.reopen import Keeping, ReopenedSource


class SourceFile(ReopenedSource):
    """One of the sources, and where its text begins."""

    def __init__(self, number: int, source: SourceLike, options: SourceOptions, keeping: Keeping) -> None:
        super().__init__(number, source, options, keeping)
        self.size = 0
        self.beginning = Beginning(begin=0, lines=0, first=None)
        self.device: Device | None = None  # that the text lies on, if that is a GPU

    def look(self, options: CsvOptions) -> None:
        """Find the first record."""
        with self.opened() as source:
            self.size = source.size
            self.device = None if source.on_gpu is None else source.on_gpu.device
            self.beginning = find_beginning(source, options.dialect, options.extent, options.context)

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Errors of the data with the file's name."""
        try:
            yield
        except ParseError as error:
            raise error.in_source(self.name) from None


@dataclass(slots=True)
class FilePart:
    """A file's share of the table, or a part of it that ends where `reached` says; `is_last`: no part of the file follows."""

    file: SourceFile
    places: tuple[int, ...]
    prepared: Prepared
    plan: LoadPlan
    rows: int = 0
    columns: list[Column | None] = field(default_factory=list)
    row_index: Column | None = None
    rejects: Mapping[str, Column] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    passes: int = 0
    replaced: int = 0
    loaded_as: list[DataType] | None = None
    reached: Position | None = None
    is_last: bool = True

    def take(self, loaded: Loaded) -> None:
        """Keep what a load gave."""
        self.rows = loaded.counts["rows"]
        self.columns = list(loaded.columns)
        self.row_index = loaded.row_index
        self.rejects = loaded.rejects
        self.counts = loaded.counts
        self.passes += loaded.counts["passes"]
        self.replaced = sum(loaded.replaced)

    def add_header_faults(self, context: Context) -> None:
        """Put the faults of the file's header above the others."""
        self.rejects = with_header_faults(self.rejects, self.prepared.beginning, context)

    def report(self) -> FileReport:
        """Account of the file."""
        skipped = skipped_records(self.prepared, self.counts)
        records = self.counts["records"] + skipped.total
        return FileReport(self.file.name, self.file.size, records, self.rows, self.counts["rejected"], skipped)

    def is_stale(self, types: list[DataType]) -> bool:
        """Whether a column has values of another type than all files together."""
        return any(
            column is not None and column.null_count < self.rows and not same_type(column.type, types[place])
            for place, column in zip(self.places, self.columns, strict=True)
        )

    def give(self, position: int | None, kind: DataType) -> int | Column:
        """The part of a column, which is let go of; nulls where the file lacks it, or has nothing else in it."""
        if position is None:
            return self.rows
        column, self.columns[position] = self.columns[position], None
        return column if column is not None and same_type(column.type, kind) else self.rows

    def rejected_records(self) -> list[int]:
        """Numbers of the records that are no rows, ascending."""
        pairs = zip(self.rejects["record"].to_pylist(), self.rejects["kept"].to_pylist(), strict=True)
        return sorted({record for record, kept in pairs if not kept})


def file_of_row(parts: Sequence[FilePart], row: int) -> int:
    """Number of the file that a row of the table is from."""
    end = 0
    for number, part in enumerate(parts):
        end += part.rows
        if row < end:
            return number
    raise IndexError(f"row {row} of {end}")


def report_of(parts: Sequence[FilePart], options: CsvOptions, whole: Mapping[str, Any]) -> Report:
    """Account of all files; `whole` is what is said of the table as a whole: columns, faults, seconds and so on."""
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
        **whole,
    )


def same_type(first: DataType, second: DataType) -> bool:
    """Whether columns of both can be joined."""
    return first == second or (first.is_string and second.is_string) or (first.is_binary and second.is_binary)
