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
    """

    text: bytes
    whole: bool
    windows: tuple[bytes, ...] = ()

    @property
    def bytes_read(self) -> int:
        """Of the beginning and the windows together."""
        return len(self.text) + sum(map(len, self.windows))


def take_sample(source: OpenSource, begin: int, sample_bytes: int = DEFAULT_SAMPLE_BYTES) -> Sample:
    """Read `sample_bytes` from `begin` on and three windows of 16 KB behind them, whatever the size of the source."""
    positive("sample_bytes", sample_bytes)
    size = source.size
    text = source.native.read(begin, min(sample_bytes, size - begin))
    behind = begin + len(text)
    if behind >= size:
        return Sample(text, whole=True)
    length = min(_WINDOW_BYTES, size - behind)
    step = (size - length - behind) // _WINDOWS
    places = sorted({behind + step * i for i in range(1, _WINDOWS)} | {size - length})
    return Sample(text, False, tuple(source.native.read(place, length) for place in places))
