"""Reads bytes that are in host memory: any object that provides them by the buffer protocol."""

from __future__ import annotations

import os
import re
from contextlib import nullcontext

from headrace import _native
from headrace.core.errors import OptionError
from headrace.sources.kinds.ranges import NativeReader, RangeSource

_BYTE_FORMATS = ("B", "b", "c")
_MAX_PATH = 4096
_NO_PATH = re.compile(rb"[\0\r\n]")


def is_buffer(source: object) -> bool:
    """Return whether `source` provides bytes by the buffer protocol, as `mmap` and `array.array` do."""
    try:
        memoryview(source).release()  # type: ignore[arg-type]
    except (TypeError, ValueError, BufferError):
        return False
    return True


def memory_source(source: object) -> RangeSource:
    """Return the source of the bytes of a buffer."""
    return RangeSource("<bytes>", lambda _: nullcontext(NativeReader(_native.Source.from_bytes(_bytes_of(source)))))


def _bytes_of(source: object) -> memoryview:
    """Return the bytes of a buffer.

    Raise OptionError if the buffer has items of another type or is not contiguous, or its bytes name an existing file.
    """
    view = memoryview(source)  # type: ignore[arg-type]
    if view.format not in _BYTE_FORMATS:
        kind = type(source).__name__
        raise OptionError(f"source is {kind} with items of format {view.format!r}; a text is an array of bytes (uint8)")
    if not view.c_contiguous:
        raise OptionError("source must be contiguous; pass bytes(source)")
    if 0 < view.nbytes <= _MAX_PATH and _names_a_file(view.tobytes()):
        name = view.tobytes()
        raise OptionError(f"source is bytes that name the file {name!r}, and bytes are the text itself; pass os.fsdecode(source)")
    return view


def _names_a_file(text: bytes) -> bool:
    return not _NO_PATH.search(text) and os.path.isfile(text)
