"""A source that is read more than once, one among many."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from headrace.core.errors import SourceError
from headrace.sources.open import OpenSource, SourceLike, SourceOptions, checked_path, is_sized, open_source

KEPT_BYTES = 1 << 28


@dataclass(slots=True)
class Keeping:
    """What several sources may keep: `closing` closes what can be read only once, `room` is for texts decompressed once.

    Such a text is read at least twice, for its header and for its rows; where there is no room for it, it is decompressed again.
    """

    closing: ExitStack
    room: int = KEPT_BYTES


class ReopenedSource:
    """One of several sources, opened anew for each reading: there may be more files than may be open at once.

    Parameters
    ----------
    number
        From 1; the name of what has no path.
    source
        As for `open_source`. What is no regular file is read once, and kept.
    options
        As for `open_source`.
    keeping
        Shared with the others.
    """

    def __init__(self, number: int, source: SourceLike, options: SourceOptions, keeping: Keeping) -> None:
        self._options = options
        self._keeping = keeping
        self._path = checked_path(source, "source") if isinstance(source, str | os.PathLike) else None
        self._seen = _identity(self._path)
        self._held = None if self._seen else keeping.closing.enter_context(open_source(source, options))
        self.name = self._path or f"<source {number}>"
        if self._held is not None and not self._held.name.startswith("<"):
            self.name = self._held.name

    @contextmanager
    def opened(self) -> Iterator[OpenSource]:
        """The source, the same each time."""
        if self._held is not None:
            yield self._held
            return
        with open_source(self._path, self._options) as source:
            if _identity(self._path) != self._seen:
                raise SourceError(f"{self.name} changed while it was read")
            if 0 < source.held <= self._keeping.room:
                self._keeping.room -= source.held
                self._held = source
            yield source


def _identity(path: str | None) -> tuple[int, ...] | None:
    """What changes if a regular file does; None for anything else."""
    if path is None or not is_sized(path):
        return None
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
