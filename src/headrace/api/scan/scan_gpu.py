"""Loads the parts of a scan on a GPU: while one part is converted, the next is read and copied in.

A part ends where a record does (split_points.py), so nothing is carried over. Its text goes from the source through pinned memory
into one of two GPU buffers, on a thread and a stream of their own. In ParPaRaw's terms (section 4.4), T(p) is that copy, P(p) is
the conversion, and R(p) is the copy of the results to the host. There is no K(p), because a part has whole records only. The
order:

    | T(p) after P(p-2), which read the buffer    the buffer's event `read`, which the copying stream waits for
    | P(p) after T(p)                             its event `filled`, which the converting stream waits for
    | R(p) after P(p)                             the order of the converting stream
    | P(p) after R(p-2)                           needs nothing: each part's columns have memory of their own
    | T(p) after T(p-1), R(p) after R(p-1)        the order of the streams
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace

from headrace.api.load.reading import wanted_device
from headrace.api.options.csv_options import CsvOptions
from headrace.api.read.file_parts import FilePart
from headrace.api.read.planned_files import PlannedFiles
from headrace.api.scan.scan_parts import BatchCut, Change, FileReading, ScanParts
from headrace.api.scan.scan_sender import Sender, Sent, TextBuffers
from headrace.api.scan.scanned_files import ScannedFile
from headrace.columns.buffers.load_result import CutRecordError, Loaded
from headrace.columns.column import Column
from headrace.columns.load.gpu.load_text import TextLoads, loads_on
from headrace.columns.plan.load_plan import LoadPlan, TextPart
from headrace.columns.plan.load_run import LoadRun
from headrace.columns.plan.native_errors import native_errors
from headrace.columns.types import DataType
from headrace.core.errors import MemoryLimitError
from headrace.gpu.kernels.launcher import BufferSlice, Launcher
from headrace.sources.open import OpenSource
from headrace.structure.survey import record_begin

MakeBuffers = Callable[[OpenSource], TextBuffers]


def obstacle_to_gpu(files: Sequence[ScannedFile], options: CsvOptions) -> str:
    """Return why a text cannot be scanned on a GPU; empty if it can.

    Whether a lenient quote opens a field may depend on everything that follows. Such a text is cut only where it does not. The
    search for those places covers neither other encodings nor escaped bytes.
    """
    if not options.dialect.looks_ahead:
        return ""
    if options.dialect.escape_char is not None:
        return "lenient quotes and escaped bytes"
    for file in files:
        with file.opened() as source:
            if source.codec != "utf-8":
                return f"lenient quotes in {source.codec}"
    return ""


class GpuParts(ScanParts):
    """The parts of planned files, converted where kernels run.

    `plans`, `files`, `options`, `cut`: as for `ScanParts`. A part that does not fit in memory is sent again in halves, and
    later parts are as small.
    `buffers`: makes the buffers for one pass over a source; None for those of the context's GPU.
    `loads`: loads the parts; None for loads on the context's GPU.
    """

    def __init__(
        self,
        plans: PlannedFiles,
        files: list[ScannedFile],
        options: CsvOptions,
        cut: BatchCut,
        *,
        buffers: MakeBuffers | None = None,
        loads: TextLoads | None = None,
    ) -> None:
        super().__init__(plans, files, options, cut)
        self._make_buffers = buffers or self._buffers_of_gpu
        self._loads = loads or loads_on(options.context.device, options.dialect)
        self._launcher: Launcher | None = None
        self._buffers: TextBuffers | None = None

    @property
    def is_on_host(self) -> bool:
        """True if the batches are in host memory."""
        return False

    @property
    def copied_by(self) -> str:
        """Same as `ScanParts.copied_by`."""
        return "" if self._buffers is None else self._buffers.copied_by

    def encoded(self, column: Column, given: DataType | None) -> Column:
        """Return a column of strings in the form that its type asks for, in the memory that it is in."""
        if self._launcher is None or column.device.kind == "cpu":
            return super().encoded(column, given)
        from headrace.encode.texts_gpu import encoded_on_gpu  # seldom needed

        with self._launcher.current():
            return encoded_on_gpu(self._launcher, [column], [given], self._options.values.text_type)[0]

    def joined(self, parts: Sequence[Column], kind: DataType) -> Column:
        """Concatenate columns of type `kind`, in the memory that they are in."""
        if self._launcher is None or not parts or any(part.device.kind == "cpu" for part in parts):
            return super().joined(parts, kind)
        from headrace.columns.finish.gpu.concat import concat_on_gpu  # seldom needed

        with self._launcher.current():
            return concat_on_gpu(self._launcher, parts, kind)[0]

    def _parts(self, reading: FileReading, change: Change, source: OpenSource) -> Iterator[FilePart]:
        with closing(self._make_buffers(source)) as buffers:
            self._buffers = buffers
            with closing(Sender(reading.text, self._options.dialect, buffers, reading.begin, self._cut)) as sender:
                is_done = False
                while not is_done and (found := self._next(reading, change, sender, buffers)) is not None:
                    sent, loaded = found
                    with native_errors():
                        reading.text.check()
                    part = reading.add(loaded)
                    part.reached = reading.position(sent.part.stop)
                    reading.text.release(sent.part.stop)
                    if self._options.progress is not None:
                        self._options.progress(sent.part.stop, 0 if reading.file.comes_in_order else reading.file.size)
                    is_done = sent.is_last
                    part.is_last = is_done or sent.part.stop >= reading.plan.end
                    yield part

    def _next(self, reading: FileReading, change: Change, sender: Sender, buffers: TextBuffers) -> tuple[Sent, Loaded] | None:
        """Return the next part and its columns, None after the last."""
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

    def _load(self, reading: FileReading, change: Change, sent: Sent, buffers: TextBuffers) -> tuple[Sent, Loaded]:
        """Load a part; return its requested text, and its columns.

        Raise CutRecordError if it does not end at the end of a record.
        """
        try:
            with self._cut.timeline.span("converter", "wait for text"), native_errors():
                self._launcher = buffers.hold(sent.buffer)
            text = BufferSlice(sent.buffer, -sent.part.start, sent.part.stop)
            source = reading.text.source(sent.part.stop)
            asked = self._limited(reading, sent, source)
            with self._cut.timeline.span("converter", "convert"), self._launcher.current():
                plan = self._plan_of(reading, change, asked)
                run = LoadRun(share=self._plans.shared.native)
                return asked, self._loads.load(self._launcher, text, source, plan, run)
        finally:
            buffers.free(sent.buffer)

    def _limited(self, reading: FileReading, sent: Sent, source: OpenSource) -> Sent:
        """Return the part up to the last record that is wanted."""
        index = reading.last_wanted(self._options)
        if index is None:
            return sent
        stop = record_begin(source, self._options.dialect, sent.part.start, index, self._options.context)
        return replace(sent, part=range(sent.part.start, stop), is_last=True) if stop < sent.part.stop else sent

    def _plan_of(self, reading: FileReading, change: Change, sent: Sent) -> LoadPlan:
        plan, part = reading.plan, sent.part
        lines, line_begin = reading.text.count_lines(part.start)
        text = TextPart(stop=part.stop, records=reading.records, lines=lines, line_begin=line_begin, is_more=not sent.is_last)
        index = None if plan.row_index is None else plan.row_index + reading.records
        return replace(change(plan), begin=part.start, end=part.stop, row_index=index, part=text)

    def _buffers_of_gpu(self, source: OpenSource) -> TextBuffers:
        from headrace.sources.text_buffers import CardBuffers, TextInPlace

        wanted_device(source, self._options)  # raises if the options name another GPU than the text's
        if source.on_gpu is not None and source.is_in_gpu_memory:
            return TextInPlace(source.on_gpu, self._options.context)
        return CardBuffers(self._options.context)
