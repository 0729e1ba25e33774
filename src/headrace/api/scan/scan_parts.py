"""Drives a scan: files one after the other, each as a sequence of parts that a subclass loads on its device."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headrace.api.load.prepared import Prepared
from headrace.api.options.csv_options import CsvOptions
from headrace.api.read.file_parts import FilePart
from headrace.api.read.planned_files import PlannedFiles
from headrace.api.report import Position
from headrace.api.scan.scanned_files import ScannedFile
from headrace.columns.buffers.load_result import Loaded
from headrace.columns.column import Column
from headrace.columns.placement import moved_all
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.types import DataType
from headrace.core.errors import OptionError
from headrace.core.process.timeline import NoTimeline, Timeline
from headrace.sources.open import OpenSource
from headrace.sources.stream import LineCount, TextStream

if TYPE_CHECKING:
    from headrace.columns.buffers.fetch_gpu import FetchShape
    from headrace.core.expressions.column_expression import ColumnExpression

MIN_PART_BYTES = 64 << 10  # size below which a part is not halved when memory runs out

Change = Callable[[LoadPlan], LoadPlan]


@dataclass(frozen=True, slots=True)
class BatchCut:
    """The cut of a text into batches."""

    nbytes: int  # bytes of text in a batch
    timeline: Timeline = field(default_factory=NoTimeline)  # records which thread works and which waits
    fetch: FetchShape | None = None  # way of batches back from a GPU; None for the usual one
    holds_all: bool = False  # True if all batches are kept for some time. Pinned memory, which is reused, is then not suitable.


@dataclass(slots=True)
class FileReading:
    """A file that is being read, and the progress."""

    number: int
    file: ScannedFile
    prepared: Prepared
    plan: LoadPlan
    text: TextStream  # the file, and how it is loaded
    earlier: int  # records of the files before it
    begin: int  # byte at which the first part begins
    records: int = 0
    leading: int = 0  # records already read: data, and those before the data (names, skipped ones)

    def last_wanted(self, options: CsvOptions) -> int | None:
        """Return the index, from the current position, of the first record that ``n_rows`` excludes.

        It is None without a limit, and if the plan already ends there: only a text that comes in order has not been searched.
        """
        limit = options.extent.n_rows
        if limit is None or not self.file.comes_in_order:
            return None
        return leading_records(self.prepared, options) - self.leading + max(limit - self.earlier - self.records, 0)

    def add(self, loaded: Loaded) -> FilePart:
        """Return the result of a load as a part of the file, and count its records and lines."""
        part = FilePart(self.file, self.plan.share_columns, self.prepared, self.plan)
        part.take(loaded)
        self.records += loaded.counts["records"]
        self.leading += loaded.counts["leading"]
        if len(loaded.rejects["line"]):
            self.text.note_lines(LineCount(loaded.rejects["line"][-1] - 1, loaded.rejects["line_byte"][-1]))
        return part

    def position(self, byte: int) -> Position:
        """Return the position in the scan at a byte of the file."""
        return Position(byte, self.records, self.number, self.earlier)


class ScanParts(ABC):
    """The parts of planned files.

    `cut`: size of a part. A part whose result does not fit the memory limit is halved.
    """

    def __init__(self, plans: PlannedFiles, files: list[ScannedFile], options: CsvOptions, cut: BatchCut) -> None:
        self._plans, self._files, self._options, self._cut = plans, files, options, cut
        self.prepared: dict[int, Prepared] = {}
        """The decisions for each file that was opened, by its index. Such a file may have no part."""

    def all(self, change: Change, start: Position | None = None, *, keep: bool = False) -> Iterator[FilePart]:
        """Load part after part.

        `change`: returns the plan of a part, given that of its file.
        `start`: position at which to begin; None for the beginning.
        `keep`: whether another pass over the text follows.
        """
        start = start or Position()
        if start.file >= len(self._files):
            raise OptionError(f"resume is in file {start.file}, counted from 0, but there are {len(self._files)} files")
        earlier = start.earlier
        for number in range(start.file, len(self._files)):
            file = self._files[number]
            with file.opened() as source, file.errors():
                prepared, plan = self._plans.plan(number, source, earlier, limited=not file.comes_in_order)
                self.prepared[number] = prepared
                with closing(file.text(source, plan.end, self._options, keep=keep)) as text:
                    reading = FileReading(number, file, prepared, plan, text, earlier, plan.begin)
                    if number == start.file and start.byte:
                        reading.begin, reading.records = start.byte, start.record
                        reading.leading = leading_records(prepared, self._options)
                        text.skip(start.byte)
                    yield from self._parts(reading, change, source)
                earlier += reading.records

    @abstractmethod
    def _parts(self, reading: FileReading, change: Change, source: OpenSource) -> Iterator[FilePart]:
        """Load the parts of a file."""

    @property
    def is_on_host(self) -> bool:
        """True if the batches are in host memory."""
        return True

    @property
    def copied_by(self) -> str:
        """Description of what copies the text to a GPU; empty if nothing does, or has yet."""
        return ""

    def encoded(self, column: Column, given: DataType | None) -> Column:
        """Return a column of strings in the form that its type asks for."""
        return self._plans.encoded(column, given)

    def filtered(self, columns: Mapping[str, Column], where: ColumnExpression) -> dict[str, Column]:
        """Return the rows for which a condition is true, in the memory that they are in."""
        from headrace.arrange.filter.filter import filter_columns  # needs NumPy

        context = self._options.context
        if cards := {column.device for column in columns.values() if column.device.kind != "cpu"}:
            columns = moved_all(columns, cards.pop(), context)  # columns of paths are in host memory
        return filter_columns(columns, where, context)

    def joined(self, parts: Sequence[Column], kind: DataType) -> Column:
        """Concatenate columns of type `kind`."""
        return self._plans.shared.join(parts, kind)[0]


def leading_records(prepared: Prepared, options: CsvOptions) -> int:
    """Return the number of records of a file that precede its data."""
    beginning = prepared.beginning
    return (0 if beginning.header is None else beginning.leading + 1) + options.extent.skip_rows_after_header
