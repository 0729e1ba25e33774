"""Defines the syntax trees of regular expressions."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

LINE_FEED = ord("\n")
WORD = ((48, 57), (65, 90), (95, 95), (97, 122))  # characters of words: digits, letters and the underscore, of ASCII


class Characters:
    """One character of a set. `ranges`: first and last value of each range, ascending and disjoint."""

    __slots__ = __match_args__ = ("ranges",)

    def __init__(self, ranges: tuple[tuple[int, int], ...]) -> None:
        self.ranges = ranges


class Sequence:
    """Parts that follow each other. Without parts it is the empty text."""

    __slots__ = __match_args__ = ("parts",)

    def __init__(self, parts: tuple[Node, ...]) -> None:
        self.parts = parts


class Alternatives:
    """Parts one of which matches."""

    __slots__ = __match_args__ = ("parts",)

    def __init__(self, parts: tuple[Node, ...]) -> None:
        self.parts = parts


class Repeat:
    """A part that occurs `least` to `most` times; None for any number."""

    __slots__ = __match_args__ = ("part", "least", "most")

    def __init__(self, part: Node, least: int, most: int | None) -> None:
        self.part, self.least, self.most = part, least, most


class LineEdge:
    """The start of a line, or its end."""

    __slots__ = __match_args__ = ("is_end",)

    def __init__(self, is_end: bool) -> None:
        self.is_end = is_end


if TYPE_CHECKING:
    Node: TypeAlias = Characters | Sequence | Alternatives | Repeat | LineEdge


def union(ranges: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return ranges in order, with those that touch joined."""
    result: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if result and low <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(high, result[-1][1]))
        else:
            result.append((low, high))
    return tuple(result)


def complement(ranges: tuple[tuple[int, int], ...], last: int) -> tuple[tuple[int, int], ...]:
    """Return the values from 0 to `last` that are in no range."""
    result, begin = [], 0
    for low, high in ranges:
        if begin < low:
            result.append((begin, low - 1))
        begin = high + 1
    return (*result, (begin, last)) if begin <= last else tuple(result)


def both_cases(ranges: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Return ranges with each ASCII letter in both cases."""
    result = list(ranges)
    for low, high in ranges:
        for first, last, by in ((ord("a"), ord("z"), -32), (ord("A"), ord("Z"), 32)):
            if max(low, first) <= min(high, last):
                result.append((max(low, first) + by, min(high, last) + by))
    return union(result)
