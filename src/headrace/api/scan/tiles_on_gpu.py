"""Finds the tiles of a text in GPU memory in which no record has a wanted text. A scan does not copy them to the host.

The search runs where the text is. The host then knows of such a tile what the native loader finds in a tile without a hit. That
is the number of its records, the end of the last one, and the automaton's state after it. They follow from the number of line
feeds, which a second search counts, and from bytes near the tile's ends. Other tiles are copied and loaded as in any scan.

Texts with quotes, blank lines or lone carriage returns are left to the host. Bytes moved on the GPU: 4 to 7 readings of the text,
and an eighth of it is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from headrace import _native
from headrace.api.options.csv_options import CsvOptions
from headrace.columns.faults.gpu.gather_records import LocatedRecords
from headrace.columns.load.gpu.load_text import launcher_for
from headrace.columns.plan.load_plan import LoadPlan
from headrace.gpu.kernels.launcher import DeviceBuffer, Launcher
from headrace.query.find.gpu.marks import DeviceText
from headrace.query.find.gpu.search import DeviceSearch
from headrace.query.find.gpu.tuning import TUNING
from headrace.query.find.pattern.pattern import Pattern
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect
from headrace.structure.find import DEFAULT_TILE_BYTES as TILE_BYTES

_BEFORE, _AFTER = 256, 512  # Bytes copied on each side of a tile's end: the last line end before it, and the next one.
_LINE_ENDS = b"\r\n"


class LineText(NamedTuple):
    """A text in device memory: the file's number in the scan, and the first byte of its data."""

    launcher: Launcher
    buffer: DeviceBuffer
    dialect: Dialect
    file: int
    data_begin: int

    @property
    def text(self) -> DeviceText:
        """The text for searches."""
        return DeviceText(self.buffer.address, self.buffer.nbytes)

    def count(self, pattern: bytes) -> int:
        """Return the number of hits of a pattern."""
        return DeviceSearch(self.launcher, self.text, Pattern(pattern)).count()


def drop_tiles(searched: LineText, patterns: Sequence[Pattern], dropped: _native.DroppedTiles) -> int:
    """Add tiles of `TILE_BYTES` without a hit to `dropped`, and return their number.

    Raise MemoryLimitError if the marks of the text do not fit.
    """
    text = searched.text
    tiles = (text.nbytes - _AFTER) // TILE_BYTES  # the last one may have no line end
    native = _native.Dialect.make(searched.dialect)
    if text.shift or tiles < 2 or not native.has_line_records or not _are_lines(searched):
        return 0
    feeds = _hits_by_tile(searched, Pattern(b"\n"), tiles)
    wanted = np.arange(tiles) * TILE_BYTES >= max(searched.data_begin, 1)
    for pattern in patterns:
        if len(pattern) <= text.nbytes:
            wanted &= ~_have_hits(searched, pattern, tiles)
    numbers = np.flatnonzero(wanted)
    if not len(numbers):
        return 0
    ends = _bytes_at_ends(searched, tiles)
    found = 0
    for number in numbers.tolist():
        tile = _tile(native, ends[number - 1], ends[number], int(feeds[number]))
        if tile is not None:
            dropped.add(searched.file, number * TILE_BYTES, TILE_BYTES, *tile)
            found += 1
    return found


def _are_lines(searched: LineText) -> bool:
    """Return whether the lines of a text are its records: it has no quotes, blank lines and lone carriage returns."""
    quote = searched.dialect.quote_char
    if (quote is not None and searched.count(quote)) or searched.count(b"\n\n"):
        return False
    returns = searched.count(b"\r")
    return not returns or (searched.count(b"\r\n") == returns and not searched.count(b"\n\r"))


def _hits_by_tile(searched: LineText, pattern: Pattern, tiles: int) -> Any:
    """Return the number of hits of a pattern of one byte in each tile."""
    counts, _ = DeviceSearch(searched.launcher, searched.text, pattern).counts_by_tile()
    each = TILE_BYTES // TUNING.tile_marks
    return counts[: tiles * each].reshape(tiles, each).sum(axis=1)


def _have_hits(searched: LineText, pattern: Pattern, tiles: int) -> Any:
    """Return a flag for each tile: False if no hit begins in it or in the `_AFTER` bytes after it."""
    counts, first = DeviceSearch(searched.launcher, searched.text, pattern).counts_by_tile()
    upto = np.concatenate([[0], np.cumsum(counts != 0)])
    begins = np.arange(tiles) * TILE_BYTES - first
    last = np.minimum((begins + TILE_BYTES + _AFTER - 1) // TUNING.tile_marks, len(counts) - 1)
    return upto[last + 1] != upto[begins // TUNING.tile_marks]


def _bytes_at_ends(searched: LineText, tiles: int) -> list[bytes]:
    """Return the bytes on both sides of each tile's end, in one copy to the host."""
    launcher, each = searched.launcher, _BEFORE + _AFTER
    begins = (np.arange(1, tiles + 1) * TILE_BYTES - _BEFORE).astype(np.uint64)
    offsets = (np.arange(tiles + 1) * each).astype(np.uint64)
    located = LocatedRecords(None, 0, searched.buffer, searched.dialect, None)
    copied = launcher.fetch(located.gather(launcher, launcher.put(begins), launcher.put(offsets), tiles * each)).tobytes()
    return [copied[at : at + each] for at in range(0, len(copied), each)]


def _tile(native: _native.Dialect, at_begin: bytes, at_end: bytes, feeds: int) -> tuple[int, int, int] | None:
    """Return the records of a tile without a hit, the end of the last one, and the automaton's state after the tile.

    They are those of `TileReader::count_dropped` (structure/cpu/scan.cpp). Return None if the bytes at its ends do not show them.
    """
    tail, rest = at_end[:_BEFORE], at_end[_BEFORE:]
    if at_begin[_BEFORE] in _LINE_ENDS or at_begin[_BEFORE - 1 : _BEFORE] == b"\r" or tail.endswith(b"\r") or b"\n" not in tail:
        return None
    is_whole = tail.endswith(b"\n")
    if not is_whole and b"\n" not in rest:
        return None
    records = feeds + at_begin[:_BEFORE].endswith(b"\n") - is_whole
    end = TILE_BYTES + (0 if is_whole else rest.index(b"\n") + 1)
    return records, end if records else 0, _native.state_map(native, tail, "")[0]


def drop_on_gpu(
    source: OpenSource, options: CsvOptions, plan: LoadPlan, patterns: Sequence[Pattern], dropped: _native.DroppedTiles
) -> None:
    """Add the tiles of a text in GPU memory without a hit to `dropped`. Raise MemoryLimitError if the marks do not fit."""
    text = source.on_gpu
    assert text is not None
    launcher = launcher_for(source, options.context, text.device)
    with launcher.current():
        drop_tiles(LineText(launcher, text, options.dialect, plan.file, plan.data_begin), patterns, dropped)
