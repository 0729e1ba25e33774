"""Holds the text of a source while it is read part by part: whole windows for the host's loader, byte ranges for a GPU.

A text with byte ranges (a regular file, bytes) can be read anywhere at any time. A text that comes in order (compressed bytes, a
pipe, a file object) is made on a thread ahead of the reader. Its bytes from the current part on are held: a part whose end was
guessed wrongly is sent again, and error messages quote the text.

Memory: the pieces made ahead, and one window for the host's loader. For a GPU, three parts at most replace the window: one in
work, one sent after it, and one that waits for a buffer.
"""

from __future__ import annotations

import ctypes
import threading
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import NamedTuple

from headrace import _native
from headrace.core.errors import OptionError
from headrace.sources.encoding.encoding import decode_as
from headrace.sources.open import OpenSource
from headrace.sources.read_ahead import ReadAhead
from headrace.sources.text_chunks import TextChunks

_HEAD_BYTES = 16 << 10  # bytes of the beginning that are always kept: they show what records look like
_SKIP_BYTES = 8 << 20
_MARGIN = 64  # Bytes kept before a window: a character or a line end may have begun there. Windows begin at multiples of it.
_UNBOUNDED = 1 << 62


class LineCount(NamedTuple):
    """Number of lines that end before a byte of the text."""

    lines: int
    byte: int


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a text, valid until the next one is asked for."""

    source: OpenSource  # the bytes of the part, or the whole text
    base: int  # offset in the text of the first byte of `source`
    is_last: bool  # True if the text ends with the window
    count: LineCount  # lines before a byte of `source`; `count.byte` is relative to `base`


class TextStream:
    """The text of one source, read from its beginning to its end.

    The host's loader calls `window`, from one thread. For a GPU, one thread calls `reach`, and reads what it has reached, while
    another calls everything else. No other calls may run at the same time.

    `text`: an open source with byte ranges; or the chunks of a text that comes in order, made on a thread of their own.
    `end`: offset at which the text ends, if it has byte ranges.
    `isa`, `threads`: instruction set for decoding, and threads for counting lines.
    `keep`: whether a text that comes in order will be read once more.
    """

    def __init__(
        self, text: OpenSource | TextChunks, *, end: int = _UNBOUNDED, isa: str = "", threads: int = 1, keep: bool = False
    ) -> None:
        self._isa, self._threads = isa, threads
        self._ranges: OpenSource | None = text if isinstance(text, OpenSource) else None
        self._count = LineCount(0, 0)
        self._lock = threading.Lock()  # protects the three fields below, and `_end` with them
        self._head = b""
        self._pieces: list[bytes] = []
        self._begins: list[int] = []
        self._codec: tuple[str, int] | None = None
        self._window: Window | None = None
        if isinstance(text, OpenSource):
            self._end, self._is_complete = min(end, text.size), True
        else:
            self._end, self._is_complete = 0, False
            self._chunks = text
            self._read_ahead = ReadAhead(partial(text.make, keep=keep))

    def reach(self, end: int) -> tuple[int, bool]:
        """Wait until the text is available up to byte `end`.

        Returns
        -------
        The byte up to which it is available, at most `end`, and whether the text ends there. An exception that ended the making
        of the text is raised here.
        """
        while self._end <= end and not self._is_complete:  # one byte past `end` shows that the text continues
            piece = self._read_ahead.take()
            if piece is None:
                self._is_complete = True
            elif piece:
                with self._lock:
                    self._head += piece[: _HEAD_BYTES - len(self._head)]
                    self._pieces.append(bytes(piece))
                    self._begins.append(self._end)
                    self._end += len(piece)
        return min(end, self._end), self._is_complete and end >= self._end

    def source(self, stop: int) -> OpenSource:
        """Return the text up to byte `stop`, which has been reached; offsets are those of the text.

        Bytes that were released cannot be read, except the first 16 KB.
        """
        if self._ranges is not None:
            return self._ranges
        return self._opened(_native.Source.from_reader(stop, self._read, b""))

    def window(self, begin: int, end: int) -> Window:
        """Return a window with bytes `begin` to `end` of the text, as far as the text goes.

        A text with byte ranges is one window. Otherwise the window may have bytes on both sides, and releases the bytes before
        it; a window never begins before the previous one.

        Raise SourceError if the source is truncated or corrupt.
        """
        if self._ranges is not None:
            return Window(self._ranges, 0, True, self._count)
        self.reach(end)
        base = max(begin - _MARGIN, 0) // _MARGIN * _MARGIN
        if self._window is not None:
            base = max(base, self._window.base)
        base = min(base, self._end)
        lines, byte = self.count_lines(base)
        content = self._join_from(base)
        opened = self._opened(_native.Source.from_bytes(content))
        source = replace(opened, begin=0 if base else opened.begin, held_bytes=len(content), cut=not self._is_complete)
        self._window = Window(source, base, self._is_complete, LineCount(lines, byte - base))
        return self._window

    def count_lines(self, begin: int) -> LineCount:
        """Return the lines before a byte at or before `begin`.

        `begin`: offset of a line that is not later than the current part. Bytes before it must not have been released since the
        last call.
        """
        last = self._count
        if self._ranges is None and begin > last.byte:
            native, base = self.source(begin).native, 0
            if self._window is not None:
                native, base = self._window.source.native, self._window.base
            lines = _native.line_numbers(native, [begin - base], self._threads, last.byte - base)[0] - 1
            self._count = LineCount(last.lines + lines, begin)
        return self._count

    def note_lines(self, count: LineCount) -> None:
        """Note a known line count, from which later counts start. Ignored for a text in order, whose lines are counted."""
        if self._ranges is not None:
            self._count = count

    def skip(self, begin: int) -> None:
        """Release the bytes before `begin`, at which a record begins. Must be called before everything else.

        Raise OptionError if the text ends before `begin`.
        """
        at, is_end = (0, False) if self._ranges is None else (min(begin, self._ranges.size), True)
        while at < begin and not is_end:
            at, is_end = self.reach(min(begin, at + _SKIP_BYTES))
            self.release(at)
        if at < begin:
            raise OptionError(f"resume is byte {begin}, but the text ends at byte {at}; it is another text, or has been cut")

    def release(self, stop: int) -> None:
        """Release the bytes before `stop`: they are not read again."""
        if self._ranges is None:
            self.count_lines(stop)
            with self._lock:
                self._release_pieces(stop - 2 * _MARGIN)  # a window may begin that far before

    def check(self) -> None:
        """Raise if a source with byte ranges has changed; a text in order is checked where it is made."""
        if self._ranges is not None:
            self._ranges.native.check_unchanged()

    def close(self) -> None:
        """Stop the thread and release the text. An open source belongs to its opener."""
        if self._ranges is None:
            self._read_ahead.close()
            self._pieces, self._begins, self._window = [], [], None

    @property
    def native(self) -> _native.Source | None:
        """The source if native threads may read it at any time, else None."""
        return None if self._ranges is None else self._ranges.native

    @property
    def address(self) -> int:
        """Address of the text in host memory, 0 if it is not there as a whole."""
        return 0 if self._ranges is None else self._ranges.native.address

    @property
    def path(self) -> str | None:
        """Path of the regular file with exactly these bytes, if there is one."""
        return None if self._ranges is None else self._ranges.path

    def read_into(self, begin: int, count: int, address: int, threads: int) -> None:
        """Copy bytes of the text to an address, with `threads` threads."""
        if self._ranges is not None:
            self._ranges.native.read_into(begin, count, address, threads)
            return
        with self._lock:
            head = self._head
            moves = [] if begin + count <= len(head) else list(self._moves(begin, begin + count, address))
        # `moves` keeps the pieces alive while they are copied.
        _native.copy_parts([move for move, _ in moves or [_move(head, begin, count, address)]], threads)

    def _opened(self, native: _native.Source) -> OpenSource:
        """Return bytes of a text that comes in order, with the text's encoding."""
        if self._codec is None:
            self._codec = self._chunks.codec_of(self._head[:4])
        codec, begin = self._codec
        if codec != "utf-8":
            decode_as(native, codec, self._isa)
        return OpenSource(native, self._chunks.name, begin=begin, codec=codec)

    def _join_from(self, base: int) -> bytes:
        """Join all pieces from byte `base` on into one, and release the bytes before."""
        with self._lock:
            self._release_pieces(base)
            if len(self._pieces) > 1 or (self._pieces and self._begins[0] != base):
                first = memoryview(self._pieces[0])[base - self._begins[0] :]
                self._pieces = [b"".join([first, *islice(self._pieces, 1, None)])]
                self._begins = [base]
            return self._pieces[0] if self._pieces else b""

    def _release_pieces(self, stop: int) -> None:
        """Drop the pieces before that which has byte `stop`. The caller has the lock."""
        dropped = bisect_right(self._begins, stop) - 1
        if dropped > 0:
            del self._pieces[:dropped], self._begins[:dropped]

    def _read(self, begin: int, count: int, address: int) -> None:
        self.read_into(begin, count, address, 1)

    def _moves(self, begin: int, end: int, address: int) -> Iterator[tuple[tuple[int, int, int], bytes]]:
        """Yield the copies that make bytes `begin` to `end`. The caller has the lock."""
        if not self._begins or begin < self._begins[0] or end > self._end:
            raise ValueError(f"bytes {begin} to {end} of a text of which {self._begins[:1]} to {self._end} are there")
        at = bisect_right(self._begins, begin) - 1
        while begin < end:
            piece, first = self._pieces[at], self._begins[at]
            size = min(end, first + len(piece)) - begin
            yield _move(piece, begin - first, size, address)
            begin, address, at = begin + size, address + size, at + 1


def _move(piece: bytes, begin: int, size: int, address: int) -> tuple[tuple[int, int, int], bytes]:
    """Return a copy (from, to, bytes), and the piece that it reads, which must live until it is done."""
    first = ctypes.cast(ctypes.c_char_p(piece), ctypes.c_void_p).value or 0
    return (first + begin, address, size), piece
