"""Decompresses sources piece by piece, into memory or as a sequence of pieces.

A source may have several members, one after the other, which together make the text. Libraries verify their checksums. Input that
is truncated or inconsistent is an error and never gives a shorter text. Memory: the text, with up to an eighth more while it
grows, and one piece on each side. Cost: the library's, and one copy of the text.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator

from headrace import _native
from headrace.core.errors import MemoryLimitError, SourceError
from headrace.sources.compression.formats import LIBRARY_ERRORS, MARK_BYTES, READ_BYTES, Compression

_MAX_PIECE = 64 << 20


class _Input:
    """Compressed bytes in order. A decompressor can put back what it did not use."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._read = 0
        self._back = b""

    @classmethod
    def of(cls, source: _native.Source) -> _Input:
        return cls(source.read(at, READ_BYTES) for at in range(0, source.size, READ_BYTES))

    @property
    def at(self) -> int:
        """Offset of the next byte."""
        return self._read - len(self._back)

    def take(self) -> bytes:
        if self._back:
            piece, self._back = self._back, b""
            return piece
        piece = next(self._pieces, b"")
        self._read += len(piece)
        return piece

    def put_back(self, piece: bytes) -> None:
        self._back = piece

    def skip_zeros(self) -> None:
        while piece := self.take():
            rest = piece.lstrip(b"\0")
            if rest:
                self.put_back(rest)
                return

    def start(self) -> bytes:
        """Return the next bytes without consuming them; empty at the end."""
        piece = self.take()
        while piece and len(piece) < MARK_BYTES and (more := self.take()):
            piece += more
        self.put_back(piece)
        return piece[:MARK_BYTES]


def decompressed(source: _native.Source, form: Compression, name: str, memory_limit: int | None = None) -> bytearray:
    """Return the text of all members of `source`.

    `name`: name of the source, for messages. `memory_limit`: largest size of the text, in bytes; None for no limit. Raise
    SourceError if the source is truncated or corrupt, or other bytes follow its last member. Raise MemoryLimitError if the
    text is longer than `memory_limit`. Raise MissingDependencyError if the format's package is not installed.
    """
    text = bytearray()
    pending = _Input.of(source)
    begin = 0
    try:
        while True:
            begin = pending.at
            _append_member(text, form, pending, memory_limit)
            if form.padded:
                pending.skip_zeros()
            if not (start := pending.start()):
                break
            if not start.startswith(form.marks):
                raise _MalformedError(f"has {start!r} after its end, which is not {form.name}")
        source.check_unchanged()
    except _errors() as error:
        where = f"in the part that begins at byte {begin}, after {len(text)} bytes of text"
        raise SourceError(f"{name} cannot be decompressed as {form.name}: {error} ({where})") from None
    except MemoryLimitError:
        raise
    except MemoryError:
        raise MemoryLimitError(f"no more memory for the text of {name}: {len(text)} bytes so far") from None
    return text


def decompressed_pieces(pieces: Iterator[bytes], form: Compression, name: str) -> Iterator[bytes]:
    """Yield the text of compressed bytes in pieces of at most 64 MB."""
    pending = _Input(pieces)
    begin = done = 0
    try:
        while True:
            decompressor = form.make()
            while not decompressor.eof:
                piece = pending.take() if (wanted := decompressor.needs_input) else b""
                if wanted and not piece:
                    raise _MalformedError("it is truncated: its end is missing")
                text = decompressor.decompress(piece, min(form.max_output, _MAX_PIECE))
                done += len(text)
                if text:
                    yield text
            pending.put_back(decompressor.unused_data or b"")
            if form.padded:
                pending.skip_zeros()
            begin = pending.at
            if not (start := pending.start()):
                return
            if not start.startswith(form.marks):
                raise _MalformedError(f"has {start!r} after its end, which is not {form.name}")
    except SourceError:
        raise
    except _errors() as error:
        where = f"in the part that begins at byte {begin}, after {done} bytes of text"
        raise SourceError(f"{name} cannot be decompressed as {form.name}: {error} ({where})") from None


def decompressed_beginning(source: _native.Source, form: Compression, name: str, max_bytes: int) -> tuple[bytes, bool]:
    """Return the first `max_bytes` bytes of text, and whether they are all of it.

    Where the source is truncated, the text before the truncation is returned.
    """
    text = bytearray()
    pending = _Input.of(source)
    decompressor = form.make()
    try:
        while len(text) < max_bytes:
            if decompressor.eof:
                pending.put_back(decompressor.unused_data or b"")
                if form.padded:
                    pending.skip_zeros()
                if not pending.start():
                    return bytes(text), True
                decompressor = form.make()
            piece = pending.take() if (wanted := decompressor.needs_input) else b""
            if wanted and not piece and not text:
                raise _MalformedError("it is truncated: its end is missing")
            if wanted and not piece:
                break
            text += decompressor.decompress(piece, min(form.max_output, max_bytes - len(text)))
    except _errors() as error:
        raise SourceError(f"{name} cannot be decompressed as {form.name}: {error} (after {len(text)} bytes of text)") from None
    return bytes(text[:max_bytes]), False


class _MalformedError(Exception):
    """An error that no library reports: the end is missing, or other bytes follow it."""


def _errors() -> tuple[type[Exception], ...]:
    """Return the exceptions that libraries raise for malformed input; only imported libraries can have raised any."""
    names = (error.rpartition(".") for error in LIBRARY_ERRORS)
    named = [getattr(sys.modules[module], name) for module, _, name in names if sys.modules.get(module)]
    return (_MalformedError, zlib.error, OSError, EOFError, ValueError, RuntimeError, *named)


def _append_member(text: bytearray, form: Compression, pending: _Input, memory_limit: int | None) -> None:
    decompressor = form.make()
    while not decompressor.eof:
        piece = b""
        if decompressor.needs_input:
            piece = pending.take()
            if not piece:
                raise _MalformedError("it is truncated: its end is missing")
        left = form.max_output if memory_limit is None else min(form.max_output, memory_limit - len(text) + 1)
        more = decompressor.decompress(piece, left)
        text += more
        if memory_limit is None:
            _native.poll_group_memory(len(more))
        elif len(text) > memory_limit:
            raise MemoryLimitError(f"the decompressed text is longer than memory_limit = {memory_limit} bytes")
    pending.put_back(decompressor.unused_data or b"")  # lz4 gives None instead of empty bytes
