"""Finds short windows of bytes, one of which is in each match of a regular expression.

A search for the windows skips most lines of a text, so that the automaton reads few. A window is a sequence of sets of bytes: the
expression ``[0-9]+ms`` has the window ``[0-9]ms``, and ``cat|dog`` has two. A window may begin or end with a line end.

If only a few bytes of a match can precede a window, an automaton need not read the line from its start.
"""

from __future__ import annotations

from headrace.query.match.automaton.required_part import RequiredPart
from headrace.query.match.regex.lengths import max_bytes, sum_of
from headrace.query.match.regex.literal import required_literal
from headrace.query.match.regex.syntax import LINE_FEED, Alternatives, Characters, LineEdge, Repeat, Sequence
from headrace.query.match.regex.utf8 import byte_ranges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from headrace.query.match.regex.syntax import Node

MAX_WIDTH = 4  # maximum number of sets of a window
MAX_SHARE = 1 / 128  # maximum share of the positions of a text where a window is expected
_MAX_ALTERNATIVES, _MAX_LENGTH, _BUCKETS = 64, 16, 8
_EDGE = 1 << 256
_START, _END = _EDGE | 1 << LINE_FEED, _EDGE << 1 | 1 << LINE_FEED
"""Sets of the line ends before and after a line. No other set has a bit from 256 on."""
_LINE_BYTES = 80  # of a line before a window, about, if any number of them is in the match
_MIN_SHARE = 1e-5  # the model says little about the share of rarer sequences: their bytes depend on each other
_Run = tuple[int, ...]  # Sets of bytes that follow each other. Bit b is set if byte b is in the set.
_EMPTY: list[_Run] = [()]


def _bits(first: int, last: int) -> int:
    return (1 << last + 1) - (1 << first)


_COMMON = _bits(ord("a"), ord("z")) | 1 << ord(" ")
_PRINTABLE = _bits(ord("!"), ord("~")) & ~_COMMON | 1 << LINE_FEED


def _bytes_of(mask: int) -> Iterator[int]:
    """Yield the bytes of a set."""
    mask &= _EDGE - 1
    while mask:
        yield (mask & -mask).bit_length() - 1
        mask &= mask - 1


def share_of(mask: int) -> float:
    """Return the share of the bytes of a text that is expected to be in a set, from a rough model of texts."""
    common, printable = (mask & _COMMON).bit_count(), (mask & _PRINTABLE).bit_count()
    return min(1.0, common / 20 + printable / 80 + ((mask & _EDGE - 1).bit_count() - common - printable) / 400)


class Windows:
    """Windows of equal width, one of which is in each match.

    `tables`: for each byte of a window 256 bytes, with a bit for each group of windows whose set has the byte.
    `has_lead`, `has_tail`: whether a window may begin with the line end before the line, or end with that of the line.
    `share`: share of the positions of a text where a window is expected.
    `reach`: maximum number of bytes of a match before its window, None for any number. The line end at ``^`` is one of them.
    """

    __slots__ = ("has_lead", "has_tail", "reach", "share", "tables")

    def __init__(self, tables: list[bytes], has_lead: bool, has_tail: bool, share: float, reach: int | None) -> None:
        self.tables, self.has_lead, self.has_tail, self.share, self.reach = tables, has_lead, has_tail, share, reach


def required_windows(node: Node, *, is_text: bool, is_of_line: bool = True) -> Windows | None:
    """Return windows one of which is in each match, None if they would occur too often.

    `is_text`: whether characters are those of Unicode, in UTF-8, not bytes.
    `is_of_line`: whether texts are single lines, so that no character of a match is a line feed.

    >>> from headrace.query.match.regex.parse import parse
    >>> windows = required_windows(parse("[0-9]+ms", is_text=True, ignore_case=False), is_text=True)
    >>> [sum(map(bool, table)) for table in windows.tables]
    [10, 1, 1]
    """
    search = _Search(is_text, is_of_line)
    search.add(node)
    search.flush()
    best = min(search.found, key=lambda found: _cut(found).cost, default=None)
    if best is None:
        return None
    cut = _cut(_without_longer(best) if len(best.runs) <= _MAX_ALTERNATIVES else best)
    runs = cut.runs
    if cut.share > MAX_SHARE:
        return None
    tables = [bytearray(256) for _ in runs[0]]
    for number, run in enumerate(runs):
        bucket = 1 << (number if len(runs) <= _BUCKETS else number * _BUCKETS // len(runs))
        for table, mask in zip(tables, run, strict=True):
            for byte in _bytes_of(mask):
                table[byte] |= bucket
    has_lead, has_tail = (any(run[at] == mark for run in runs) for at, mark in ((0, _START), (-1, _END)))
    reach = None if cut.before is None else cut.before + has_lead
    return Windows([bytes(table) for table in tables], has_lead, has_tail, cut.share, reach)


def required_part(node: Node, respecting: Node, *, is_text: bool, is_of_line: bool) -> RequiredPart:
    """Return a literal or windows that are in each match, those that let an automaton read less.

    `respecting`: the tree of the same expression if case counts: `node` itself unless the expression ignores case.
    `is_text`, `is_of_line`: as in `required_windows`.
    """
    literal, reach = required_literal(respecting, is_text=is_text)
    windows = required_windows(node, is_text=is_text, is_of_line=is_of_line)
    share = 1.0
    for byte in literal:
        share *= share_of(1 << byte)
    is_rarer = windows is None or _cost(share, reach) <= _cost(windows.share, windows.reach)
    if literal and not (is_of_line and b"\n" in literal) and is_rarer:
        return RequiredPart(literal, respecting is not node, windows=[], reach=reach)
    if windows is None:
        return RequiredPart(windows=[])
    return RequiredPart(windows=windows.tables, has_lead=windows.has_lead, has_tail=windows.has_tail, reach=windows.reach)


class _Found:
    """Runs one of which is in each match. `before`: maximum number of bytes of a match before its run, None for any number."""

    __slots__ = ("before", "runs")

    def __init__(self, runs: list[_Run], before: int | None) -> None:
        self.runs, self.before = runs, before

    @property
    def share(self) -> float:
        """Share of the positions of a text where a run is expected."""
        return sum(map(_share_of_run, self.runs))

    @property
    def cost(self) -> tuple[float, float]:
        """Order of the bytes that an automaton reads, by those of the text; the rarer runs are first if they are equal."""
        return _cost(self.share, self.before)


def _cost(share: float, before: int | None) -> tuple[float, float]:
    read = _LINE_BYTES if before is None else min(before, _LINE_BYTES)
    return max(share, _MIN_SHARE) * (read + MAX_WIDTH), share


def _cut(found: _Found) -> _Found:
    """Cut each run to its rarest part of equal width, and keep the different parts in order."""
    width, parts, most = min(MAX_WIDTH, *map(len, found.runs)), set(), 0
    for run in found.runs:
        _, at = min((_share_of_run(run[at : at + width]), at) for at in range(len(run) - width + 1))
        parts.add(run[at : at + width])
        most = max(most, at)
    return _Found(sorted(parts), None if found.before is None else found.before + most)


def _without_longer(found: _Found) -> _Found:
    """Leave out runs that contain another one: ``needles`` beside ``needle``. Its first bytes are then before that."""
    runs = [run for run in found.runs if not any(other != run and _has_part(run, other) for other in found.runs)]
    more = 0 if len(runs) == len(found.runs) else max(map(len, found.runs))
    return _Found(runs, sum_of((found.before, more)))


def _has_part(run: _Run, part: _Run) -> bool:
    return any(run[at : at + len(part)] == part for at in range(len(run) - len(part) + 1))


def _share_of_run(run: _Run) -> float:
    share = 1.0
    for mask in run:
        share *= share_of(mask)
    return share


class _Search:
    """Collects lists of runs, such that each match has one run of each list."""

    __slots__ = ("before", "excluded", "found", "is_of_line", "is_text", "passed", "read", "runs")

    def __init__(self, is_text: bool, is_of_line: bool) -> None:
        self.is_text, self.is_of_line = is_text, is_of_line
        self.excluded = 1 << LINE_FEED if is_of_line else 0
        self.found: list[_Found] = []
        self.runs = _EMPTY  # runs that end where the next part of the expression begins
        self.before: int | None = 0  # bytes of a match before these runs, at most
        self.read: int | None = 0  # bytes of a match before the parts that were passed last
        self.passed: list[Node] = []

    def flush(self) -> None:
        """End the runs, and begin empty ones."""
        if all(self.runs):
            self.found.append(_Found(self.runs, self.before))
        self.runs = _EMPTY

    def add(self, node: Node) -> None:
        """Continue the runs by a part of the expression."""
        exact = self._exact(node)
        if exact is not None:
            self._append(exact)
            return
        match node:
            case Sequence(parts):
                for part in parts:
                    self.add(part)
            case Repeat():
                self._add_repeat(node)
            case Alternatives(parts):
                self.flush()
                self._add_alternatives(parts)
                self.passed.append(node)
            case _:
                self.flush()
                self.passed.append(node)

    def _begin(self) -> int | None:
        """Return the maximum number of bytes of a match before the next part. Parts are not counted unless one follows."""
        self.read = sum_of((self.read, *(max_bytes(node, is_text=self.is_text) for node in self.passed)))
        self.passed.clear()
        return self.read

    def _add_alternatives(self, parts: tuple[Node, ...]) -> None:
        """Add the best runs of all parts, if each has some. Runs that are too frequent together are left out early."""
        runs: dict[_Run, None] = {}
        share = 0.0
        begin = before = self._begin()
        for part in parts:
            best = self._best(part)
            if best is None:
                return
            share += sum(_share_of_run(run) for run in best.runs if run not in runs)
            if share > MAX_SHARE:
                return
            runs |= dict.fromkeys(best.runs)
            most = sum_of((begin, best.before))
            before = None if before is None or most is None else max(before, most)
        self.found.append(_Found(list(runs), before))

    def _best(self, node: Node) -> _Found | None:
        """Return the best runs of a part, None if there are none."""
        search = _Search(self.is_text, self.is_of_line)
        search.add(node)
        search.flush()
        return min(map(_cut, search.found), key=lambda cut: cut.cost, default=None)

    def _add_repeat(self, node: Repeat) -> None:
        exact, begin = self._exact(node.part), self._begin()
        if node.least == 0:
            self.flush()
            self.passed.append(node)
        elif exact is None:
            self.flush()
            self.add(node.part)
            self.flush()
            self.read, self.passed = begin, [node]
        else:
            count = min(node.least, MAX_WIDTH)
            for _ in range(count):
                self._append(exact)
            self.flush()
            others = Repeat(node.part, 0, None if node.most is None else node.most - count)
            self.read, self.passed = begin, [others]
            for _ in range(count):  # the last repetitions, which the next part follows
                self._append(exact)

    def _append(self, runs: list[_Run]) -> None:
        joined, begin = _joined(self.runs, runs), self._begin()
        self.read = sum_of((begin, max(map(len, runs))))
        if joined is None:
            self.flush()
            self.runs, self.before = runs, begin
        elif max(map(len, joined)) > _MAX_LENGTH:
            self.flush()
            if min(map(len, joined)) >= MAX_WIDTH:
                self.runs, self.before = sorted({run[1 - MAX_WIDTH :] for run in joined}), self.read
            else:
                self.runs, self.before = runs, begin
        else:
            if self.runs is _EMPTY:
                self.before = begin
            self.runs = joined

    def _exact(self, node: Node) -> list[_Run] | None:
        """Return runs one of which is each match of the part, None if there are too many."""
        match node:
            case Characters(ranges):
                return self._characters(ranges)
            case LineEdge(is_end):
                return [(_END if is_end else _START,)]
            case Sequence(parts):
                return _joined_all(self._exact(part) for part in parts)
            case Alternatives(parts):
                all_runs: set[_Run] = set()
                for part in parts:
                    of_part = self._exact(part)
                    if of_part is None:
                        return None
                    all_runs.update(of_part)
                    if len(all_runs) > _MAX_ALTERNATIVES:
                        return None
                return sorted(all_runs)
            case Repeat(part, 0, 1):
                once = self._exact(part)
                return None if once is None else sorted({(), *once})
            case Repeat(part, least, most) if least == most and least <= MAX_WIDTH:
                return _joined_all([self._exact(part)] * least)
        return None

    def _characters(self, ranges: tuple[tuple[int, int], ...]) -> list[_Run] | None:
        if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
            content = chr(ranges[0][0]).encode("utf-8" if self.is_text else "latin-1")
            return [tuple(1 << byte & ~self.excluded for byte in content)]
        by_length: dict[int, list[int]] = {}
        for low, high in ranges:
            for parts in byte_ranges(low, high) if self.is_text else [((low, high),)]:
                masks = by_length.setdefault(len(parts), [0] * len(parts))
                for at, (first, last) in enumerate(parts):
                    masks[at] |= _bits(first, last) & ~self.excluded
        return [tuple(masks) for _, masks in sorted(by_length.items())] or None


def _joined_all(parts: Iterable[list[_Run] | None]) -> list[_Run] | None:
    """Join parts that follow each other, None if there are too many runs or one is too long."""
    runs = _EMPTY
    for part in parts:
        joined = None if part is None else _joined(runs, part)
        if joined is None or max(map(len, joined)) > _MAX_LENGTH:
            return None
        runs = joined
    return runs


def _joined(before: list[_Run], after: list[_Run]) -> list[_Run] | None:
    """Return each run before followed by each run after, None if these are too many or a line edge is inside."""
    if len(before) * len(after) > _MAX_ALTERNATIVES:
        return None
    joined = set()
    for first in before:
        for second in after:
            if first and second and (first[-1] == _END or second[0] == _START):
                return None
            joined.add(first + second)
    return sorted(joined)
