"""Cuts a text into parts and sends them to the memory of a GPU, one part ahead, on a thread of its own."""

from __future__ import annotations

import queue
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from headrace.api.scan.scan_parts import MIN_PART_BYTES, BatchCut
from headrace.columns.records.split_points import split_points
from headrace.core.errors import HeadraceError
from headrace.gpu.kernels.launcher import DeviceBuffer, Launcher
from headrace.gpu.memory.pinned import HostText
from headrace.sources.stream import TextStream
from headrace.structure.dialect import Dialect


class TextBuffers(Protocol):
    """Two buffers for text in the memory that kernels read.

    A buffer is filled by `send`, passed to the converting thread by `hold`, and reused after `free`.
    """

    @property
    def copied_by(self) -> str:
        """Description of what copies text into them; empty as long as that is unknown."""

    def send(self, text: HostText, part: range) -> DeviceBuffer:
        """Fill the next buffer with a part of a text, or begin to; return the part's memory.

        Called by one thread, which waits until a buffer is free. The copy is ordered after the kernels that read the buffer. The
        text must not change until the buffers are closed.
        """

    def hold(self, buffer: DeviceBuffer) -> Launcher:
        """Return a launcher whose kernels run after the buffer has been filled. Called by another thread.

        An error of the copy is raised here.
        """

    def free(self, buffer: DeviceBuffer) -> None:
        """Allow the buffer to be filled again, after the kernels that read it; all of them have been launched."""

    def shrink(self) -> None:
        """Free the memory of the buffers, because later parts are smaller. All buffers are free, and no thread sends."""

    def close(self) -> None:
        """Wait for the copies in progress, and free the memory."""


@dataclass(slots=True)
class Sent:
    """A part of the text, the memory with its bytes, and whether the text ends with it."""

    part: range
    buffer: DeviceBuffer
    is_last: bool


class Sender:
    """Cuts a text into parts and sends them, one part ahead, on a thread of its own.

    `buffers`: buffers that the parts are sent to.
    `begin`: byte at which the first part begins.
    `cut`: size of a part, and the timeline.
    """

    def __init__(self, text: TextStream, dialect: Dialect, buffers: TextBuffers, begin: int, cut: BatchCut) -> None:
        self._text, self._buffers, self._dialect = text, buffers, dialect
        self._size, self._timeline = cut.nbytes, cut.timeline
        self._tried: set[int] = set()
        self._at = begin
        self._now: Sent | None = None
        self._start()

    def next(self) -> Sent | None:
        """Return the next part, None after the last. An exception that ended the thread is raised here."""
        if self._now is not None:
            self._at = self._now.part.stop
            self._tried.clear()
            self._now = None
        return self._same()

    def again(self) -> Sent | None:
        """Return the current part with another end, because it did not end at the end of a record. Later parts are discarded."""
        if self._now is None or self._now.is_last:
            raise HeadraceError("the last part of a text cannot end inside a record")
        self._tried.add(self._now.part.stop)
        self._restart()
        return self._same()

    @property
    def is_smallest(self) -> bool:
        """True if parts are too small to be halved."""
        return self._size <= MIN_PART_BYTES

    def smaller(self) -> Sent | None:
        """Return the current part with half the bytes; later parts are as small."""
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
            found = self._receive()
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

    def _receive(self) -> Sent | BaseException | None:
        """Take the item that the thread has put, so that it can put the next one."""
        found = self._sent.get()
        self._place.release()
        return found

    def _put(self, found: Sent | BaseException | None) -> None:
        self._place.acquire()
        self._sent.put(found)

    def _let_go(self) -> None:
        while not self._sent.empty():
            found = self._receive()
            if isinstance(found, Sent):
                with suppress(Exception):  # the part is discarded, and so are its errors
                    self._buffers.hold(found.buffer)
                self._buffers.free(found.buffer)

    def _start(self) -> None:
        # A queue of one item. `queue.Queue` acquires and releases ten locks an item, on which the threads contend.
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
                    buffer = self._buffers.send(self._text, part)
                with self._timeline.span("sender", "wait for the converter"):
                    self._put(Sent(part, buffer, is_last))
                begin = end
            self._put(None)
        except BaseException as error:  # noqa: BLE001  # every exception is passed to the thread that waits for a part
            self._put(error)

    def _cut(self, begin: int) -> tuple[int, bool]:
        """Return an end of the part that begins at `begin`, not tried before, and whether it is the end of the text."""
        size = self._size
        while True:
            end, is_last = self._text.reach(begin + size)
            if is_last:
                return end, True
            for at in split_points(self._text.source(end), self._dialect, begin, end):
                if at not in self._tried:
                    return at, False
            size *= 2
