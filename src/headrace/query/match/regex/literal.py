"""Finds a literal that is part of each match of a regular expression, so that a search for it can skip the other texts."""

from __future__ import annotations

from headrace.query.match.regex.lengths import max_bytes
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
    runs = [_Run()]
    _add_runs(node, runs)
    contents = [run.content.encode("utf-8" if is_text else "latin-1") for run in runs]
    longest = max(range(len(runs)), key=lambda number: len(contents[number]))
    return contents[longest], _bytes_before(runs[longest], is_text=is_text)


class _Run:
    """Characters that follow each other. `previous`: the run before them. `skipped`: the part between both, None for none."""

    __slots__ = ("content", "previous", "skipped")

    def __init__(self, previous: _Run | None = None, skipped: Node | None = None) -> None:
        self.content, self.previous, self.skipped = "", previous, skipped


def _add_runs(node: Node, runs: list[_Run]) -> None:
    """Continue the last run by the node, or begin new ones after it."""
    match node:
        case Characters(ranges) if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
            runs[-1].content += chr(ranges[0][0])
        case Sequence(parts):
            for part in parts:
                _add_runs(part, runs)
        case Repeat(part, least) if least > 0:
            previous = runs[-1]
            runs.append(_Run(previous))
            _add_runs(part, runs)
            runs.append(_Run(previous, node))
        case _:
            runs.append(_Run(runs[-1], node))


def _bytes_before(run: _Run, *, is_text: bool) -> int | None:
    total = 0
    while run.previous is not None:
        skipped = 0 if run.skipped is None else max_bytes(run.skipped, is_text=is_text)
        if skipped is None:
            return None
        run = run.previous
        total += skipped + len(run.content.encode("utf-8" if is_text else "latin-1"))
    return total
