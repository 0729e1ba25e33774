"""Opens a source several times, one of many."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from headrace.core.errors import SourceError
from headrace.sources.kinds.streams import StreamSource
from headrace.sources.open import OpenSource, SourceLike, SourceOptions, open_source
from headrace.sources.registry import AnySource, source_of

KEPT_BYTES = 1 << 28  # decompressed text that all sources together may keep, in bytes


@dataclass(slots=True)
class SharedResources:
    """Resources that several sources may keep: open files and memory."""

    closing: ExitStack  # closes the sources that are kept open
    spare_bytes: int = KEPT_BYTES
    """Bytes left for decompressed texts. A text is read at least twice, for its header and for its rows. A text without room is
    decompressed again.
    """


class ReopenedSource:
    """One of several sources. It is opened for each reading, because there may be more files than may be open at once.

    `number`: number of the source, from 1; part of the name of a source without a name.
    `source`: as for `open_source`. A source without an identity (a stream, bytes) is opened once and kept.
    `keeping`: shared by all sources.
    """

    def __init__(self, number: int, source: SourceLike, options: SourceOptions, keeping: SharedResources) -> None:
        self._options, self._keeping, self._source = options, keeping, source
        found = source_of(source)
        self._identity = _identity_of(found, options)
        self._source_held = keeping.closing.enter_context(open_source(source, options)) if self._identity is None else None
        self.name = f"<source {number}>" if found.name.startswith("<") else found.name

    @contextmanager
    def opened(self) -> Iterator[OpenSource]:
        """Open the source; its bytes are the same each time. Raise SourceError if the source changed."""
        if self._source_held is not None:
            yield self._source_held
            return
        with open_source(self._source, self._options) as source:
            if source.identity != self._identity:
                raise SourceError(f"{self.name} changed while it was read")
            if 0 < source.held_bytes <= self._keeping.spare_bytes:
                self._keeping.spare_bytes -= source.held_bytes
                self._source_held = source
            yield source


def _identity_of(source: AnySource, options: SourceOptions) -> Hashable:
    if isinstance(source, StreamSource):
        return None
    with source.open(options.crossings) as reader:
        return reader.identity()
