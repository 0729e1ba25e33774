"""Finds the files that `headrace grep` searches."""

from __future__ import annotations

import os

from headrace.api.line_search import paths_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_STDIN = "-"


def files_of(name: str, given: Any) -> Iterator[tuple[bytes, Any]]:
    """Yield the name and the source of each file that an argument names; those in a folder with ``-r``."""
    if name == _STDIN:
        from headrace.cli.common import options  # takes time to import

        yield b"(standard input)", options.source_of([name])
    elif given.recursive and os.path.isdir(name):
        for path in _files_below(name, given):
            yield os.fsencode(path if given.words_are_files else path.removeprefix("./")), path
    else:
        for path in paths_of(name):
            yield os.fsencode(str(path)), path


def _files_below(folder: str, given: Any) -> Iterator[str]:
    """Yield the files in a folder and in those below it, ordered by name."""
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if not _matches(entry.name, given.exclude_dir):
                yield from _files_below(entry.path, given)
        elif entry.is_file(follow_symlinks=False) and _is_wanted(entry.name, given):
            yield entry.path


def _is_wanted(name: str, given: Any) -> bool:
    return (not given.include or _matches(name, given.include)) and not _matches(name, given.exclude)


def _matches(name: str, patterns: list[str]) -> bool:
    if not patterns:
        return False
    from fnmatch import fnmatchcase  # takes time to import

    return any(fnmatchcase(name, pattern) for pattern in patterns)
