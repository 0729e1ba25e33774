"""Reads file objects: open ones, and those that a ``with`` block opens, as `fsspec.open` gives."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from copy import copy
from io import BytesIO, IOBase, StringIO, TextIOBase
from types import ModuleType
from typing import Any, Protocol, TypeGuard, runtime_checkable

from headrace.core.errors import OptionError
from headrace.sources.kinds.streams import (
    Content,
    StreamSource,
    checked_content,
    chunks_of,
    is_seekable,
    joined_within,
    peek_stream,
)


@runtime_checkable
class Readable(Protocol):
    """A file object: the result of `open`, `io.BytesIO` or a socket's `makefile`."""

    def read(self) -> bytes | str:
        """Return all that follows the current position."""


class FileToOpen(Protocol):
    """A file that a ``with`` block opens: the result of `fsspec.open`."""

    full_name: str

    def open(self) -> object:
        """Return the file object."""

    def __enter__(self) -> Readable:
        """Return the file object."""

    def __exit__(self, *error: object) -> bool | None:
        """Close the file."""


def is_readable(source: object) -> TypeGuard[Readable]:
    """Return whether `source` is an open file object. A module or a class with a `read` is not.

    Raise OptionError if it is a file object that is closed or open for writing only, or an open archive.
    """
    if not isinstance(source, Readable) or isinstance(source, type | ModuleType):
        return False
    if getattr(source, "closed", False) is True:
        raise OptionError("source is a file object that is closed; open it again, or pass its path")
    if isinstance(source, IOBase) and source.writable() and not source.readable():  # a class of its own may say neither
        raise OptionError("source is a file object that is open for writing only; open it with mode 'rb'")
    if hasattr(source, "namelist"):
        raise OptionError("source is an archive; pass one of its files: archive.open(name)")
    return True


def is_to_open(source: object) -> TypeGuard[FileToOpen]:
    """Return whether `source` is a file object that has to be opened first."""
    # isinstance() with a protocol takes 20 us for other objects.
    if not (hasattr(source, "full_name") and hasattr(source, "__enter__") and hasattr(source, "open")):
        return False
    return not isinstance(source, Readable | type | ModuleType | str | os.PathLike)


def opened_anew(source: FileToOpen) -> AbstractContextManager[Readable]:
    """Return a context that opens a copy of `source`, so that it may be open several times."""
    return copy(source)


def _name_of(stream: object) -> str:
    name = getattr(stream, "full_name", None) or getattr(stream, "name", None)
    return str(name or "<file object>")


def _read_all(stream: Any, name: str, memory_limit: int | None) -> Content:
    """Return what follows the position of a file object. Classes of users may have a `read` without a size."""
    if not isinstance(stream, IOBase) or isinstance(stream, BytesIO | StringIO):
        return checked_content(stream.read(), name)
    return joined_within(memory_limit, chunks_of(stream, name), name)


class FileObject(StreamSource):
    """An open file object, read from its current position."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.name = _name_of(stream)
        self.is_once = not is_seekable(stream)
        self._begin: int | None = None  # its position when it was first read

    def chunks(self) -> Iterator[bytes]:
        """Return the bytes from where the file object was at first."""
        if not self.is_once and self._begin is not None:
            self._stream.seek(self._begin)
        elif not self.is_once:
            self._begin = self._stream.tell()
        self.is_text = isinstance(self._stream.read(0), str)
        return chunks_of(self._stream, self.name)

    def read_all(self, memory_limit: int | None) -> Content:
        """Return what follows the current position."""
        self.is_text = isinstance(self._stream, TextIOBase)
        return _read_all(self._stream, self.name, memory_limit)

    def peek(self, max_bytes: int) -> tuple[Content, bool]:
        """Same as `StreamSource.peek`."""
        return peek_stream(self._stream, self.name, max_bytes)


class UnopenedFile(StreamSource):
    """A file object to be opened; each reading opens a copy."""

    def __init__(self, file: FileToOpen) -> None:
        self._file = file
        self.name = _name_of(file)
        self.is_text = "b" not in str(getattr(file, "mode", "rb"))

    def chunks(self) -> Iterator[bytes]:
        """Yield the file's bytes; the file is open until the last."""
        with opened_anew(self._file) as stream:
            yield from chunks_of(stream, self.name)

    def read_all(self, memory_limit: int | None) -> Content:
        """Return the whole file."""
        with opened_anew(self._file) as stream:
            self.is_text = isinstance(stream, TextIOBase)
            return _read_all(stream, self.name, memory_limit)

    def peek(self, max_bytes: int) -> tuple[Content, bool]:
        """Same as `StreamSource.peek`."""
        with opened_anew(self._file) as stream:
            return peek_stream(stream, self.name, max_bytes)
