"""Lists the compression formats, one row each, and adapts their libraries to one decompressor interface.

To add a format: a row in `_FORMATS`, one in `marks.MARKS`, and a function that makes its decompressor.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Literal, Protocol

from headrace.core.errors import MissingDependencyError
from headrace.sources.compression.marks import ALL_MARKS, MARKS
from headrace.sources.compression.zip_archive import ZipArchive

READ_BYTES = 256 << 10  # compressed bytes read at a time

_OUTPUT_BYTES = 1 << 20
_ZSTD_RATIO = 1 << 15  # largest expansion by zstd: a block of at least 4 bytes makes at most 128 KB


class Decompressor(Protocol):
    """Decompresses one member piece by piece; the standard library's interface for bz2 and xz."""

    @property
    def eof(self) -> bool:
        """True if the member has ended."""

    @property
    def needs_input(self) -> bool:
        """True if all output for the input up to here has been returned."""

    @property
    def unused_data(self) -> bytes:
        """Input that follows the member's end."""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Return at most `max_length` further bytes of text."""


@dataclass(frozen=True, slots=True)
class Compression:
    """A compression format."""

    name: str  # name of the format, a value of the option ``compression=``
    marks: tuple[bytes, ...]  # byte sequences of which a compressed source begins with one
    make: Callable[[], Decompressor]  # returns a decompressor for one member
    padded: bool = False  # True if zero bytes may follow the last member
    max_output: int = _OUTPUT_BYTES  # bytes of text to request from one call


class _Zlib:
    """Adapts the decompressors of zlib and of isal, which has the same interface."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    @property
    def eof(self) -> bool:
        return bool(self._inner.eof)

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return bytes(self._inner.unused_data)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return bytes(self._inner.decompress(self._inner.unconsumed_tail + data, max_length))


class _Zstandard:
    """Adapts the package zstandard, which cannot limit its output: little input is passed where little output is wanted."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._waiting = b""

    @property
    def needs_input(self) -> bool:
        return not self._waiting

    @property
    def eof(self) -> bool:
        return bool(self._inner.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._inner.unused_data) + self._waiting

    def decompress(self, data: bytes, max_length: int) -> bytes:
        self._waiting += data
        step = max(64, max_length // _ZSTD_RATIO)
        piece, self._waiting = self._waiting[:step], self._waiting[step:]
        return bytes(self._inner.decompress(piece))


def _package(name: str, package: str, what: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingDependencyError.of(package, "compression", what) from None


@cache
def gzip_module() -> Any:
    """Return isal's replacement for zlib, several times faster; zlib where isal is not installed."""
    try:
        return import_module("isal.isal_zlib")
    except ImportError:
        return zlib


def _gzip() -> Decompressor:
    return _Zlib(gzip_module().decompressobj(wbits=31))


def _zip() -> Decompressor:
    return ZipArchive(lambda: _Zlib(gzip_module().decompressobj(wbits=-15)))


def _zstd() -> Decompressor:
    try:
        standard = import_module("compression.zstd")  # from Python 3.14 on
    except ImportError:
        package = _package("zstandard", "zstandard", "a source compressed with zstd")
        return _Zstandard(package.ZstdDecompressor().decompressobj())
    decompressor: Decompressor = standard.ZstdDecompressor()
    return decompressor


_FORMATS = (
    Compression("gzip", MARKS["gzip"], _gzip, padded=True),
    Compression("zstd", MARKS["zstd"], _zstd, max_output=READ_BYTES * _ZSTD_RATIO),
    Compression("bz2", MARKS["bz2"], lambda: import_module("bz2").BZ2Decompressor()),
    Compression("xz", MARKS["xz"], lambda: import_module("lzma").LZMADecompressor(), padded=True),
    Compression("lz4", MARKS["lz4"], lambda: _package("lz4.frame", "lz4", "a source compressed with lz4").LZ4FrameDecompressor()),
    Compression("zip", MARKS["zip"], _zip),
)
CompressionName = Literal["gzip", "zstd", "bz2", "xz", "lz4", "zip"]
COMPRESSIONS = {row.name: row for row in _FORMATS}  # format by name


def recognised(start: bytes) -> Compression | None:
    """Return the format of a source that begins with `start`, None if it is not compressed.

    `start`: the first 10 bytes, fewer if the source is shorter.

    >>> recognised(b"\\x1f\\x8b\\x08\\0\\0\\0").name
    'gzip'
    >>> recognised(b"a,b\\n1,2\\n")
    """
    if not start.startswith(ALL_MARKS):
        return None
    return next(row for row in _FORMATS if start.startswith(row.marks))
