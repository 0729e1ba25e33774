"""Maps the argument of a caller to its kind of source.

This is the only place that asks for the kind. To add one (``http``, ``s3``): a file in `kinds/` with a `RangeReader`, and a row
in `SOURCE_KINDS` before ``file``, whose row takes every text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from headrace.core.errors import OptionError
from headrace.sources.kinds.file import file_source, is_path
from headrace.sources.kinds.file_object import FileObject, UnopenedFile, is_readable, is_to_open
from headrace.sources.kinds.gpu_array import gpu_source, is_on_gpu
from headrace.sources.kinds.memory import is_buffer, memory_source
from headrace.sources.kinds.ranges import RangeSource
from headrace.sources.kinds.streams import StreamSource

AnySource = RangeSource | StreamSource


@dataclass(frozen=True, slots=True)
class SourceKind:
    """A kind of source."""

    name: str  # name of the kind
    matches: Callable[[object], bool]  # True if the argument of a caller is of this kind
    source: Callable[[Any], AnySource]  # Returns its source. Nothing is read before that is opened.
    is_path: bool = False  # True if it is a local path, for which patterns and folders are expanded


SOURCE_KINDS = (
    SourceKind("bytes", lambda given: isinstance(given, bytes | bytearray | memoryview), memory_source),
    SourceKind("gpu", is_on_gpu, gpu_source),
    SourceKind("file", is_path, file_source, is_path=True),
    SourceKind("file to open", is_to_open, UnopenedFile),
    SourceKind("stream", is_readable, FileObject),
    SourceKind("buffer", is_buffer, memory_source),
)  # all kinds; the first that matches is taken


def kind_of(given: object) -> SourceKind | None:
    """Return the kind of source that `given` is, None if it is no source (a list of sources, or a mistake).

    Raise OptionError if it is a file object that is closed.
    """
    return next((kind for kind in SOURCE_KINDS if kind.matches(given)), None)


def source_of(given: object) -> AnySource:
    """Return the source that `given` is. Raise FileNotFoundError or OSError if a path does not name an accessible file."""
    kind = kind_of(given)
    if kind is None:
        raise OptionError(f"source must be a path, bytes or a file object, not {type(given).__name__}")
    return kind.source(given)
