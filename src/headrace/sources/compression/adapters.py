"""Adapts the libraries of compression formats to one decompressor interface."""

from __future__ import annotations

import zlib
from functools import cache
from importlib import import_module
from typing import Any, Protocol

from headrace.core.errors import MissingDependencyError
from headrace.sources.compression.formats import ZSTD_RATIO


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
        self._waiting = memoryview(b"")  # a part of it is not a copy: input of 1 MB is passed in parts of 2 KB

    @property
    def needs_input(self) -> bool:
        return not self._waiting

    @property
    def eof(self) -> bool:
        return bool(self._inner.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._inner.unused_data) + self._waiting.tobytes()

    def decompress(self, data: bytes, max_length: int) -> bytes:
        self._waiting = memoryview(self._waiting.tobytes() + data) if data else self._waiting
        step = max(64, max_length // ZSTD_RATIO)
        piece, self._waiting = self._waiting[:step], self._waiting[step:]
        return bytes(self._inner.decompress(piece))


def inflate(wbits: int) -> Decompressor:
    """Return a decompressor of one deflate stream. `wbits`: its format, as zlib numbers them."""
    return _Zlib(gzip_module().decompressobj(wbits=wbits))


def zstd() -> Decompressor:
    """Return a decompressor of the standard library (from Python 3.14 on), or of the package zstandard."""
    try:
        standard = import_module("compression.zstd")
    except ImportError:
        return _Zstandard(package("zstandard", "a source compressed with zstd").ZstdDecompressor().decompressobj())
    decompressor: Decompressor = standard.ZstdDecompressor()
    return decompressor


def package(name: str, what: str) -> Any:
    """Import a module of a package of its name. Raise MissingDependencyError, which names `what`, if it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        raise MissingDependencyError.of(name.partition(".")[0], "compression", what) from None


@cache
def gzip_module() -> Any:
    """Return isal's replacement for zlib, several times faster; zlib where isal is not installed."""
    try:
        return import_module("isal.isal_zlib")
    except ImportError:
        return zlib
