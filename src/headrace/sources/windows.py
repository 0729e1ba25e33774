"""A text as windows that go forward over it: of a file all of it, of what only comes in order a part.

Compressed bytes, file objects, pipes and texts in a codec that decodes only from the front are made into text by a thread of
their own, a few MB ahead of whoever reads, so that decompression and reading overlap. Memory: a window and what waits.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from headrace import _native
from headrace.sources.encoding import decode_as
from headrace.sources.open import OpenSource
from headrace.sources.pieces import Pieces

_BEHIND = 64
"""So many bytes before a window's begin stay: a character may have begun there, and a line end."""
_WAITING_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a text, held until the next one.

    Parameters
    ----------
    source
        Its bytes; the first is byte `base` of the text.
    is_last
        Whether the text ends with it.
    lines, line_begin
        Lines in front of byte `line_begin` of the source.
    """

    source: OpenSource
    base: int
    is_last: bool
    lines: int = 0
    line_begin: int = 0


class WholeText:
    """A text of which any part can be read at any time."""

    def __init__(self, source: OpenSource) -> None:
        self._source = source
        self._lines = self._line_begin = 0

    def window(self, begin: int, end: int) -> Window:
        """All of it, whatever is asked for."""
        return Window(self._source, 0, True, self._lines, self._line_begin)

    def know_line(self, byte: int, lines: int) -> None:
        """So many lines end in front of a byte: later counts begin there."""
        self._lines, self._line_begin = lines, byte

    def close(self) -> None:
        """There is nothing to do: the source is its opener's."""


class ForwardText:
    """A text that comes in order.

    Parameters
    ----------
    pieces
        Its bytes; made on a thread of its own.
    isa, threads
        For decoding it and counting lines.
    keep
        Whether it will be read once more.
    """

    def __init__(self, pieces: Pieces, isa: str, threads: int, *, keep: bool = False) -> None:
        self._source, self._isa, self._threads = pieces, isa, threads
        self._waiting = MadeAhead(partial(pieces.make, keep=keep))
        self._pieces: deque[bytes] = deque()
        self._base = 0  # of the first piece
        self._end = 0
        self._is_whole = False
        self._codec: tuple[str, int] | None = None
        self._window: Window | None = None

    def window(self, begin: int, end: int) -> Window:
        """Bytes `begin` to `end` of the text, some before them, and what else is there; a window never begins before the last.

        Raises
        ------
        SourceError
            The bytes break off, or are not what they should be.
        """
        self._take_up_to(end)
        self._drop(max(begin - _BEHIND, 0) // _BEHIND * _BEHIND)
        lines = self._lines_before(self._base)
        content = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces = deque((content,))
        self._window = Window(self._opened(content), self._base, self._is_whole, lines)
        return self._window

    def know_line(self, byte: int, lines: int) -> None:
        """Lines are counted as windows move on."""

    def close(self) -> None:
        """Let go of the thread and of what waits."""
        self._waiting.close()
        self._pieces.clear()
        self._window = None

    def _take_up_to(self, end: int) -> None:
        while self._end < end and not self._is_whole:
            piece = self._waiting.take()
            if piece is None:
                self._is_whole = True
            else:
                self._pieces.append(piece)
                self._end += len(piece)

    def _drop(self, base: int) -> None:
        while self._base < base and self._pieces:
            piece = self._pieces.popleft()
            left = piece[base - self._base :]
            self._base += len(piece) - len(left)
            if left:
                self._pieces.appendleft(left)

    def _lines_before(self, base: int) -> int:
        before = self._window
        if before is None or before.base == base:
            return 0 if before is None else before.lines
        return before.lines + _native.line_numbers(before.source.native, [base - before.base], self._threads)[0] - 1

    def _opened(self, content: bytes) -> OpenSource:
        native = _native.Source.from_bytes(content)
        if self._codec is None:
            self._codec = self._source.codec_of(content[:4])
        codec, begin = self._codec
        if codec != "utf-8":
            decode_as(native, codec, self._isa)
        opened = OpenSource(native, self._source.name, begin=begin if self._base == 0 else 0, held=len(content), codec=codec)
        return replace(opened, cut=not self._is_whole)


TextWindows = WholeText | ForwardText


class MadeAhead:
    """What a thread makes, a few pieces ahead of who takes them. If the system has no thread, each is made when it is taken."""

    def __init__(self, make: Callable[[], Iterator[bytes]]) -> None:
        self._pieces: queue.Queue[bytes | BaseException | None] = queue.Queue()
        self._changed = threading.Condition()
        self._bytes = 0
        self._is_closed = False
        self._made_here: Iterator[bytes] | None = None
        self._thread = threading.Thread(target=self._work, args=(make,), name="headrace-text", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:
            self._made_here = make()

    def take(self) -> bytes | None:
        """The next piece, None behind the last. What ended the thread is raised here."""
        if self._made_here is not None:
            return next(self._made_here, None)
        piece = self._pieces.get()
        if isinstance(piece, BaseException):
            self._pieces.put(piece)
            raise piece
        if piece is None:
            self._pieces.put(None)
            return None
        with self._changed:
            self._bytes -= len(piece)
            self._changed.notify()
        return piece

    def close(self) -> None:
        """Stop making, and wait for the thread."""
        if self._made_here is not None:
            self._made_here = iter(())
            return
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        self._thread.join()

    def _work(self, make: Callable[[], Iterator[bytes]]) -> None:
        try:
            for piece in make():
                if not self._put(piece):
                    return
        except BaseException as error:  # noqa: BLE001  # whatever it is, who takes the next piece is to see it
            self._pieces.put(error)
        else:
            self._pieces.put(None)

    def _put(self, piece: bytes) -> bool:
        with self._changed:
            while self._bytes > _WAITING_BYTES and not self._is_closed:
                self._changed.wait()
            self._bytes += len(piece)
            if not self._is_closed:
                self._pieces.put(piece)
            return not self._is_closed
