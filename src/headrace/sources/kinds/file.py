"""Reads local files by path: regular files by pread, and pipes and devices from their beginning to their end."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeGuard

from headrace import _native
from headrace.core.errors import OptionError, SourceError, shown
from headrace.sources.kinds.ranges import CHUNK_BYTES, NativeReader, RangeReader, RangeSource
from headrace.sources.kinds.streams import Content, StreamSource, joined_within

_LINE_BREAK = re.compile(r"[\r\n]")


def is_path(source: object) -> TypeGuard[str | os.PathLike[str]]:
    """Return whether `source` is a path."""
    return isinstance(source, str | os.PathLike)


def checked_path(path: str | os.PathLike[str], name: str) -> str:
    """Return a path as text that the system accepts; `name` is the option's name for messages.

    Raise OptionError if the path is one of bytes, is text instead of a path, or contains a character that no path can
    contain.
    """
    found = os.fspath(path)
    if not isinstance(found, str):
        raise OptionError(f"{name} must be a str path, not {shown(found)}; bytes would be taken for the text itself")
    if _LINE_BREAK.search(found) and not _exists(found):
        raise OptionError(f"{name} looks like text, not like a path: {shown(found, 40)}; pass bytes or io.StringIO")
    try:
        valid = b"\0" not in os.fsencode(found)
    except UnicodeEncodeError:
        valid = False
    if not valid:
        raise OptionError(f"{name} must be a path, and {shown(found)} holds a character that no path can hold")
    return found


def _exists(path: str) -> bool:
    try:
        return os.path.lexists(path)
    except ValueError:  # it holds a character that no path can hold
        return False


def located(path: str) -> str:
    """Return the path with a home directory in place of a leading ``~``, unless the path exists as it is.

    Raise OptionError if the path is ``-``, and there is no such file.
    """
    if path == "-" and not os.path.lexists(path):
        raise OptionError("source '-' is no file; for standard input pass sys.stdin.buffer")
    return os.path.expanduser(path) if path.startswith("~") and not os.path.lexists(path) else path


def file_source(path: str | os.PathLike[str]) -> RangeSource | StreamSource:
    """Return the source of a path: ranges of a regular file, the stream of anything else. A directory fails when it is opened.

    Raise FileNotFoundError or OSError if the path does not name an accessible file.
    """
    name = located(checked_path(path, "source"))
    found = os.stat(name)
    if stat.S_ISDIR(found.st_mode) or (stat.S_ISREG(found.st_mode) and _has_its_size(name, found)):
        return RangeSource(name, lambda _: _opened(name))
    return PathStream(name)


def _has_its_size(path: str, found: os.stat_result) -> bool:
    """Return whether a regular file ends where the system says.

    Files of /proc have size 0, and files of /sys the size of a page. They hold more or less, and are read to their end as pipes
    are.
    """
    if found.st_size and found.st_blocks:
        return True
    with open(path, "rb", buffering=0) as file:
        file.seek(max(found.st_size - 1, 0))
        return bool(file.read(1)) == bool(found.st_size)


@contextmanager
def _opened(path: str) -> Iterator[RangeReader]:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            raise SourceError(
                f"{path!r} is a directory; name a file in it, or several: {os.path.join(path, '*.csv')!r}, or all files below it "
                "with hive_partitioning=True"
            )
        identity = found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
        name = os.fsencode(path).decode(errors="backslashreplace")  # of any bytes, for messages
        yield NativeReader(_native.Source.from_file(descriptor, name), path=path, identity=identity)
    finally:
        os.close(descriptor)


class PathStream(StreamSource):
    """A pipe or device that a path names."""

    is_once = True

    def __init__(self, path: str) -> None:
        self.name = path

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes up to the end."""
        descriptor = os.open(self.name, os.O_RDONLY | os.O_CLOEXEC)
        try:
            while chunk := os.read(descriptor, CHUNK_BYTES):
                yield chunk
        finally:
            os.close(descriptor)

    def read_all(self, memory_limit: int | None) -> Content:
        """Return the bytes up to the end."""
        return joined_within(memory_limit, self.chunks(), self.name)
