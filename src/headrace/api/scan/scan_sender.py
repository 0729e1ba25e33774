"""Who cuts a text into parts and sends them to where kernels run, one ahead, on a thread of its own."""

from __future__ import annotations

import queue
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from headrace.api.scan.scan_parts import MIN_PART_BYTES, BatchCut
from headrace.columns.records.split_points import cuts
from headrace.core.errors import HeadraceError
from headrace.gpu.kernels.launcher import Launcher, Room
from headrace.gpu.memory.pinned import HostText
from headrace.sources.stream import TextStream
from headrace.structure.dialect import Dialect


class TextBuffers(Protocol):
    """Two buffers for text where kernels run, and who may touch them when."""

    @property
    def copied_by(self) -> str:
        """Who copies text into them, as far as that is known."""

    def send(self, text: HostText, part: range) -> Room:
        """Fill the next buffer, behind all that read it, with a part of a text, or begin to; the part's room. Called by one
        thread, which waits until a buffer is free. The text stays what it is until the buffers are closed.
        """

    def hold(self, room: Room) -> Launcher:
        """What runs kernels behind the filling of a buffer, and what went wrong with that. Called by another thread."""

    def free(self, room: Room) -> None:
        """All kernels that read the buffer have been launched: from then on it may be filled anew, behind them."""

    def shrink(self) -> None:
        """Give back the memory of the buffers, all of which are free: what comes is smaller. Called while nobody sends."""

    def close(self) -> None:
        """Wait for what is under way, and give the memory back."""


@dataclass(slots=True)
class Sent:
    """A part of the text, where it is, and whether the text ends with it."""

    part: range
    room: Room
    is_last: bool


class Sender:
    """Cuts a text into parts and sends them, one ahead, on a thread of its own.

    Parameters
    ----------
    text, dialect
        What is cut.
    buffers
        Where parts go.
    begin
        Of the first part.
    cut
        Their bytes, and who notes the time.
    """

    def __init__(self, text: TextStream, dialect: Dialect, buffers: TextBuffers, begin: int, cut: BatchCut) -> None:
        self._text, self._buffers, self._dialect = text, buffers, dialect
        self._size, self._timeline = cut.nbytes, cut.timeline
        self._tried: set[int] = set()
        self._at = begin
        self._now: Sent | None = None
        self._start()

    def next(self) -> Sent | None:
        """The next part, or that which comes again; None behind the last. What ended the thread is raised here."""
        if self._now is not None:
            self._at = self._now.part.stop
            self._tried.clear()
            self._now = None
        return self._same()

    def again(self) -> Sent | None:
        """The part did not end where a record does: the same with another end; what was sent behind it is let go of."""
        if self._now is None or self._now.is_last:
            raise HeadraceError("a text ends in the middle of a record, and has an end")
        self._tried.add(self._now.part.stop)
        self._restart()
        return self._same()

    @property
    def is_smallest(self) -> bool:
        """Whether parts have so few bytes that fewer would not help."""
        return self._size <= MIN_PART_BYTES

    def smaller(self) -> Sent | None:
        """The part that was asked for last with half the bytes; those behind it have no more."""
        self._size //= 2
        self._tried.clear()
        self._restart(shrink=True)
        return self._same()

    def close(self) -> None:
        """Stop sending."""
        self._is_closed.set()
        while self._thread.is_alive():
            self._let_go()
            self._thread.join(0.01)
        self._let_go()

    def _same(self) -> Sent | None:
        with self._timeline.span("converter", "wait for text"):
            found = self._taken()
        if isinstance(found, BaseException):
            raise found
        self._now = found
        return found

    def _restart(self, *, shrink: bool = False) -> None:
        self._now = None
        self.close()
        if shrink:
            self._buffers.shrink()
        self._start()

    def _taken(self) -> Sent | BaseException | None:
        """What was put, which makes place for the next."""
        found = self._sent.get()
        self._place.release()
        return found

    def _put(self, found: Sent | BaseException | None) -> None:
        self._place.acquire()
        self._sent.put(found)

    def _let_go(self) -> None:
        while not self._sent.empty():
            found = self._taken()
            if isinstance(found, Sent):
                with suppress(Exception):  # nobody wants the part, nor to know what went wrong with it
                    self._buffers.hold(found.room)
                self._buffers.free(found.room)

    def _start(self) -> None:
        # A queue of one: `queue.Queue` takes and gives back ten locks for each item, and the threads wait for each other there.
        self._sent: queue.SimpleQueue[Sent | BaseException | None] = queue.SimpleQueue()
        self._place = threading.Lock()
        self._is_closed = threading.Event()
        self._thread = threading.Thread(target=self._work, args=(self._at,), name="headrace-sender", daemon=True)
        self._thread.start()

    def _work(self, begin: int) -> None:
        try:
            is_last = False
            while not is_last and not self._is_closed.is_set():
                with self._timeline.span("sender", "wait for the text"):
                    end, is_last = self._cut(begin)
                if end <= begin:
                    break
                part = range(begin, end)
                with self._timeline.span("sender", "wait for a buffer, read and send"):
                    room = self._buffers.send(self._text, part)
                with self._timeline.span("sender", "wait for the converter"):
                    self._put(Sent(part, room, is_last))
                begin = end
            self._put(None)
        except BaseException as error:  # noqa: BLE001  # whatever it is, who waits for a part is to see it
            self._put(error)

    def _cut(self, begin: int) -> tuple[int, bool]:
        """The end of the part that begins there, which nobody has tried yet, and whether that is the text's."""
        size = self._size
        while True:
            end, is_last = self._text.reach(begin + size)
            if is_last:
                return end, True
            for at in cuts(self._text.source(end), self._dialect, begin, end):
                if at not in self._tried:
                    return at, False
            size *= 2
