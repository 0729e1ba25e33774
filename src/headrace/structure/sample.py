"""A bounded look at a source: its beginning, and windows from further on to check against."""

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
    """How often a text has each of the three line ends."""
    both = text.count(b"\r\n")
    return {b"\n": text.count(b"\n") - both, b"\r\n": both, b"\r": text.count(b"\r") - both}


@dataclass(frozen=True, slots=True)
class Sample:
    """What was looked at.

    Parameters
    ----------
    text
        The beginning of the source, byte-order mark excluded.
    whole
        `text` is all there is; otherwise its last record is cut.
    windows
        Pieces from the middle to the end; they begin and end anywhere in a record.
    ends
        The last window ends with the text.
    """

    text: bytes
    whole: bool
    windows: tuple[bytes, ...] = ()
    ends: bool = False

    @property
    def bytes_read(self) -> int:
        """Of the beginning and the windows together."""
        return len(self.text) + sum(map(len, self.windows))


def take_sample(source: OpenSource, begin: int, sample_bytes: int = DEFAULT_SAMPLE_BYTES) -> Sample:
    """Read `sample_bytes` from `begin` on and three windows of 16 KB behind them, whatever the size of the source.

    What cannot be decoded is U+FFFD in the sample; of UTF-8, which is not decoded, it stays.
    """
    positive("sample_bytes", sample_bytes)
    size = source.size
    text = source.native.read(begin, min(sample_bytes, size - begin))
    behind = begin + len(text)
    if behind >= size:
        return Sample(_in_utf8(text, source.codec), whole=not source.cut)
    length = min(_WINDOW_BYTES, size - behind)
    step = (size - length - behind) // _WINDOWS
    places = sorted({_whole_unit(behind + step * i, begin) for i in range(1, _WINDOWS)} | {_whole_unit(size - length, begin)})
    windows = (_in_utf8(source.native.read(place, length), source.codec) for place in places)
    return Sample(_in_utf8(text, source.codec), False, tuple(windows), ends=not source.cut)


def _whole_unit(place: int, begin: int) -> int:
    """`place`, or the byte before it, where a code unit of UTF-16 begins; for other codecs it is as good a place."""
    return place - (place - begin) % 2


def _in_utf8(data: bytes, codec: str) -> bytes:
    return data if codec == "utf-8" else data.decode(codec, "replace").encode()
