"""The parts of a scan on a GPU: while one is converted, the next is read and copied in.

A part ends where a record does (split_points.py), so that nothing is carried over: its text goes from the file through pinned
memory into one of two buffers of the card, on a thread and a stream of their own. In ParPaRaw's terms (section 4.4), T(p) is
that copy, P(p) the conversion and R(p) the way back; there is no K(p), as a part holds whole records. What is ordered:

    T(p) behind P(p-2), which read the buffer       the buffer's event `read`, which the copying stream waits for
    P(p) behind T(p)                                its event `filled`, which the converting stream waits for
    R(p) behind P(p)                                the converting stream's own order
    P(p) behind R(p-2)                              needs nothing: each part's columns have memory of their own
    T(p) behind T(p-1), R(p) behind R(p-1)          the streams' own order
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace

from headrace.api.load.prepared import Prepared
from headrace.api.load.reading import wanted_device
from headrace.api.options.csv_options import CsvOptions
from headrace.api.read.file_parts import FilePart
from headrace.api.read.planned_files import PlannedFiles
from headrace.api.report import Position
from headrace.api.scan.scan_parts import BatchCut, Change, leading_records
from headrace.api.scan.scan_sender import Sender, Sent, TextBuffers
from headrace.api.scan.scanned_files import ScannedFile
from headrace.columns.column import Column
from headrace.columns.convert.gpu.target import USUAL_SHAPE, GpuShape, Place, by_steps
from headrace.columns.load.gpu.load_text import View, load_part, view_for
from headrace.columns.plan.load_plan import CutRecordError, Loaded, LoadPlan, TextPart, native_errors
from headrace.columns.types import DataType
from headrace.core.errors import MemoryLimitError
from headrace.gpu.kernels.launcher import GpuLauncher, Launcher, Part
from headrace.sources.kept_text import Text
from headrace.sources.open import OpenSource
from headrace.structure.survey import record_begin

MakeBuffers = Callable[[OpenSource], TextBuffers]


def why_not(files: Sequence[ScannedFile], options: CsvOptions) -> str:
    """Why a text cannot be scanned on a GPU; empty if it can.

    Whether a lenient quote opens a field may hang on all that follows, so that such a text is cut only where nothing does, and
    nobody looks for that in other encodings or among escaped bytes.
    """
    if not options.dialect.lenient_quotes:
        return ""
    if options.dialect.escape_char is not None:
        return "lenient quotes and escaped bytes"
    for file in files:
        with file.opened() as source:
            if source.codec != "utf-8":
                return f"lenient quotes in {source.codec}"
    return ""


@dataclass(slots=True)
class _Reading:
    """A file that is read, and how far."""

    number: int
    file: ScannedFile
    prepared: Prepared
    plan: LoadPlan
    text: Text
    earlier: int
    records: int = 0
    leading: int = 0


class GpuParts:
    """As `ScanParts`.

    Parameters
    ----------
    plans, files, options, cut
        As for `ScanParts`. A part for which there is not memory enough comes again in halves, and those behind it are as small.
    buffers
        Makes the buffers of one pass over a source; None for those of the context's card.
    shape
        Of the kernels.
    view
        Makes what shows rooms of a launcher to the native readers; None for a card's.
    """

    def __init__(
        self,
        plans: PlannedFiles,
        files: list[ScannedFile],
        options: CsvOptions,
        cut: BatchCut,
        *,
        buffers: MakeBuffers | None = None,
        shape: GpuShape | None = None,
        view: Callable[[Launcher], View] | None = None,
    ) -> None:
        self._plans, self._files, self._options, self._cut = plans, files, options, cut
        self._shape = shape or USUAL_SHAPE
        self._make_buffers, self._view = buffers or self._buffers_of_card, view or self._view_of_card
        self._launcher: Launcher | None = None
        self._buffers: TextBuffers | None = None

    def all(self, change: Change, start: Position | None = None, *, keep: bool = False) -> Iterator[FilePart]:
        """As `ScanParts.all`."""
        start = start or Position()
        earlier = start.earlier
        for number in range(start.file, len(self._files)):
            file = self._files[number]
            errors = file.errors() if len(self._files) > 1 else nullcontext()
            with file.opened() as source, errors, closing(self._make_buffers(source)) as buffers:
                self._buffers = buffers
                prepared, plan = self._plans.plan(number, source, earlier, limited=not file.comes_in_order)
                with closing(file.text(source, plan.end, self._options, keep=keep)) as text:
                    reading = _Reading(number, file, prepared, plan, text, earlier)
                    begin = plan.begin
                    if number == start.file and start.byte:
                        begin, reading.records = start.byte, start.record
                        reading.leading = leading_records(prepared, self._options)
                        text.skip(begin)
                    with closing(Sender(text, self._options.dialect, buffers, begin, self._cut)) as sender:
                        yield from self._parts(reading, change, sender, buffers)
                earlier += reading.records

    @property
    def copied_by(self) -> str:
        """As `Parts.copied_by`."""
        return "" if self._buffers is None else self._buffers.copied_by

    def encoded(self, column: Column, given: DataType | None) -> Column:
        """A column of texts in the form that its type asks for, where it lies."""
        if self._launcher is None or column.device.kind == "cpu":
            return self._plans.encoded(column, given)
        from headrace.encode.texts_gpu import encoded_on_gpu  # seldom needed

        with self._launcher.current():
            return encoded_on_gpu(self._launcher, column, given, self._options.values.text_type)

    def joined(self, parts: Sequence[Column], kind: DataType) -> Column:
        """Columns of this type below each other, where they lie."""
        if self._launcher is None or not parts or any(part.device.kind == "cpu" for part in parts):
            return self._plans.shared.join(parts, kind)[0]
        from headrace.columns.finish.gpu.concat import join_on_gpu  # seldom needed

        with self._launcher.current():
            return join_on_gpu(self._launcher, parts, kind)[0]

    def _parts(self, reading: _Reading, change: Change, sender: Sender, buffers: TextBuffers) -> Iterator[FilePart]:
        """The parts of a file."""
        is_done = False
        while not is_done and (found := self._next(reading, change, sender, buffers)) is not None:
            sent, loaded = found
            with native_errors():
                reading.text.check()
            reading.records += loaded.counts["records"]
            reading.leading += loaded.counts["leading"]
            part = FilePart(reading.file, reading.plan.share_columns, reading.prepared, reading.plan)
            part.take(loaded)
            part.reached = Position(sent.part.stop, reading.records, reading.number, reading.earlier)
            if len(loaded.rejects["line"]):
                reading.text.know_line(loaded.rejects["line"][-1] - 1, loaded.rejects["line_byte"][-1])
            reading.text.let_go(sent.part.stop)
            if self._options.progress is not None:
                self._options.progress(sent.part.stop, 0 if reading.file.comes_in_order else reading.file.size)
            is_done = sent.is_last
            part.is_last = is_done or sent.part.stop >= reading.plan.end
            yield part

    def _next(self, reading: _Reading, change: Change, sender: Sender, buffers: TextBuffers) -> tuple[Sent, Loaded] | None:
        """The next part, loaded; None behind the last."""
        ask = sender.next
        while True:
            try:
                with native_errors():
                    sent = ask()
                if sent is None:
                    return None
                return self._load(reading, change, sent, buffers)
            except CutRecordError:
                ask = sender.again
            except MemoryLimitError:
                if sender.is_smallest:
                    raise
                ask = sender.smaller

    def _load(self, reading: _Reading, change: Change, sent: Sent, buffers: TextBuffers) -> tuple[Sent, Loaded]:
        """The columns of a part, and what of it was read.

        Raises
        ------
        CutRecordError
            It does not end where a record does.
        """
        try:
            with self._cut.timeline.span("converter", "wait for text"), native_errors():
                self._launcher = buffers.hold(sent.room)
            text = Part(sent.room, -sent.part.start, sent.part.stop)
            place = Place(self._launcher, text, self._shape, self._device)
            source = reading.text.source(sent.part.stop)
            asked = self._limited(reading, sent, source)
            with self._cut.timeline.span("converter", "convert"), self._launcher.current():
                plan = self._plan_of(reading, change, asked)
                loaded = load_part(place, source, self._options.dialect, plan, self._view(self._launcher))
                if loaded.by_steps:  # then the following parts are not read twice
                    self._shape = by_steps(self._shape)
                return asked, loaded
        finally:
            buffers.free(sent.room)

    def _limited(self, reading: _Reading, sent: Sent, source: OpenSource) -> Sent:
        """The part, up to the last record that is wanted: of a text that comes in order nobody has looked for that yet."""
        limit = self._options.extent.n_rows
        if limit is None or not reading.file.comes_in_order:
            return sent
        leading = leading_records(reading.prepared, self._options)
        index = leading - reading.leading + max(limit - reading.earlier - reading.records, 0)
        stop = record_begin(source, self._options.dialect, sent.part.start, index, self._options.context)
        return replace(sent, part=range(sent.part.start, stop), is_last=True) if stop < sent.part.stop else sent

    def _plan_of(self, reading: _Reading, change: Change, sent: Sent) -> LoadPlan:
        plan, part = reading.plan, sent.part
        lines, line_begin = reading.text.lines(part.start)
        told = TextPart(stop=part.stop, records=reading.records, lines=lines, line_begin=line_begin, is_more=not sent.is_last)
        index = None if plan.row_index is None else plan.row_index + reading.records
        return replace(change(plan), begin=part.start, end=part.stop, row_index=index, part=told)

    @property
    def _device(self) -> str:
        return str(self._options.context.device)

    def _buffers_of_card(self, source: OpenSource) -> TextBuffers:
        from headrace.sources.text_buffers import CardBuffers, TextInPlace

        wanted_device(source, self._options)  # another GPU than the text's is an error
        if source.on_gpu is not None and source.is_far:
            return TextInPlace(source.on_gpu, self._options.context)
        return CardBuffers(self._options.context)

    def _view_of_card(self, launcher: Launcher) -> View:
        assert isinstance(launcher, GpuLauncher)
        return view_for(launcher, self._options.context.device)
