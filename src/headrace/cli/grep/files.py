"""Finds the files that `headrace grep` searches."""

from __future__ import annotations

import os
import sys

from headrace.api.line_search import paths_of
from headrace.core.errors import SourceError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_STDIN = "-"


def files_of(name: str, given: Any, reported: Any) -> Iterator[tuple[bytes, Any]]:
    """Yield the name and the source of each wanted file that an argument names; those in a folder with ``-r``.

    `reported` yields the items of an iterator up to an error, which it prints.

    Raise SourceError if the argument names a folder, without ``-r``, or no file.
    """
    if name == _STDIN:
        if sys.stdin is None:
            raise SourceError("standard input is closed")
        yield b"(standard input)", sys.stdin.buffer
    elif not os.path.isdir(name):
        for path in paths_of(name):
            if _is_wanted(os.path.basename(str(path)), given):
                yield os.fsencode(str(path)), path
    elif given.recursive:
        is_left_out = _matches(os.path.basename(name.rstrip("/")), given.exclude_dir)
        for path in () if is_left_out else _files_below(name, given, reported):
            yield os.fsencode(path if given.words_are_files else path.removeprefix("./")), path
    else:
        raise SourceError(f"{name!r} is a directory; pass -r to search the files in it")


def _files_below(folder: str, given: Any, reported: Any) -> Iterator[str]:
    """Yield the files in a folder and in those below it while they are found. A folder that cannot be read is left out.

    The entries of a folder are ordered by name, and a folder's files come at its place among them: ``a/z``, ``b``, ``c/a``.
    Only entries of the open folders are in memory.
    """

    def entries_of(path: str) -> list[os.DirEntry[str]]:
        return sorted(reported(_entries(path)), key=lambda entry: entry.name, reverse=True)

    left = entries_of(folder)
    while left:
        entry = left.pop()
        if entry.is_dir(follow_symlinks=False):
            if not _matches(entry.name, given.exclude_dir):
                left += entries_of(entry.path)
        elif entry.is_file(follow_symlinks=False) and _is_wanted(entry.name, given):
            yield entry.path


def _entries(path: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(path) as found:
        yield from found


def _is_wanted(name: str, given: Any) -> bool:
    return (not given.include or _matches(name, given.include)) and not _matches(name, given.exclude)


def _matches(name: str, patterns: list[str]) -> bool:
    if not patterns:
        return False
    from fnmatch import fnmatchcase  # takes time to import

    return any(fnmatchcase(name, pattern) for pattern in patterns)
