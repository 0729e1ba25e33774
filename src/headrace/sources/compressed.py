"""Compressed sources, told by how they begin, decompressed into memory piece by piece by well-kept libraries.

Memory: the text, by up to an eighth more while it grows, and a piece of each side. Cost: the library's own, and one copy of the
text. A library's checksums are checked; input that breaks off or does not add up is an error, never a shorter text.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Literal, Protocol

from headrace import _native
from headrace.core.errors import MemoryLimitError, MissingDependencyError, SourceError

_READ = 256 << 10
_WRITE = 1 << 20
_START = 10
_MOST_PIECE = 64 << 20
_ZSTD_RATIO = 1 << 15
"""A block of zstd has 4 bytes at least and makes 128 KB at most."""


class Decompressor(Protocol):
    """What the standard library's decompressors of bz2 and xz are: for one member, in pieces."""

    @property
    def eof(self) -> bool:
        """Whether the member has ended."""

    @property
    def needs_input(self) -> bool:
        """Whether nothing more is to come from what was put in."""

    @property
    def unused_data(self) -> bytes:
        """What was put in behind the member's end."""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """What `data` makes, as far as it is known, `max_length` bytes at most."""


@dataclass(frozen=True, slots=True)
class Compression:
    """A format: how it begins (one of `marks`), what decompresses a member, whether zeros may pad its end, and how much text it
    is asked for at a time.
    """

    name: str
    marks: tuple[bytes, ...]
    make: Callable[[], Decompressor]
    padded: bool = False
    most: int = _WRITE


class _Zlib:
    """The protocol for zlib's decompressors, and for their twins in isal."""

    def __init__(self, made: Any) -> None:
        self._made = made

    @property
    def eof(self) -> bool:
        return bool(self._made.eof)

    @property
    def needs_input(self) -> bool:
        return not self._made.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return bytes(self._made.unused_data)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return bytes(self._made.decompress(self._made.unconsumed_tail + data, max_length))


class _Zstandard:
    """The protocol for the package zstandard, which cannot be told how much to give: it is fed little where little is wanted."""

    def __init__(self, made: Any) -> None:
        self._made = made
        self._waiting = b""

    @property
    def needs_input(self) -> bool:
        return not self._waiting

    @property
    def eof(self) -> bool:
        return bool(self._made.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._made.unused_data) + self._waiting

    def decompress(self, data: bytes, max_length: int) -> bytes:
        self._waiting += data
        step = max(64, max_length // _ZSTD_RATIO)
        taken, self._waiting = self._waiting[:step], self._waiting[step:]
        return bytes(self._made.decompress(taken))


def _package(name: str, package: str, what: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingDependencyError.of(package, "compression", what) from None


@cache
def gzip_module() -> Any:
    """isal's twin of zlib, where it is installed: several times faster."""
    try:
        return import_module("isal.isal_zlib")
    except ImportError:
        return zlib


def _gzip() -> Decompressor:
    return _Zlib(gzip_module().decompressobj(wbits=31))


def _zstd() -> Decompressor:
    try:
        standard = import_module("compression.zstd")  # of Python 3.14
    except ImportError:
        package = _package("zstandard", "zstandard", "a source compressed with zstd")
        return _Zstandard(package.ZstdDecompressor().decompressobj())
    made: Decompressor = standard.ZstdDecompressor()
    return made


def _lz4() -> Decompressor:
    made: Decompressor = _package("lz4.frame", "lz4", "a source compressed with lz4").LZ4FrameDecompressor()
    return made


def _made(decompressor: Decompressor) -> Decompressor:
    return decompressor


_BZ2_MARKS = tuple(b"BZh%d%s" % (level, block) for level in range(1, 10) for block in (b"1AY&SY", b"\x17rE8P\x90"))
"""Level, then the mark of a first block or, in an empty one, of the end."""
_FORMATS = (
    Compression("gzip", (b"\x1f\x8b\x08",), _gzip, padded=True),
    Compression("zstd", (b"\x28\xb5\x2f\xfd",), _zstd, most=_READ * _ZSTD_RATIO),
    Compression("bz2", _BZ2_MARKS, lambda: _made(import_module("bz2").BZ2Decompressor())),
    Compression("xz", (b"\xfd7zXZ\0",), lambda: _made(import_module("lzma").LZMADecompressor()), padded=True),
    Compression("lz4", (b"\x04\x22\x4d\x18",), _lz4),
)
CompressionName = Literal["gzip", "zstd", "bz2", "xz", "lz4"]
COMPRESSIONS = {form.name: form for form in _FORMATS}
"""The formats by name."""
_ALL_MARKS = tuple(mark for form in _FORMATS for mark in form.marks)


def recognised(start: bytes) -> Compression | None:
    """The format of a source that begins with `start` (10 bytes of it, if it has them).

    Examples
    --------
    >>> recognised(b"\\x1f\\x8b\\x08\\0\\0\\0").name
    'gzip'
    >>> recognised(b"a,b\\n1,2\\n")
    """
    if not start.startswith(_ALL_MARKS):
        return None
    return next(form for form in _FORMATS if start.startswith(form.marks))


class _Input:
    """A source's bytes in order; those that a decompressor did not want come again."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._read = 0
        self._back = b""

    @classmethod
    def of(cls, source: _native.Source) -> _Input:
        return cls(source.read(at, _READ) for at in range(0, source.size, _READ))

    @property
    def at(self) -> int:
        """The next byte's place."""
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
        """The next bytes, which stay; empty at the end."""
        piece = self.take()
        while piece and len(piece) < _START and (more := self.take()):
            piece += more
        self.put_back(piece)
        return piece[:_START]


def decompressed(source: _native.Source, form: Compression, name: str, memory_limit: int | None = None) -> bytearray:
    """All members of `source`, one behind the other.

    Parameters
    ----------
    name
        Of the source, for messages.
    memory_limit
        Bytes that the text may have; None for no limit.

    Raises
    ------
    SourceError
        The source breaks off, does not add up, or has something else behind its last member.
    MemoryLimitError
        The text is longer than `memory_limit`.
    MissingDependencyError
        The format's package is not installed.
    """
    text = bytearray()
    taken = _Input.of(source)
    begin = 0
    try:
        while True:
            begin = taken.at
            _append_member(text, form, taken, memory_limit)
            if form.padded:
                taken.skip_zeros()
            if not (start := taken.start()):
                break
            if not start.startswith(form.marks):
                raise _MalformedError(f"has {start!r} behind its end, which is no {form.name}")
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
    """The text of compressed bytes, as it comes: each piece is at most 64 MB.

    Raises
    ------
    SourceError, MissingDependencyError
        As `decompressed`.
    """
    taken = _Input(pieces)
    begin = done = 0
    try:
        while True:
            decompressor = form.make()
            while not decompressor.eof:
                piece = taken.take() if (wanted := decompressor.needs_input) else b""
                if wanted and not piece:
                    raise _MalformedError("it breaks off: its end is missing")
                text = decompressor.decompress(piece, min(form.most, _MOST_PIECE))
                done += len(text)
                if text:
                    yield text
            taken.put_back(decompressor.unused_data or b"")
            if form.padded:
                taken.skip_zeros()
            begin = taken.at
            if not (start := taken.start()):
                return
            if not start.startswith(form.marks):
                raise _MalformedError(f"has {start!r} behind its end, which is no {form.name}")
    except SourceError:
        raise
    except _errors() as error:
        where = f"in the part that begins at byte {begin}, after {done} bytes of text"
        raise SourceError(f"{name} cannot be decompressed as {form.name}: {error} ({where})") from None


def decompressed_beginning(source: _native.Source, form: Compression, name: str, most: int) -> tuple[bytes, bool]:
    """The first `most` bytes of text, fewer where the source breaks off, and whether that is all of it.

    Raises
    ------
    SourceError, MissingDependencyError
        As `decompressed`.
    """
    text = bytearray()
    taken = _Input.of(source)
    decompressor = form.make()
    try:
        while len(text) < most:
            if decompressor.eof:
                taken.put_back(decompressor.unused_data or b"")
                if form.padded:
                    taken.skip_zeros()
                if not taken.start():
                    return bytes(text), True
                decompressor = form.make()
            piece = taken.take() if (wanted := decompressor.needs_input) else b""
            if wanted and not piece and not text:
                raise _MalformedError("it breaks off: its end is missing")
            if wanted and not piece:
                break
            text += decompressor.decompress(piece, min(form.most, most - len(text)))
    except _errors() as error:
        raise SourceError(f"{name} cannot be decompressed as {form.name}: {error} (after {len(text)} bytes of text)") from None
    return bytes(text[:most]), False


class _MalformedError(Exception):
    """What no library finds: the end is missing, or something is behind it."""


def _errors() -> tuple[type[Exception], ...]:
    """What the libraries raise for malformed input; those that are not imported cannot have raised anything."""
    modules = [sys.modules.get(name) for name in ("lzma", "zstandard", "compression.zstd", "isal.isal_zlib")]
    named = [getattr(module, name) for module in modules for name in ("LZMAError", "ZstdError", "error") if hasattr(module, name)]
    return (_MalformedError, zlib.error, OSError, EOFError, ValueError, RuntimeError, *named)


def _append_member(text: bytearray, form: Compression, taken: _Input, memory_limit: int | None) -> None:
    decompressor = form.make()
    while not decompressor.eof:
        piece = b""
        if decompressor.needs_input:
            piece = taken.take()
            if not piece:
                raise _MalformedError("it breaks off: its end is missing")
        left = form.most if memory_limit is None else min(form.most, memory_limit - len(text) + 1)
        text += decompressor.decompress(piece, left)
        if memory_limit is not None and len(text) > memory_limit:
            raise MemoryLimitError(f"the decompressed text is longer than memory_limit = {memory_limit} bytes")
    taken.put_back(decompressor.unused_data or b"")  # lz4 has None for nothing
