"""A text as whoever sends it to a GPU, part by part, wants it: how far it goes, any bytes of parts under way, lines in front.

A text that only comes in order (compressed, a pipe, a file object) is made by a thread ahead of who sends it, and is held from
the part in work on: a part whose end was guessed wrongly is sent again, and faults show their text. Memory: three parts at most,
the one in work, the one sent behind it and the one that waits for a buffer; and what the thread is ahead.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Sequence
from functools import partial

from headrace import _native
from headrace.sources.encoding import decode_as
from headrace.sources.open import OpenSource
from headrace.sources.pieces import Pieces
from headrace.sources.windows import MadeAhead

_HEAD_BYTES = 16 << 10
"""Of the text's beginning stay: it tells what records look like."""

_SKIP_BYTES = 8 << 20


class StoredText:
    """A text any part of which can be read at any time, up to byte `end`."""

    def __init__(self, source: OpenSource, end: int) -> None:
        self._source = source
        self._end = min(end, source.size)
        self._lines = 0, 0

    def reach(self, end: int) -> tuple[int, bool]:
        """Wait for the text up to byte `end`: how far it is there, and whether nothing comes behind."""
        return min(end, self._end), end >= self._end

    def source(self, stop: int) -> OpenSource:
        """The text up to byte `stop`, as the native readers take it; places are those of the whole."""
        return self._source

    @property
    def native(self) -> _native.Source | None:
        """Who reads the text, if native threads may do that at any time: here they may."""
        return self._source.native

    def read_into(self, begin: int, count: int, address: int, threads: int) -> None:
        """Put bytes of the text at an address, by so many threads."""
        self._source.native.read_into(begin, count, address, threads)

    @property
    def address(self) -> int:
        """Where the text lies in the host's memory, whole; 0 if it does not."""
        return self._source.native.address

    @property
    def path(self) -> str | None:
        """Of the regular file whose bytes these are, if that is so."""
        source = self._source
        return None if source.native.address or source.held or source.on_gpu is not None else source.name

    def lines(self, begin: int) -> tuple[int, int]:
        """Lines that end in front of a byte, which begins a line and is no later than the part that begins at `begin`."""
        return self._lines

    def know_line(self, lines: int, byte: int) -> None:
        """So many lines end in front of a byte: later counts begin there."""
        self._lines = lines, byte

    def skip(self, begin: int) -> None:
        """Nobody asks for what is in front of a byte, which begins a record. To be called before all else."""

    def let_go(self, stop: int) -> None:
        """Nobody will ask for what is in front of a byte again."""

    def check(self) -> None:
        """Raise if the source is not any more what it was."""
        self._source.native.check_unchanged()

    def close(self) -> None:
        """There is nothing to do: the source is its opener's."""


class KeptText:
    """A text that comes in order. One thread may call `reach`, and another all else.

    Parameters
    ----------
    pieces
        Its bytes; made on a thread of its own.
    isa, threads
        For decoding it and counting lines.
    keep
        Whether it will be made once more.
    """

    def __init__(self, pieces: Pieces, isa: str, threads: int, *, keep: bool = False) -> None:
        self._made, self._isa, self._threads = pieces, isa, threads
        self._ahead = MadeAhead(partial(pieces.make, keep=keep))
        self._lock = threading.Lock()
        self._pieces: list[bytes] = []
        self._begins: list[int] = []
        self._head = b""
        self._end = 0
        self._is_whole = False
        self._codec: tuple[str, int] | None = None
        self._lines = self._line_begin = 0

    def reach(self, end: int) -> tuple[int, bool]:
        """As `StoredText.reach`. What ended the making of the text is raised here."""
        while self._end <= end and not self._is_whole:  # one byte behind `end` tells that something comes
            piece = self._ahead.take()
            if piece is None:
                self._is_whole = True
            elif piece:
                with self._lock:
                    self._head += piece[: _HEAD_BYTES - len(self._head)]
                    self._pieces.append(piece)
                    self._begins.append(self._end)
                    self._end += len(piece)
        return min(end, self._end), self._is_whole and end >= self._end

    def source(self, stop: int) -> OpenSource:
        """As `StoredText.source`, for `stop` that has been reached; what was let go of cannot be read, but for the beginning."""
        native = _native.Source.from_reader(stop, self._read, b"")
        if self._codec is None:
            self._codec = self._made.codec_of(self._head[:4])
        codec, begin = self._codec
        if codec != "utf-8":
            decode_as(native, codec, self._isa)
        return OpenSource(native, self._made.name, begin=begin, codec=codec)

    def lines(self, begin: int) -> tuple[int, int]:
        """As `StoredText.lines`; what is in front of `begin` must not have been let go of since the last call."""
        if begin > self._line_begin:
            native = self.source(begin).native
            self._lines += _native.line_numbers(native, [begin], self._threads, self._line_begin)[0] - 1
            self._line_begin = begin
        return self._lines, self._line_begin

    def know_line(self, lines: int, byte: int) -> None:
        """Lines are counted as parts are let go of."""

    def skip(self, begin: int) -> None:
        """As `StoredText.skip`: it is made, its lines are counted, and that is all."""
        at, is_all = 0, False
        while at < begin and not is_all:
            at, is_all = self.reach(min(begin, at + _SKIP_BYTES))
            self.let_go(at)

    def let_go(self, stop: int) -> None:
        """As `StoredText.let_go`."""
        self.lines(stop)
        with self._lock:
            left = bisect_right(self._begins, stop) - 1
            if left > 0:
                del self._pieces[:left], self._begins[:left]

    def check(self) -> None:
        """Whoever makes the text sees whether its source changes."""

    def close(self) -> None:
        """Let go of the thread and of the text."""
        self._ahead.close()
        self._pieces, self._begins = [], []

    @property
    def native(self) -> None:
        """As `StoredText.native`."""
        return None

    def read_into(self, begin: int, count: int, address: int, threads: int) -> None:
        """As `StoredText.read_into`."""
        with self._lock:
            head = self._head
            moves = [] if begin + count <= len(head) else self._moves(begin, begin + count, address)
        _native.copy_parts([move for move, _ in moves or [_move(head, begin, count, address)]], threads)

    @property
    def address(self) -> int:
        """As `StoredText.address`."""
        return 0

    @property
    def path(self) -> str | None:
        """As `StoredText.path`."""
        return None

    def _read(self, begin: int, count: int, address: int) -> None:
        self.read_into(begin, count, address, 1)

    def _moves(self, begin: int, end: int, address: int) -> Sequence[tuple[tuple[int, int, int], bytes]]:
        if not self._begins or begin < self._begins[0] or end > self._end:
            raise ValueError(f"bytes {begin} to {end} of a text of which {self._begins[:1]} to {self._end} are there")
        moves = []
        at = bisect_right(self._begins, begin) - 1
        while begin < end:
            piece, first = self._pieces[at], self._begins[at]
            size = min(end, first + len(piece)) - begin
            moves.append(_move(piece, begin - first, size, address))
            begin, address, at = begin + size, address + size, at + 1
        return moves


Text = StoredText | KeptText


def _move(piece: bytes, begin: int, size: int, address: int) -> tuple[tuple[int, int, int], bytes]:
    """A copy from a piece, which is to be held until it is done."""
    import numpy as np  # a dependency of cuda-core, without which nothing is sent to a GPU

    return (int(np.frombuffer(piece, np.uint8).ctypes.data) + begin, address, size), piece
