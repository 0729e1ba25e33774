"""Launches the kernels that find a pattern in a text, in the order of one stream.

A search reads the text once, and the host waits once, for the number of hits. If verification exceeds its budget, the search is
repeated by a linear algorithm. Positions are written by a second launch, from the marks of the first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np  # a dependency of cuda-core
from numpy.typing import NDArray

from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Entry, Launcher, Shape
from headrace.query.find.gpu.marks import DeviceText, Hits, mark_bytes, write_positions
from headrace.query.find.gpu.plan import FilterPlan
from headrace.query.find.gpu.tuning import THREADS, TUNING, FindTuning
from headrace.query.find.pattern.pattern import Pattern

_TASK, _RESULT, _REPLACE = layout("FindTask"), layout("FindResult"), layout("ReplaceTask")
_AUTOMATON = layout("FindAutomaton")
_PACK_TASK, _PACK_AUTOMATON, _PACK_REPLACE = (each.packer().pack for each in (_TASK, _AUTOMATON, _REPLACE))
_SEARCH, _LINEAR = "query/find/gpu/search.cu", "query/find/gpu/linear.cu"
_SPACED = "query/find/gpu/spaced.cu"
_COUNT = Entry(_SEARCH, "count_hits", f"{_TASK.argument}P")
_FIRST = Entry(_SEARCH, "first_hit", f"{_TASK.argument}P")
_MARK = Entry(_SEARCH, "mark_hits", f"{_TASK.argument}PPPI")
_COUNT_LINEARLY = Entry(_LINEAR, "count_linearly", f"{_TASK.argument}{_AUTOMATON.argument}P")
_FIRST_LINEARLY = Entry(_LINEAR, "first_linearly", f"{_TASK.argument}{_AUTOMATON.argument}P")
_MARK_LINEARLY = Entry(_LINEAR, "mark_linearly", f"{_TASK.argument}{_AUTOMATON.argument}PPPQ")
_LINK = Entry(_SPACED, "link_hits", "PQQPP")
_FOLLOW = Entry(_SPACED, "follow_links", "PQPP")
_DROP = Entry(_SPACED, "drop_hits", "PQPQPPQP")
_REPLACE_HITS = Entry("query/find/gpu/replace.cu", "replace_hits", f"{_REPLACE.argument}P")
_REPLACED_BYTES = 4  # `bytes_per_thread` of replace.cu
_NONE = 2**64 - 1
_COUNT_BITS = np.uint32(2**31 - 1)  # of a tile's count of hits, beside `is_listed` of find_task.hpp
_UNPACK_RESULT = _RESULT.packer().unpack
_NO_HITS = _RESULT.packer().pack(0, _NONE, 0)
_PATTERN_BEGIN = 32  # byte after a result at which the pattern begins; a multiple of 16 (text.cuh)
_PER_HIT = {"HR_THREADS": THREADS}  # macros of the other kernels
_AFTER_PATTERN = 32  # bytes of its cycle, of which two vectors are read from any offset (runs.cuh)
_COMPARED_AT_ONCE = 512  # bytes that a unit of verification compares (verify.cuh)
_UNITS_PER_ROW, _PATTERNS = 16, 64  # budget: units for each 512 bytes of text, and full comparisons of the pattern in addition
_MAX_PAIRS = 4096  # maximum length of a run: `max_pairs` of runs.cuh


class _Found(NamedTuple):
    hits: int
    first: int
    spent: int


class DeviceSearch:
    """Finds one pattern in one text of at least its length. Tests pass smaller sizes of kernels."""

    def __init__(self, launcher: Launcher, text: DeviceText, pattern: Pattern, *, tuning: FindTuning = TUNING) -> None:
        self._launcher = launcher
        self._text = text
        self._pattern = pattern
        self._tuning = tuning
        self._plan = plan = FilterPlan.of(pattern)
        cycle = pattern.native.period if len(pattern) <= _MAX_PAIRS else 0
        self._sent = _NO_HITS + bytes(_PATTERN_BEGIN - len(_NO_HITS)) + _padded(pattern.folded, cycle)
        self._budget = _UNITS_PER_ROW * -(-text.nbytes // _COMPARED_AT_ONCE)
        self._budget += _PATTERNS * (len(pattern) // _COMPARED_AT_ONCE + 1)
        period = pattern.native.period
        period = period if 2 * period <= len(pattern) <= period + _MAX_PAIRS else 0
        compared = (*plan.prints, *plan.compared, plan.letter_bits, plan.lead)
        self._fields = (len(pattern), period, cycle, self._budget, *compared, pattern.ignore_case)
        self._origin = plan.lead + text.shift  # number of the mark of position 0
        self._tiles = text.tiles(tuning)
        self._shape = Shape(tuning.search(plan.form), self._tiles, tuning.threads)

    def count(self) -> int:
        """Return the number of hits, which may overlap."""
        return self._searched(_COUNT, _COUNT_LINEARLY).hits

    def first(self) -> int | None:
        """Return the first position, None if there is none."""
        found = self._searched(_FIRST, _FIRST_LINEARLY).first
        return None if found == _NONE else found

    def hits(self, *, overlapping: bool = True) -> Hits:
        """Find and mark all hits, or those that do not overlap the previous one that is left."""
        drops = not overlapping and self._pattern.is_bordered
        marked = self.marked(may_list=not drops)
        return self.without_overlaps(marked) if drops and marked.total > 1 else marked

    def counts_by_tile(self) -> tuple[NDArray[np.uint32], int]:
        """Return the number of hits in each tile, and the position at which the first tile begins, which is 0 or less."""
        hits = self.marked(may_list=True)
        return self._launcher.fetch(hits.counts).view(np.uint32) & _COUNT_BITS, hits.first

    def write(self, hits: Hits, target: DeviceBuffer) -> None:
        """Write the positions of marked hits, ascending, as 64-bit numbers."""
        write_positions(self._launcher, [hits], [target], self._tuning)

    def positions(self, hits: Hits) -> DeviceBuffer:
        """Return the positions of marked hits, as `write` writes them."""
        target = self._launcher.allocate(8 * hits.total)
        self.write(hits, target)
        return target

    def marked(self, *, may_list: bool) -> Hits:
        """Find and mark all hits; `may_list`: whether tiles with few hits may have lists instead of marks."""
        marks, counts, sums = self._launcher.allocate_group([], mark_bytes(self._tiles, self._tuning))
        found = self._found(_MARK, (marks, counts, may_list))
        if found is None:
            self._launcher.fill(marks, 0)
            self._launcher.fill(counts, 0)
            found = self._linearly(_MARK_LINEARLY, (marks, counts, self._tuning.tile_marks))
        return Hits(marks, counts, sums, found.hits, -self._origin)

    def without_overlaps(self, hits: Hits) -> Hits:
        """Return hits that have no lists without those that overlap the previous one that is left."""
        launcher, total = self._launcher, hits.total
        positions, links, doubled = self.positions(hits), launcher.allocate(8 * total), launcher.allocate(8 * total)
        reached, shape = launcher.allocate(4 * total), _shape_of(total)
        launcher.launch(_LINK, shape, (positions, total, len(self._pattern), links, reached))
        for _ in range(total.bit_length()):
            launcher.launch(_FOLLOW, shape, (links, total, doubled, reached))
            links, doubled = doubled, links
        return self.filtered(hits, positions, reached)

    def filtered(self, hits: Hits, positions: DeviceBuffer, is_kept: DeviceBuffer) -> Hits:
        """Return hits that have no lists without those whose number in `is_kept`, of 4 bytes, is 0. Their marks are cleared."""
        selected = self._launcher.allocate(8, fill=0)
        of_marks = (hits.first % 2**64, hits.marks, hits.counts, self._tuning.tile_marks)
        args = (positions, hits.total, is_kept, *of_marks, selected)
        self._launcher.launch(_DROP, _shape_of(hits.total), args)
        return hits._replace(total=int(self._launcher.fetch(selected).view(np.uint64)[0]))

    def _searched(self, entry: Entry, linear: Entry) -> _Found:
        found = self._found(entry, ())
        return self._linearly(linear, ()) if found is None else found

    def _found(self, entry: Entry, more: tuple[Any, ...]) -> _Found | None:
        """Return the result of a search, None if verification exceeds its budget."""
        found = self._result_of(entry, self._shape, (), more)
        return None if found.spent > self._budget else found

    def _linearly(self, entry: Entry, more: tuple[Any, ...]) -> _Found:
        """Return the result of a search by the automaton."""
        borders = self._launcher.put(self._pattern.native.borders())
        chunk = max(self._tuning.tile_marks // self._tuning.threads * 8, 2 * len(self._pattern))
        blocks = -(-(self._text.nbytes - len(self._pattern) + 1) // (chunk * THREADS))
        return self._result_of(entry, Shape(_PER_HIT, blocks, THREADS), (_PACK_AUTOMATON(borders.address, chunk),), more)

    def _result_of(self, entry: Entry, shape: Shape, given: tuple[bytes, ...], more: tuple[Any, ...]) -> _Found:
        """Return the result of one launch. The pattern and an empty result are sent in one copy."""
        launcher, text = self._launcher, self._text
        sent = launcher.put(self._sent)
        task = _PACK_TASK(text.address, text.nbytes, sent.address + _PATTERN_BEGIN, *self._fields)
        launcher.launch(entry, shape, (task, *given, sent, *more))
        return _Found(*_UNPACK_RESULT(launcher.fetch(BufferSlice(sent, 0, len(_NO_HITS)))))


def _padded(pattern: bytes, cycle: int) -> bytes:
    """Return a pattern that is followed by 32 to 47 bytes of its cycle, or by zeros up to a multiple of 16 bytes."""
    padded = len(pattern) + _AFTER_PATTERN
    padded += -padded % 16
    return (pattern[:cycle] * -(-padded // cycle))[:padded] if cycle else pattern + bytes(-len(pattern) % 16)


def _shape_of(hits: int) -> Shape:
    """Return the launch of a thread for each hit."""
    return Shape(_PER_HIT, -(-hits // THREADS), THREADS)


class DeviceReplacement:
    """Replaces hits of a pattern in one text of 1 byte or more. Tests pass smaller sizes of kernels."""

    def __init__(
        self, launcher: Launcher, text: DeviceText, pattern: Pattern, replacement: bytes, *, tuning: FindTuning = TUNING
    ) -> None:
        self._launcher = launcher
        self._replacement = launcher.put(replacement + bytes(1))
        self._count, self._positions = 0, launcher.allocate(0)
        if text.nbytes >= len(pattern):
            search = DeviceSearch(launcher, text, pattern, tuning=tuning)
            hits = search.hits(overlapping=False)
            self._count, self._positions = hits.total, search.positions(hits)
        self.size = text.nbytes + self._count * (len(replacement) - len(pattern))  # bytes of the result
        self._task = _PACK_REPLACE(
            text.address,
            self._replacement.address,
            self._positions.address,
            self._count,
            len(pattern),
            len(replacement),
            self.size,
        )

    def write(self, target: DeviceBuffer) -> None:
        """Write the result."""
        if self.size:
            shape = Shape(_PER_HIT, -(-self.size // (THREADS * _REPLACED_BYTES)), THREADS)
            self._launcher.launch(_REPLACE_HITS, shape, (self._task, target))
