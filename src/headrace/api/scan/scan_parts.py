"""Files as a sequence of parts, each a load of the records that begin in some MB of text.

A part begins where the one before stops, in the automaton's state there, and reads on to the end of its last record, as the tiles
of one load do: a record belongs to the part that its first byte is in, however long it is. So no byte of a text that can be read
anywhere is read twice but those ends, and rows do not depend on how the text is cut (ParPaRaw, section 4.4, carries the rest of a
record over; here the next part steps over it).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from headrace.api.load.prepared import Prepared
from headrace.api.options.csv_options import CsvOptions
from headrace.api.read.file_parts import FilePart
from headrace.api.read.planned_files import PlannedFiles
from headrace.api.report import Position
from headrace.api.scan.scanned_files import ScannedFile
from headrace.columns.column import Column
from headrace.columns.plan.load_plan import SECONDS_OF_PROGRESS, CutRecordError, Loaded, LoadPlan, Progress, TextPart, load
from headrace.columns.types import DataType
from headrace.core.errors import MemoryLimitError
from headrace.core.timeline import NoTimeline, Timeline
from headrace.sources.windows import TextWindows, Window
from headrace.structure.survey import record_begin

if TYPE_CHECKING:
    from headrace.columns.buffers.fetch_gpu import FetchShape

_AHEAD = 64 << 10
"""Read along with a window of a text that comes in order, so that the last record's end is nearly always there."""
LEAST_BYTES = 64 << 10
_ENDLESS = 1 << 62

Change = Callable[[LoadPlan], LoadPlan]


@dataclass(slots=True)
class Place:
    """How far a file has been read: the next byte, the automaton's state there, the end of the last record, records so far, and
    whether enough of them are read.
    """

    at: int
    end: int
    records: int = 0
    leading: int = 0
    state: int = 0
    is_done: bool = False


@dataclass(frozen=True, slots=True)
class BatchCut:
    """Bytes of a batch's text; where it is noted who works and who waits; how batches come back from a GPU, if not as usual, and
    whether all of them are held for a while (too long for pinned memory, which is to be used again).
    """

    nbytes: int
    timeline: Timeline = field(default_factory=NoTimeline)
    fetch: FetchShape | None = None
    holds_all: bool = False


class ScanParts:
    """The parts of planned files.

    Parameters
    ----------
    plans
        The files, and what is known of their columns.
    files
        The same files.
    options
        Of the call.
    cut
        The text of a part, and who notes the time. A part whose result does not fit the memory limit is halved.
    """

    def __init__(self, plans: PlannedFiles, files: list[ScannedFile], options: CsvOptions, cut: BatchCut) -> None:
        self._plans, self._files, self._options, self._cut = plans, files, options, cut
        self._told = time.perf_counter()

    def all(self, change: Change, start: Position | None = None, *, keep: bool = False) -> Iterator[FilePart]:
        """Load part after part, each by a plan that `change` may change; from `start` on; `keep`: more passes follow."""
        start = start or Position()
        earlier = start.earlier
        for number in range(start.file, len(self._files)):
            file = self._files[number]
            errors = file.errors() if len(self._files) > 1 else nullcontext()
            with file.windows(self._options, keep=keep) as text, errors:
                with file.opened() as opened:
                    prepared, plan = self._plans.plan(number, opened, earlier, limited=not file.comes_in_order)
                place = Place(plan.begin, plan.begin)
                if number == start.file and start.byte:
                    place = Place(start.byte, start.byte, start.record, leading_records(prepared, self._options))
                end = _ENDLESS if file.comes_in_order else plan.end
                while not place.is_done and place.at < end:
                    own = change(replace(plan, end=end, progress=self._progress(number, place.at)))
                    part = self._part(_Task(file, prepared, own, text, earlier), place)
                    part.is_last = place.is_done or place.at >= end
                    self._tell(number, place.at)
                    yield part
                earlier += place.records

    @property
    def copied_by(self) -> str:
        """Nobody copies the text to a GPU."""
        return ""

    def encoded(self, column: Column, given: DataType | None) -> Column:
        """A column of texts in the form that its type asks for."""
        return self._plans.encoded(column, given)

    def joined(self, parts: Sequence[Column], kind: DataType) -> Column:
        """Columns of this type below each other."""
        return self._plans.shared.join(parts, kind)[0]

    def _part(self, task: _Task, place: Place) -> FilePart:
        size = self._cut.nbytes
        while True:
            try:
                loaded, window = self._loaded(task, place, size)
                break
            except MemoryLimitError:
                if size <= LEAST_BYTES:
                    raise
                size //= 2
        part = FilePart(task.file, task.plan.share_columns, task.prepared, task.plan)
        part.take(loaded)
        if len(loaded.rejects["line"]):
            task.text.know_line(loaded.rejects["line_byte"][-1], loaded.rejects["line"][-1] - 1)
        place.records += loaded.counts["records"]
        place.leading += loaded.counts["leading"]
        place.state = loaded.reached.state
        if loaded.counts["records"] + loaded.counts["leading"] + loaded.counts["comment"]:
            place.end = self._behind_line_end(window, loaded.reached.end)
        part.reached = Position(place.end, place.records, task.plan.file, task.earlier)
        return part

    def _loaded(self, task: _Task, place: Place, size: int) -> tuple[Loaded, Window]:
        """Load a part from `place` on, which moves behind it."""
        ahead = _AHEAD
        while True:
            with self._cut.timeline.span("reader", "wait for text"):
                window = task.text.window(min(place.at, place.end), place.at + size + ahead)
            end = self._end(task, place, window)
            stop = min(place.at + size, end)
            plan = _plan_of(task, place, window, stop, end)
            self._plans.shared.native.renew_budget(plan.memory_limit)
            try:
                with self._cut.timeline.span("reader", "read and convert"):
                    loaded = load(window.source, self._options.dialect, plan)
            except CutRecordError:
                ahead += max(ahead, size)
                continue
            place.at = stop
            place.is_done = stop == end
            return loaded, window

    def _end(self, task: _Task, place: Place, window: Window) -> int:
        """Where the data ends, as far as the window shows it: of a text that comes in order nobody has looked yet for the last
        record that is wanted, and what is behind it has no say in types.
        """
        end = task.plan.end
        if window.is_last:
            end = min(end, window.base + window.source.size)
        limit = self._options.extent.n_rows
        if limit is None or not task.file.comes_in_order:
            return end
        index = leading_records(task.prepared, self._options) - place.leading + max(limit - task.earlier - place.records, 0)
        begin = place.end - window.base
        found = record_begin(window.source, self._options.dialect, begin, index, self._options.context)
        return min(end, window.base + found) if found < window.source.size else end

    def _behind_line_end(self, window: Window, end: int) -> int:
        """Behind the second byte of a line end whose first one ended the record, in the text."""
        if self._options.dialect.lineterminator is None:
            codec = window.source.codec
            line_end = "\r\n".encode(codec)
            half = len(line_end) // 2
            if end >= half and window.source.native.read(end - half, 2 * half) == line_end:
                end += half
        return window.base + end

    def _progress(self, number: int, at: int) -> Progress | None:
        """What a load tells of its part, as of the whole; what comes in order has no size."""
        tell = self._options.progress
        if tell is None:
            return None
        sizes = [0 if file.comes_in_order else file.size for file in self._files]
        before, total = sum(sizes[:number]) + at, sum(sizes)

        def told(done: int, _: int) -> None:
            self._told = time.perf_counter()
            tell(before + done, total)

        return told

    def _tell(self, number: int, at: int) -> None:
        """Parts may be too small to tell of themselves."""
        told = self._progress(number, at)
        if told is not None and time.perf_counter() - self._told > SECONDS_OF_PROGRESS:
            told(0, 0)


def leading_records(prepared: Prepared, options: CsvOptions) -> int:
    """Records of a file in front of its data."""
    beginning = prepared.beginning
    return (0 if beginning.header is None else beginning.leading + 1) + options.extent.skip_rows_after_header


@dataclass(frozen=True, slots=True)
class _Task:
    """What is to be loaded of a file that `earlier` records of others come before."""

    file: ScannedFile
    prepared: Prepared
    plan: LoadPlan
    text: TextWindows
    earlier: int


def _plan_of(task: _Task, place: Place, window: Window, stop: int, end: int) -> LoadPlan:
    """The plan of one part, in bytes of its window."""
    plan, base = task.plan, window.base
    part = TextPart(
        stop=stop - base,
        state=place.state,
        records=place.records,
        bytes=base,
        lines=window.lines,
        line_begin=window.line_begin,
        is_more=not window.is_last,
    )
    index = None if plan.row_index is None else plan.row_index + place.records
    return replace(
        plan,
        begin=place.at - base,
        end=end - base,
        data_begin=max(plan.data_begin - base, 0),
        row_index=index,
        part=part,
    )
