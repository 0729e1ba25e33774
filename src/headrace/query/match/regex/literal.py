"""Finds a literal that is part of each match of a regular expression, so that a search for it can skip the other texts."""

from __future__ import annotations

from headrace.query.match.regex.lengths import max_bytes, sum_of
from headrace.query.match.regex.syntax import Characters, Repeat, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headrace.query.match.regex.syntax import Node


def required_literal(node: Node, *, is_text: bool) -> tuple[bytes, int | None]:
    """Return the longest run of single characters that is in each match, in UTF-8 if `is_text`; empty if there is none.

    The second result is the maximum number of bytes of a match before it, None for any number. Alternatives have no run, and
    repetitions have that of the part if that occurs at least once.

    >>> from headrace.query.match.regex.parse import parse
    >>> required_literal(parse("(a|b)cd*(ef)+g?", is_text=True, ignore_case=False), is_text=True)
    (b'ef', None)
    >>> required_literal(parse("(a|b)cd*", is_text=True, ignore_case=False), is_text=True)
    (b'c', 1)
    """
    runs = [_Run(0)]
    _add_runs(node, runs, is_text=is_text)
    longest = max(runs, key=lambda run: len(run.content))
    return longest.content, longest.before


class _Run:
    """Bytes that follow each other, and the maximum number of bytes of a match before them."""

    __slots__ = ("before", "content")

    def __init__(self, before: int | None) -> None:
        self.content, self.before = b"", before

    def next(self, skipped: int | None = 0) -> _Run:
        """Return an empty run, which follows this one and other bytes."""
        return _Run(sum_of((self.before, len(self.content), skipped)))


def _add_runs(node: Node, runs: list[_Run], *, is_text: bool) -> None:
    """Continue the last run by the node, or begin new ones after it."""
    match node:
        case Characters(ranges) if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
            runs[-1].content += chr(ranges[0][0]).encode("utf-8" if is_text else "latin-1")
        case Sequence(parts):
            for part in parts:
                _add_runs(part, runs, is_text=is_text)
        case Repeat(part, least) if least > 0:
            begin = runs[-1].next()
            runs.append(begin)
            _add_runs(part, runs, is_text=is_text)
            runs.append(_Run(sum_of((begin.before, max_bytes(node, is_text=is_text)))))
        case _:
            runs.append(runs[-1].next(max_bytes(node, is_text=is_text)))
