"""Offers the search for lines that `headrace grep` prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headrace.query.find.lines import LineOutput, LineSearch, blocks_of
from headrace.sources.find_files import list_sources

__all__ = ["LineOutput", "LineSearch", "blocks_of", "paths_of"]


def paths_of(file: str) -> Iterator[Any]:
    """Yield the files that a path or a pattern names.

    Raises
    ------
    NoMatchError
        No file matches the pattern.
    """
    yield from list_sources(file, glob=True, hive=False) or [file]
