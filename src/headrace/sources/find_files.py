"""Lists the sources that a reader is given: lists, patterns, and folders with partitions, and the keys that paths state."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from fnmatch import translate
from typing import Any

from headrace.core.errors import NoMatchError, OptionError, shown
from headrace.sources.kinds.file import checked_path, is_path, located
from headrace.sources.open import SourceLike
from headrace.sources.registry import kind_of

NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"  # value in a folder's name for null

_WILD = re.compile(r"[*?\[]")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_KEY_VALUE = re.compile(r"([^=]+)=(.*)", re.DOTALL)


def list_sources(source: object, *, glob: bool, hive: bool) -> list[SourceLike] | None:
    """Return the sources that `source` names, in order; None if it is a single source.

    Raise NoMatchError if no file matches a pattern, a folder has no files, or a path is a URL of no registered kind. Raise
    OptionError if the list is empty.

    `source`: anything that `open_source` accepts; a list, a tuple or an iterator of these; a set of paths; or a pattern. A
    pattern is a path with ``*``, ``?``, ``[...]`` or ``**`` (any folders), and names the files that it matches, sorted by path.
    A path that exists is never a pattern.
    `hive`: whether a folder names all files below it whose names begin with neither ``.`` nor ``_``.
    """
    kind = kind_of(source)
    if kind is not None:
        return _sources_of_path(source, glob, hive) if kind.is_path else None
    if isinstance(source, AbstractSet):
        source = _sorted_paths(source)
    if not isinstance(source, Sequence | Iterator):
        return None
    sources: list[SourceLike] = []
    for one in source:
        kind = kind_of(one)
        sources += (_sources_of_path(one, glob, hive) if kind is not None and kind.is_path else None) or [one]
    if not sources:
        raise OptionError("source is a list without a source in it; a table is read from one at least")
    return sources


def _sorted_paths(paths: AbstractSet[Any]) -> list[Any]:
    """Return a set of paths in the order of their texts. Raise OptionError if it holds something else, which has no order."""
    if other := next((one for one in paths if not is_path(one)), None):
        raise OptionError(f"source is a set, which has no order, with {shown(other)}; pass a list")
    return sorted(paths, key=os.fspath)


def _sources_of_path(source: Any, glob: bool, hive: bool) -> list[SourceLike] | None:
    path = located(checked_path(source, "source"))
    if hive and os.path.isdir(path):
        if found := list(_files_below(path)):
            return [*sorted(found)]
        raise NoMatchError(f"the folder {path!r} has no file, nor has any folder in it")
    if path.startswith("file:///") and not os.path.lexists(path):
        raise NoMatchError(f"{shown(path)} is a URL of a local file; pass its path: {shown(path[len('file://') :])}")
    if _URL.match(path) and not os.path.lexists(path):
        raise NoMatchError(
            f"{shown(path)} is a URL, and only local files are opened by name; pass fsspec.open(url) of the package fsspec,"
            " or urllib.request.urlopen(url)"
        )
    if glob and _WILD.search(path) and not os.path.lexists(path):
        return [*match_files(path)]
    return None


def _files_below(folder: str) -> Iterator[str]:
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        yield from (os.path.join(here, name) for name in names if not name.startswith((".", "_")))


def match_files(pattern: str) -> list[str]:
    """Return the files that a pattern matches, sorted by path.

    A name that begins with a dot matches only a pattern part that begins with a dot. ``**`` does not follow links, so it ends.

    Raise NoMatchError if no file matches; the message names the nearest folder that exists.
    """
    parts = [part for part in pattern.split("/") if part]
    root = "/" if pattern.startswith("/") else ""
    found = sorted({path for path in _matches(root, parts) if not os.path.isdir(path)})
    if found:
        return found
    nearest = root or "."
    for part in parts[:-1]:
        if _WILD.search(part) or not os.path.isdir(os.path.join(nearest, part)):
            break
        nearest = os.path.join(nearest, part)
    raise NoMatchError(f"no file matches {pattern!r}; the nearest folder that exists is {nearest!r}, with {_content(nearest)}")


def _matches(folder: str, parts: list[str]) -> Iterator[str]:
    """Yield the paths in `folder` ("" for the current one) that match the parts of a pattern."""
    part, rest = parts[0], parts[1:]
    if part == "**":
        yield from _matches(folder, rest or ["*"])
        for entry in _entries(folder):
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                yield from _matches(os.path.join(folder, entry.name), parts)
    elif not _WILD.search(part):
        path = os.path.join(folder, part)
        if rest and os.path.isdir(path):
            yield from _matches(path, rest)
        elif not rest and os.path.lexists(path):
            yield path
    else:
        fits = re.compile(translate(part)).match
        for entry in _entries(folder):
            if not fits(entry.name) or (entry.name.startswith(".") and not part.startswith(".")):
                continue
            path = os.path.join(folder, entry.name)
            if not rest:
                yield path
            elif entry.is_dir():
                yield from _matches(path, rest)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder or ".") as entries:
            return list(entries)
    except (PermissionError, FileNotFoundError):
        return []


def _content(folder: str) -> str:
    names = sorted(entry.name for entry in _entries(folder))
    if not names:
        return "nothing in it"
    return ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5} more in it" if len(names) > 5 else " in it")


def partition_keys(path: str) -> dict[str, str | None]:
    """Return the keys and values that the folders of a path state; None is null.

    >>> partition_keys("sales/year=2024/city=New%20York/part-1.csv")
    {'year': '2024', 'city': 'New York'}
    """
    from urllib.parse import unquote  # slow to import, and rarely needed

    found = [_KEY_VALUE.fullmatch(part) for part in path.split("/")[:-1]]
    pairs = [(unquote(match[1]), unquote(match[2])) for match in found if match]
    return {key: None if value in ("", NULL_PARTITION) else value for key, value in pairs}


def partitions(paths: Sequence[str], wanted: bool | None) -> Mapping[str, list[str | None]]:
    """Return, for each key in the folders of the paths, its values for all files.

    Raise OptionError if `wanted` is true, and a path states no keys or other keys than the first.

    `wanted`: whether paths must state keys; None: they may, and count if all paths state the same keys.
    """
    if wanted is False:
        return {}
    keys = [partition_keys(path) for path in paths]
    first = keys[0]
    for path, found in zip(paths, keys, strict=True):
        if found and found.keys() == first.keys():
            continue
        if not wanted:
            return {}
        if not first:
            raise OptionError(f"hive_partitioning: {path!r} has no folder such as year=2024")
        have = ", ".join(found) or "none"
        raise OptionError(f"hive_partitioning: {path!r} has the keys {have}, and {paths[0]!r} has {', '.join(first)}")
    return {key: [found[key] for found in keys] for key in first}
