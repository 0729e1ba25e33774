"""Loads the parts of a scan on the host's threads.

A part begins where the previous one ends, in the automaton's state there. It reads on to the end of its last record, as a tile
of a load does. A record belongs to the part that contains its first byte, however long it is. Only the bytes between a part's end
and the end of its last record are read twice. If these would fill a part, the next part begins after them. Rows do not depend on
how the text is cut. ParPaRaw (section 4.4) instead carries the rest of a record over to the next part.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from headrace import _native
from headrace.api.options.csv_options import CsvOptions
from headrace.api.read.file_parts import FilePart
from headrace.api.read.planned_files import PlannedFiles
from headrace.api.scan.scan_parts import MIN_PART_BYTES, BatchCut, Change, FileReading, ScanParts, leading_records
from headrace.api.scan.scanned_files import ScannedFile, check_held
from headrace.columns.buffers.load_result import CutRecordError, Loaded
from headrace.columns.load.load import load
from headrace.columns.plan.load_plan import LoadPlan, TextPart
from headrace.columns.plan.load_run import PROGRESS_SECONDS, LoadRun, Progress
from headrace.core.errors import MemoryLimitError
from headrace.query.find.record_condition import RecordCondition
from headrace.sources.open import OpenSource
from headrace.sources.stream import LineCount, Window
from headrace.structure.find import DEFAULT_TILE_BYTES
from headrace.structure.survey import record_begin

_LOOKAHEAD_BYTES = 64 << 10
"""Read together with a window of a text that comes in order; it nearly always contains the end of the last record."""
_UNBOUNDED = 1 << 62


@dataclass(slots=True)
class _Cursor:
    at: int  # the next byte to read
    end: int  # end of the last record
    state: int = 0  # state of the automaton at `at`
    is_done: bool = False  # True if the last wanted record has been read
    starts_at_line: bool = False  # True if lines are counted up to the next record of data


class CpuParts(ScanParts):
    """The parts of planned files, loaded on the host."""

    def __init__(self, plans: PlannedFiles, files: list[ScannedFile], options: CsvOptions, cut: BatchCut) -> None:
        super().__init__(plans, files, options, cut)
        self._last_progress = time.perf_counter()
        self._records: RecordCondition | None = None
        self._searched: set[int] = set()  # files whose tiles were searched on a GPU
        self._filter: _native.RecordFilter | None = None
        self._dropped: _native.DroppedTiles | None = None

    def choose(self, records: RecordCondition) -> None:
        """Load the records for which a condition is true only."""
        self._records = records
        self._filter, self._dropped = records.native(self._options.context.isa), _native.DroppedTiles()

    def _parts(self, reading: FileReading, change: Change, source: OpenSource) -> Iterator[FilePart]:
        self._search_in_place(reading, source)
        cursor = _Cursor(reading.begin, reading.begin)
        if not reading.file.comes_in_order and reading.begin == reading.plan.begin:
            self._note_first_line(reading, source)
            cursor.starts_at_line = True
        end = _UNBOUNDED if reading.file.comes_in_order else reading.plan.end
        while not cursor.is_done and cursor.at < end:
            plan = change(replace(reading.plan, end=end))
            part = self._part(reading, plan, cursor)
            part.is_last = cursor.is_done or cursor.at >= end
            self._report_progress(reading.number, cursor.at)
            yield part

    def _search_in_place(self, reading: FileReading, source: OpenSource) -> None:
        """Find the tiles without a wanted record on the GPU that has the text, so that they are not copied to the host."""
        patterns = self._records.alternatives if self._records is not None else ()
        if not patterns or self._dropped is None or not source.is_in_gpu_memory:
            return
        if source.codec != "utf-8" or self._cut.nbytes % DEFAULT_TILE_BYTES:
            return
        reading.plan = replace(reading.plan, tile_bytes=DEFAULT_TILE_BYTES)
        if reading.number in self._searched:
            return
        self._searched.add(reading.number)
        from headrace.api.scan.tiles_on_gpu import drop_on_gpu  # needs the packages of a GPU

        with suppress(MemoryLimitError):
            drop_on_gpu(source, self._options, reading.plan, patterns, self._dropped)

    def _note_first_line(self, reading: FileReading, source: OpenSource) -> None:
        """Count the lines before the first record of data. If records are lines, no others have to be counted."""
        leading = leading_records(reading.prepared, self._options)
        first = record_begin(source, self._options.dialect, reading.begin, leading, self._options.context)
        lines = _native.line_numbers(source.native, [first], 1, 0)[0] - 1
        reading.text.note_lines(LineCount(lines, first))

    def _part(self, reading: FileReading, plan: LoadPlan, cursor: _Cursor) -> FilePart:
        size = self._cut.nbytes
        while True:
            try:
                loaded, window = self._load(reading, plan, cursor, size)
                break
            except MemoryLimitError:
                if size <= MIN_PART_BYTES:
                    raise
                size //= 2
        part = reading.add(loaded)
        cursor.state = loaded.reached.state
        if loaded.counts["records"] + loaded.counts["leading"] + loaded.counts["comment"]:
            cursor.end = self._after_line_end(window, loaded.reached.end)
        cursor.starts_at_line &= loaded.reached.by_lines
        if cursor.starts_at_line and loaded.counts["records"]:
            reading.text.note_lines(LineCount(window.count.lines + loaded.counts["records"], cursor.end))
        if cursor.end >= cursor.at + size:
            cursor.at, cursor.state = cursor.end, 0  # no record begins in the parts that the last record contains
        part.reached = reading.position(cursor.end)
        return part

    def _load(self, reading: FileReading, plan: LoadPlan, cursor: _Cursor, size: int) -> tuple[Loaded, Window]:
        """Load the part at the cursor, and move the cursor to its end."""
        lookahead = _LOOKAHEAD_BYTES
        while True:
            with self._cut.timeline.span("reader", "wait for text"):
                window = reading.text.window(min(cursor.at, cursor.end), cursor.at + size + lookahead)
            end = self._end(reading, plan, cursor, window)
            stop = min(cursor.at + size, end)
            part_plan = _plan_of(replace(plan, end=end), reading.records, cursor, window, stop)
            progress = self._progress(reading.number, cursor.at)
            run = LoadRun(progress, self._plans.shared.native, filter=self._filter, dropped=self._dropped)
            self._plans.shared.native.renew_budget(part_plan.memory_limit)
            try:
                with self._cut.timeline.span("reader", "read and convert"):
                    loaded = self._loaded(window.source, part_plan, run)
            except CutRecordError:
                check_held(lookahead, self._options, window.source.name)
                lookahead += max(lookahead, size)
                continue
            cursor.at = stop
            cursor.is_done = stop == end
            return loaded, window

    def _loaded(self, source: OpenSource, plan: LoadPlan, run: LoadRun) -> Loaded:
        return load(source, self._options.dialect, plan, run)

    def _end(self, reading: FileReading, plan: LoadPlan, cursor: _Cursor, window: Window) -> int:
        """Return the end of the data, as far as the window shows it.

        A text that comes in order is searched here for the last record that is wanted: what follows must not influence types.
        """
        end = plan.end
        if window.is_last:
            end = min(end, window.base + window.source.size)
        index = reading.last_wanted(self._options)
        if index is None:
            return end
        begin = cursor.end - window.base
        found = record_begin(window.source, self._options.dialect, begin, index, self._options.context)
        return min(end, window.base + found) if found < window.source.size else end

    def _after_line_end(self, window: Window, end: int) -> int:
        """Return the offset in the text of `end`; of the byte after CR LF, if the record ended between the two."""
        if self._options.dialect.lineterminator is None:
            codec = window.source.codec
            line_end = "\r\n".encode(codec)
            half = len(line_end) // 2
            if end >= half and window.source.native.read(end - half, 2 * half) == line_end:
                end += half
        return window.base + end

    def _progress(self, number: int, at: int) -> Progress | None:
        """Return a function that reports the progress of a part as that of the scan. A text in order counts as size 0."""
        report = self._options.progress
        if report is None:
            return None
        sizes = [0 if file.comes_in_order else file.size for file in self._files]
        before, total = sum(sizes[:number]) + at, sum(sizes)

        def report_part(done: int, _: int) -> None:
            self._last_progress = time.perf_counter()
            report(before + done, total)

        return report_part

    def _report_progress(self, number: int, at: int) -> None:
        """Report progress between parts, which may be too small to report by themselves."""
        report = self._progress(number, at)
        if report is not None and time.perf_counter() - self._last_progress > PROGRESS_SECONDS:
            report(0, 0)


def _plan_of(plan: LoadPlan, records: int, cursor: _Cursor, window: Window, stop: int) -> LoadPlan:
    """Return the plan of the part from the cursor to `stop`, in offsets of its window; `plan` is in offsets of the text."""
    base = window.base
    part = TextPart(
        stop=stop - base,
        state=cursor.state,
        records=records,
        bytes=base,
        lines=window.count.lines,
        line_begin=window.count.byte,
        starts_at_line=cursor.starts_at_line,
        is_more=not window.is_last,
    )
    return replace(
        plan,
        begin=cursor.at - base,
        end=plan.end - base,
        data_begin=max(plan.data_begin - base, 0),
        row_index=None if plan.row_index is None else plan.row_index + records,
        part=part,
    )
