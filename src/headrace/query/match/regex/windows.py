"""Finds short windows of bytes, one of which is in each match of a regular expression.

A search for the windows skips most lines of a text, so that the automaton reads few. A window is a sequence of sets of bytes: the
expression ``[0-9]+ms`` has the window ``[0-9]ms``, and ``cat|dog`` has two. A window may begin or end with a line end.
"""

from __future__ import annotations

from headrace.query.match.automaton.required_part import RequiredPart
from headrace.query.match.regex.literal import required_literal
from headrace.query.match.regex.syntax import LINE_FEED, Alternatives, Characters, LineEdge, Repeat, Sequence
from headrace.query.match.regex.utf8 import byte_ranges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from headrace.query.match.regex.syntax import Node

MAX_WIDTH = 4  # maximum number of sets of a window
MAX_SHARE = 1 / 128  # maximum share of the positions of a text where a window is expected
_MAX_ALTERNATIVES, _MAX_LENGTH, _BUCKETS = 64, 16, 8
_EDGE = 1 << 256
_START, _END = _EDGE | 1 << LINE_FEED, _EDGE << 1 | 1 << LINE_FEED
"""Sets of the line ends before and after a line. No other set has a bit from 256 on."""
_Run = tuple[int, ...]  # Sets of bytes that follow each other. Bit b is set if byte b is in the set.
_EMPTY: list[_Run] = [()]


def _bits(first: int, last: int) -> int:
    return (1 << last + 1) - (1 << first)


_COMMON = _bits(ord("a"), ord("z")) | 1 << ord(" ")
_PRINTABLE = _bits(ord("!"), ord("~")) & ~_COMMON | 1 << LINE_FEED


def share_of(mask: int) -> float:
    """Return the share of the bytes of a text that is expected to be in a set, from a rough model of texts."""
    common, printable = (mask & _COMMON).bit_count(), (mask & _PRINTABLE).bit_count()
    return min(1.0, common / 20 + printable / 80 + ((mask & _EDGE - 1).bit_count() - common - printable) / 400)


class Windows:
    """Windows of equal width, one of which is in each match.

    `tables`: for each byte of a window 256 bytes, with a bit for each group of windows whose set has the byte.
    `has_lead`, `has_tail`: whether a window may begin with the line end before the line, or end with that of the line.
    `share`: share of the positions of a text where a window is expected.
    """

    __slots__ = ("has_lead", "has_tail", "share", "tables")

    def __init__(self, tables: list[bytes], has_lead: bool, has_tail: bool, share: float) -> None:
        self.tables, self.has_lead, self.has_tail, self.share = tables, has_lead, has_tail, share


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
    best = min(search.found, key=lambda runs: _cut(runs)[1], default=None)
    if best is not None and len(best) <= _MAX_ALTERNATIVES:
        best = _without_longer(best)
    runs, share = ([], 1.0) if best is None else _cut(best)
    if share > MAX_SHARE:
        return None
    tables = [bytearray(256) for _ in runs[0]]
    for number, run in enumerate(runs):
        bucket = 1 << (number if len(runs) <= _BUCKETS else number * _BUCKETS // len(runs))
        for table, mask in zip(tables, run, strict=True):
            for byte in range(256):
                if mask >> byte & 1:
                    table[byte] |= bucket
    has_lead, has_tail = (any(run[at] == mark for run in runs) for at, mark in ((0, _START), (-1, _END)))
    return Windows([bytes(table) for table in tables], has_lead, has_tail, share)


def required_part(node: Node, respecting: Node, *, is_text: bool, is_of_line: bool) -> RequiredPart:
    """Return a literal or windows that are in each match, the rarer of both.

    `respecting`: the tree of the same expression if case counts: `node` itself unless the expression ignores case.
    `is_text`, `is_of_line`: as in `required_windows`.
    """
    literal = required_literal(respecting, is_text=is_text)
    windows = required_windows(node, is_text=is_text, is_of_line=is_of_line)
    share = 1.0
    for byte in literal:
        share *= share_of(1 << byte)
    if literal and not (is_of_line and b"\n" in literal) and (windows is None or share <= windows.share):
        return RequiredPart(literal, respecting is not node, windows=[])
    if windows is None:
        return RequiredPart(windows=[])
    return RequiredPart(windows=windows.tables, has_lead=windows.has_lead, has_tail=windows.has_tail)


def _cut(runs: list[_Run]) -> tuple[list[_Run], float]:
    """Cut each run to its rarest part of equal width. Return the different parts in order, and their share."""
    width = min(MAX_WIDTH, *map(len, runs))
    parts = {min((run[at : at + width] for at in range(len(run) - width + 1)), key=_share_of_run) for run in runs}
    return sorted(parts), sum(map(_share_of_run, parts))


def _without_longer(runs: list[_Run]) -> list[_Run]:
    """Return the runs that contain no other one: not ``needles`` beside ``needle``."""
    return [run for run in runs if not any(other != run and _has_part(run, other) for other in runs)]


def _has_part(run: _Run, part: _Run) -> bool:
    return any(run[at : at + len(part)] == part for at in range(len(run) - len(part) + 1))


def _share_of_run(run: _Run) -> float:
    share = 1.0
    for mask in run:
        share *= share_of(mask)
    return share


class _Search:
    """Collects lists of runs, such that each match has one run of each list."""

    __slots__ = ("excluded", "found", "is_of_line", "is_text", "runs")

    def __init__(self, is_text: bool, is_of_line: bool) -> None:
        self.is_text, self.is_of_line = is_text, is_of_line
        self.excluded = 1 << LINE_FEED if is_of_line else 0
        self.found: list[list[_Run]] = []
        self.runs = _EMPTY  # runs that end where the next part of the expression begins

    def flush(self) -> None:
        """End the runs, and begin empty ones."""
        if all(self.runs):
            self.found.append(self.runs)
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
            case Repeat(part, least):
                self._add_repeat(part, least)
            case Alternatives(parts):
                self.flush()
                self._add_alternatives(parts)
            case _:
                self.flush()

    def _add_alternatives(self, parts: tuple[Node, ...]) -> None:
        """Add the best runs of all parts, if each has some. Runs that are too frequent together are left out early."""
        runs: dict[_Run, None] = {}
        share = 0.0
        for part in parts:
            best = self._best(part)
            share += sum(_share_of_run(run) for run in best if run not in runs)
            if not best or share > MAX_SHARE:
                return
            runs |= dict.fromkeys(best)
        self.found.append(list(runs))

    def _best(self, node: Node) -> list[_Run]:
        """Return the runs of a part that occur least often; no runs if there are none."""
        search = _Search(self.is_text, self.is_of_line)
        search.add(node)
        search.flush()
        return min((_cut(runs) for runs in search.found), key=lambda cut: cut[1], default=([], 0.0))[0]

    def _add_repeat(self, part: Node, least: int) -> None:
        exact = self._exact(part)
        if least == 0:
            self.flush()
        elif exact is None:
            self.flush()
            self.add(part)
            self.flush()
        else:
            for _ in range(min(least, MAX_WIDTH)):
                self._append(exact)
            self.flush()
            for _ in range(min(least, MAX_WIDTH)):  # the last repetitions, which the next part follows
                self._append(exact)

    def _append(self, runs: list[_Run]) -> None:
        joined = _joined(self.runs, runs)
        if joined is None:
            self.flush()
            self.runs = runs
        elif max(map(len, joined)) > _MAX_LENGTH:
            self.flush()
            self.runs = sorted({run[1 - MAX_WIDTH :] for run in joined}) if min(map(len, joined)) >= MAX_WIDTH else runs
        else:
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
                return sorted(all_runs) if len(all_runs) <= _MAX_ALTERNATIVES else None
            case Repeat(part, 0, 1):
                once = self._exact(part)
                return None if once is None else sorted({(), *once})
            case Repeat(part, least, most) if least == most and least <= MAX_WIDTH:
                return _joined_all([self._exact(part)] * least)
        return None

    def _characters(self, ranges: tuple[tuple[int, int], ...]) -> list[_Run] | None:
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
