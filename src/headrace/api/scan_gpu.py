"""The parts of a scan on a GPU: while one is converted, the next is read and copied in.

A part ends where a record does (cut_text.py), so that nothing is carried over: its text goes from the file through pinned
memory into one of two buffers of the card, on a thread and a stream of their own. In ParPaRaw's terms (section 4.4), T(p) is
that copy, P(p) the conversion and R(p) the way back; there is no K(p), as a part holds whole records. What is ordered:

    T(p) behind P(p-2), which read the buffer       the buffer's event `read`, which the copying stream waits for
    P(p) behind T(p)                                its event `filled`, which the converting stream waits for
    R(p) behind P(p)                                the converting stream's own order
    P(p) behind R(p-2)                              needs nothing: each part's columns have memory of their own
    T(p) behind T(p-1), R(p) behind R(p-1)          the streams' own order
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from typing import Protocol

from headrace.api.csv_options import CsvOptions
from headrace.api.file_parts import FilePart
from headrace.api.planned_files import PlannedFiles
from headrace.api.report import Position
from headrace.api.scan_parts import BatchCut, Change
from headrace.api.scanned_files import ScannedFile
from headrace.columns.load.cut_text import cuts
from headrace.columns.load.load import CutRecordError, Loaded, LoadPlan, TextPart, native_errors
from headrace.columns.load.load_gpu import load_on_gpu
from headrace.columns.load.place_gpu import GpuShape, Place
from headrace.columns.types import ENCODED
from headrace.core.errors import HeadraceError
from headrace.core.gpu.launcher import Launcher, Part, Room
from headrace.core.gpu.pinned import Read
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect


def why_not(plans: PlannedFiles, files: list[ScannedFile], options: CsvOptions) -> str:
    """Why files cannot be scanned on a GPU; empty if they can."""
    if any(file.comes_in_order for file in files):
        return "a text that comes in order"
    given = [plans.planned.types[place] for place in plans.planned.wanted]
    if options.values.text_type is not None or any(one is not None and one.name in ENCODED for one in given):
        return "texts in other forms"
    if options.dialect.lenient:
        return "lenient quotes"
    if options.values.replace_invalid or options.row_index is not None:
        return "encoding_errors='replace' and row_index_name"
    for file in files:
        with file.opened() as source:
            if source.on_gpu is not None:
                return "a text on a GPU"
            if source.codec != "utf-8":
                return f"text in {source.codec}"
    return "" if plans.planned.wanted else "no columns"


class TextBuffers(Protocol):
    """Two buffers for text where kernels run, and who may touch them when."""

    def send(self, read: Read, part: range) -> Room:
        """Fill the next buffer, behind all that read it, with places of a text that `read` puts at an address; the text's room.
        Called by one thread, which waits until a buffer is free.
        """

    def hold(self, room: Room) -> Launcher:
        """What runs kernels behind the filling of a buffer. Called by another thread."""

    def free(self, room: Room) -> None:
        """All kernels that read the buffer have been launched: from then on it may be filled anew, behind them."""

    def close(self) -> None:
        """Wait for what is under way, and give the memory back."""


@dataclass(slots=True)
class _Sent:
    part: range
    room: Room
    is_last: bool


class GpuParts:
    """As `ScanParts`, of files any part of which can be read.

    Parameters
    ----------
    plans, files, options, cut
        As for `ScanParts`.
    buffers
        Makes the buffers of one pass; None for those of the context's card.
    shape
        Of the kernels.
    """

    def __init__(
        self,
        plans: PlannedFiles,
        files: list[ScannedFile],
        options: CsvOptions,
        cut: BatchCut,
        *,
        buffers: Callable[[], TextBuffers] | None = None,
        shape: GpuShape | None = None,
    ) -> None:
        self._plans, self._files, self._options, self._cut = plans, files, options, cut
        self._shape = shape or GpuShape()
        self._make_buffers = buffers

    def all(self, change: Change, start: Position | None = None, *, keep: bool = False) -> Iterator[FilePart]:
        """As `ScanParts.all`."""
        start = start or Position()
        earlier = start.earlier
        for number in range(start.file, len(self._files)):
            file = self._files[number]
            errors = file.errors() if len(self._files) > 1 else nullcontext()
            with file.opened() as source, errors, closing(self._buffers()) as buffers:
                prepared, plan = self._plans.plan(number, source, earlier)
                at = start.byte if number == start.file and start.byte else plan.begin
                records = start.record if number == start.file else 0
                lines = (0, 0)
                span = range(at, min(plan.end, source.size))
                sender = _Sender(source, self._options.dialect, buffers, span, self._cut)
                try:
                    while True:
                        with native_errors():
                            sent = sender.next()
                        if sent is None:
                            break
                        own = change(plan)
                        told = TextPart(
                            stop=sent.part.stop,
                            records=records,
                            lines=lines[0],
                            line_begin=lines[1],
                            is_more=not sent.is_last,
                        )
                        own = replace(own, begin=sent.part.start, end=sent.part.stop, part=told)
                        loaded = self._loaded(sent, source, own, buffers)
                        if loaded is None:
                            sender.again()
                            continue
                        with native_errors():
                            source.native.check_unchanged()
                        records += loaded.counts["records"]
                        part = FilePart(file, plan.share_columns, prepared, plan)
                        part.take(loaded)
                        part.reached = Position(sent.part.stop, records, number, earlier)
                        if len(loaded.rejects["line"]):
                            lines = loaded.rejects["line"][-1] - 1, loaded.rejects["line_byte"][-1]
                        if self._options.progress is not None:
                            self._options.progress(sent.part.stop, file.size)
                        yield part
                finally:
                    sender.close()
                earlier += records

    def _buffers(self) -> TextBuffers:
        if self._make_buffers is not None:
            return self._make_buffers()
        from headrace.core.gpu.text_buffers import CardBuffers

        return CardBuffers(self._options.context)

    def _loaded(self, sent: _Sent, source: OpenSource, plan: LoadPlan, buffers: TextBuffers) -> Loaded | None:
        """The columns of a part; None if it does not end where a record does."""
        launcher = buffers.hold(sent.room)
        text = Part(sent.room, -sent.part.start, sent.part.stop)
        try:
            place = Place(launcher, text, self._shape, str(self._options.context.device))
            with self._cut.timeline.span("converter", "convert"):
                return load_on_gpu(place, source, self._options.dialect, plan)
        except CutRecordError:
            return None
        finally:
            buffers.free(sent.room)


class _Sender:
    """Cuts a text into parts and sends them, one ahead, on a thread of its own."""

    def __init__(self, source: OpenSource, dialect: Dialect, buffers: TextBuffers, span: range, cut: BatchCut) -> None:
        self._source, self._buffers, self._dialect = source, buffers, dialect
        self._end, self._size, self._timeline = span.stop, cut.nbytes, cut.timeline
        self._tried: set[int] = set()
        self._now: _Sent | None = None
        self._start(span.start)

    def next(self) -> _Sent | None:
        """The next part, None behind the last. What ended the thread is raised here."""
        with self._timeline.span("converter", "wait for text"):
            found = self._sent.get()
        if isinstance(found, BaseException):
            raise found
        if found is not None and (self._now is None or found.part.start != self._now.part.start):
            self._tried.clear()
        self._now = found
        return found

    def again(self) -> None:
        """The part did not end where a record does: it comes again with another end, and what was sent behind it is let go of."""
        if self._now is None or self._now.is_last:
            raise HeadraceError("a text ends in the middle of a record, and has an end")
        self.close()
        self._tried.add(self._now.part.stop)
        self._start(self._now.part.start)

    def close(self) -> None:
        """Stop sending."""
        self._is_closed.set()
        while self._thread.is_alive():
            self._let_go()
            self._thread.join(0.01)
        self._let_go()

    def _let_go(self) -> None:
        while not self._sent.empty():
            found = self._sent.get()
            if isinstance(found, _Sent):
                self._buffers.hold(found.room)
                self._buffers.free(found.room)

    def _start(self, begin: int) -> None:
        self._sent: queue.Queue[_Sent | BaseException | None] = queue.Queue(1)
        self._is_closed = threading.Event()
        self._thread = threading.Thread(target=self._work, args=(begin,), name="headrace-sender", daemon=True)
        self._thread.start()

    def _work(self, begin: int) -> None:
        try:
            while begin < self._end and not self._is_closed.is_set():
                end = self._cut(begin)
                part = range(begin, end)
                with self._timeline.span("sender", "wait for a buffer, read and send"):
                    room = self._buffers.send(self._source.native.read_into, part)
                with self._timeline.span("sender", "wait for the converter"):
                    self._sent.put(_Sent(part, room, end == self._end))
                begin = end
            self._sent.put(None)
        except BaseException as error:  # noqa: BLE001  # whatever it is, who waits for a part is to see it
            self._sent.put(error)

    def _cut(self, begin: int) -> int:
        """The end of the part that begins there, which nobody has tried yet."""
        size = self._size
        while begin + size < self._end:
            for at in cuts(self._source, self._dialect, begin, begin + size):
                if at not in self._tried:
                    return at
            size *= 2
        return self._end
