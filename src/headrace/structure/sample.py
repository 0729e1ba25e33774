"""Reads a bounded sample of a source: its first bytes, and windows further on to check a proposal against."""

from __future__ import annotations

import re
from dataclasses import dataclass

from headrace.core.options import positive
from headrace.sources.open import OpenSource

DEFAULT_SAMPLE_BYTES = 256 << 10
_WINDOWS = 3
_WINDOW_BYTES = 16 << 10
LINE_END = re.compile(rb"\r\n|\n|\r")


def line_end_pattern(line_end: bytes | None) -> re.Pattern[bytes]:
    """Return the pattern of a dialect's line ends."""
    return LINE_END if line_end is None else re.compile(re.escape(line_end))


def count_line_ends(text: bytes) -> dict[bytes, int]:
    """Return the number of each of the three line ends in a text."""
    both = text.count(b"\r\n")
    return {b"\n": text.count(b"\n") - both, b"\r\n": both, b"\r": text.count(b"\r") - both}


@dataclass(frozen=True, slots=True)
class Sample:
    """Bytes read from a source."""

    text: bytes  # the first bytes of the source, without a byte-order mark
    whole: bool  # `text` is the whole source; otherwise its last record is cut
    windows: tuple[bytes, ...] = ()  # parts from the middle to the end; each begins and ends anywhere in a record
    ends: bool = False  # the last window ends where the text ends

    @property
    def bytes_read(self) -> int:
        """Return the bytes of `text` and the windows together."""
        return len(self.text) + sum(map(len, self.windows))


def take_sample(source: OpenSource, begin: int, sample_bytes: int = DEFAULT_SAMPLE_BYTES) -> Sample:
    """Read `sample_bytes` from `begin` on, and three windows of 16 KB after them, whatever the size of the source.

    Bytes that cannot be decoded become U+FFFD. Text in UTF-8 is not decoded and keeps its bytes.
    """
    positive("sample_bytes", sample_bytes)
    size = source.size
    text = source.native.read(begin, min(sample_bytes, size - begin))
    end = begin + len(text)
    if end >= size:
        return Sample(_in_utf8(text, source.codec), whole=not source.cut)
    length = min(_WINDOW_BYTES, size - end)
    step = (size - length - end) // _WINDOWS
    places = sorted({_whole_unit(end + step * i, begin) for i in range(1, _WINDOWS)} | {_whole_unit(size - length, begin)})
    windows = (_in_utf8(source.native.read(place, length), source.codec) for place in places)
    return Sample(_in_utf8(text, source.codec), False, tuple(windows), ends=not source.cut)


def _whole_unit(place: int, begin: int) -> int:
    """Return `place` or the byte before it, where a code unit of UTF-16 begins. For other codecs any byte will do."""
    return place - (place - begin) % 2


def _in_utf8(data: bytes, codec: str) -> bytes:
    return data if codec == "utf-8" else data.decode(codec, "replace").encode()
