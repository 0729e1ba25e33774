"""From what a caller has (a path, bytes, a file object) to a source that the native readers take."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from headrace import _native
from headrace.core.errors import OptionError, SourceError


@runtime_checkable
class Readable(Protocol):
    """A file object: what `open`, `io.BytesIO` or a socket's `makefile` give."""

    def read(self) -> bytes | str:
        """All that is left."""


SourceLike = str | os.PathLike[str] | bytes | bytearray | memoryview | Readable
"""A path, bytes, or a file object; at run time whatever lends its bytes will do (mmap, array, NumPy)."""


@dataclass(frozen=True, slots=True)
class OpenSource:
    """A source that is open for reading.

    Parameters
    ----------
    native
        What the native readers take.
    name
        For messages: the path, or ``"<bytes>"``.
    """

    native: _native.Source
    name: str

    @property
    def size(self) -> int:
        """Bytes."""
        return self.native.size


@contextmanager
def open_source(source: object) -> Iterator[OpenSource]:
    """Open `source` until the block ends.

    A regular file is read in pieces, never mapped and never held whole. Pipes, devices and file objects are read to their
    end first. A file object is read from where it stands; text is taken as UTF-8.

    Raises
    ------
    OptionError
        `source` is none of these.
    SourceError
        It cannot be read: a directory, say. What is not there raises `FileNotFoundError` as `open` does.
    """
    if isinstance(source, str | os.PathLike):
        yield from _open_path(os.fspath(source))
    elif isinstance(source, Readable):
        content = source.read()
        name = str(getattr(source, "name", None) or "<file object>")
        data = content.encode() if isinstance(content, str) else content
        if not isinstance(data, bytes | bytearray | memoryview):
            raise SourceError(f"read() of {name} gave {content!r}, not bytes or text; is it a non-blocking stream?")
        yield OpenSource(_native.Source.from_bytes(data), name)
    else:
        try:
            view = memoryview(source)  # type: ignore[arg-type]
        except TypeError:
            kind = type(source).__name__
            raise OptionError(f"source must be a path, bytes or a file object, not {kind}") from None
        if not view.c_contiguous:
            raise OptionError("source must be contiguous; pass bytes(source)")
        yield OpenSource(_native.Source.from_bytes(view), "<bytes>")


def _open_path(path: str) -> Iterator[OpenSource]:
    if not isinstance(path, str):
        raise OptionError(f"source must be a str path, not {path!r}; bytes would be taken for the text itself")
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise SourceError(f"{path!r} is a directory; name a file in it")
        if stat.S_ISREG(mode):
            yield OpenSource(_native.Source.from_file(descriptor, path), path)
        else:
            with os.fdopen(os.dup(descriptor), "rb") as stream:
                yield OpenSource(_native.Source.from_bytes(stream.read()), path)
    finally:
        os.close(descriptor)
