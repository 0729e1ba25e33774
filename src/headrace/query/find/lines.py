"""Cuts files into blocks of whole lines, and selects the lines in which a pattern occurs."""

from __future__ import annotations

import mmap
import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from headrace.arrays.arrays import needed_numpy
from headrace.query.find.find import count, find
from headrace.query.find.pattern.pattern import Pattern
from headrace.sources.compression.formats import MARK_BYTES, recognised
from headrace.sources.encoding.encoding import TextEncoding
from headrace.sources.kinds.file import is_path
from headrace.sources.open import SourceOptions, check_is_text
from headrace.sources.registry import source_of
from headrace.sources.text_chunks import TextChunks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BLOCK_BYTES = 16 << 20
_NEWLINE = Pattern(b"\n")


def blocks_of(source: Any, block_bytes: int = BLOCK_BYTES) -> Iterator[memoryview]:
    """Yield a source in blocks of whole lines, decompressed. Files that are not compressed are mapped and not copied.

    Parameters
    ----------
    source
        Path or binary file object.
    block_bytes
        Bytes of a block, about. A line is never cut, and the last one may have no line end.

    Raises
    ------
    SourceError, OSError
        As in `headrace.sources.open.open_source`.
    """
    if is_path(source) and os.path.isfile(source):
        with open(source, "rb") as file:
            start = file.read(MARK_BYTES)
            if start and recognised(start) is None and TextEncoding().of_text(start[:4])[0] == "utf-8":
                check_is_text(start, os.fspath(source))
                yield from _mapped(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), block_bytes)
                return
    pending: list[bytes] = []
    size = 0
    for chunk in TextChunks(source_of(source), SourceOptions()).make():
        cut = chunk.rfind(b"\n") + 1 if size + len(chunk) >= block_bytes else 0
        if cut:
            yield memoryview(b"".join([*pending, chunk[:cut]]))
            pending, size = [], 0
        pending.append(chunk[cut:])
        size += len(chunk) - cut
    if size:
        yield memoryview(b"".join(pending))


def _mapped(whole: mmap.mmap, block_bytes: int) -> Iterator[memoryview]:
    view, begin = memoryview(whole), 0
    while begin < len(whole):
        cut = whole.rfind(b"\n", begin, begin + block_bytes) + 1 if begin + block_bytes < len(whole) else len(whole)
        cut = cut or whole.find(b"\n", begin + block_bytes) + 1 or len(whole)
        yield view[begin:cut]
        begin = cut


class ShownLine(NamedTuple):
    """A line to show."""

    number: int
    """Number of the line, from 1 on."""
    text: bytes
    """The line without its end, or the matched part of it."""
    is_selected: bool
    """True for a selected line, false for one near it."""


@dataclass(slots=True)
class LineSelector:
    """Selects lines of one file, whose blocks it gets in order.

    Parameters
    ----------
    pattern
        Pattern without a line end.
    is_inverted
        Whether lines without the pattern are selected.
    before, after
        Number of lines before and after a selected one that are shown.
    """

    pattern: Pattern
    is_inverted: bool = False
    before: int = 0
    after: int = 0
    line_count: int = field(default=0, init=False)
    """Lines of all blocks up to now."""
    _preceding: deque[bytes] = field(init=False)
    _after_left: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._preceding = deque(maxlen=self.before)

    def count(self, block: memoryview) -> int:
        """Return the number of selected lines of a block."""
        hits = self._hits(block)
        if not len(hits):
            return _line_count(block) if self.is_inverted else 0
        np, ends = _numpy(), _line_ends(block)
        selected = len(np.unique(np.searchsorted(ends, hits)))
        return len(ends) - selected if self.is_inverted else selected

    def matches(self, block: memoryview) -> Iterator[ShownLine]:
        """Yield each hit of a block that overlaps no hit before it, as a line of its own."""
        hits = self._hits(block)
        if len(hits):
            lines: NDArray[np.intp] = _numpy().searchsorted(_line_ends(block), hits)
            for hit, line in zip(hits.tolist(), lines.tolist(), strict=True):
                yield ShownLine(self.line_count + line + 1, bytes(block[hit : hit + len(self.pattern)]), True)
        self.line_count += _line_count(block)

    def lines(self, block: memoryview) -> Iterator[ShownLine]:
        """Yield the selected lines of a block and the lines near them, in order."""
        hits = self._hits(block)
        if not len(hits) and not self.is_inverted and not self.before and not self._after_left:
            self.line_count += _line_count(block)
            return
        np, ends = _numpy(), _line_ends(block)
        is_hit: NDArray[np.bool_] = np.zeros(len(ends), np.bool_)
        is_hit[np.searchsorted(ends, hits)] = True
        if self.is_inverted:
            is_hit = ~is_hit
        selected = np.flatnonzero(is_hit)
        missing = self.before - int(selected[0]) if len(selected) else 0
        if missing > 0:
            preceding = list(self._preceding)[-missing:]
            for i, text in enumerate(preceding):
                yield ShownLine(self.line_count - len(preceding) + i + 1, text, False)
        for line in np.flatnonzero(self._shown(selected, len(ends))).tolist():
            yield ShownLine(self.line_count + line + 1, _line(block, ends, line), bool(is_hit[line]))
        self._keep(block, ends, selected)

    def _hits(self, block: memoryview) -> Any:
        return find(block, self.pattern, overlapping=False)

    def _shown(self, selected: Any, count: int) -> Any:
        """Return a flag for each line: whether it is selected or near a selected one."""
        np = _numpy()
        steps: NDArray[np.int64] = np.zeros(count + 1, np.int64)
        np.add.at(steps, np.maximum(selected - self.before, 0), 1)
        np.add.at(steps, np.minimum(selected + self.after + 1, count), -1)
        shown = np.cumsum(steps[:count]) > 0
        shown[: self._after_left] = True
        return shown

    def _keep(self, block: memoryview, ends: Any, selected: Any) -> None:
        """Keep the state that the next block needs: lines that are not shown yet, and the number of lines to show."""
        count = len(ends)
        last = int(selected[-1]) if len(selected) else self._after_left - self.after - 1
        self._after_left = max(0, last + self.after + 1 - count)
        shown = max(0, min(count, last + self.after + 1))
        if shown or count >= self.before:
            self._preceding.clear()
        for line in islice(range(count), max(shown, count - self.before), None):
            self._preceding.append(_line(block, ends, line))
        self.line_count += count


def _numpy() -> Any:
    return needed_numpy("headrace grep")


def _line_ends(block: memoryview) -> Any:
    """Return the end of each line, without its line feed."""
    ends = find(block, _NEWLINE)
    np = _numpy()
    return ends if block[-1] == ord("\n") else np.append(ends, np.uint64(len(block)))


def _line_count(block: memoryview) -> int:
    return count(block, _NEWLINE) + (block[-1] != ord("\n"))


def _line(block: memoryview, ends: Any, line: int) -> bytes:
    begin = int(ends[line - 1]) + 1 if line else 0
    return bytes(block[begin : int(ends[line])])
