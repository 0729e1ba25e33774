"""Finds a literal that is part of each match of a regular expression, so that a search for it can skip the other texts."""

from __future__ import annotations

from headrace.query.match.regex.syntax import Characters, Repeat, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headrace.query.match.regex.syntax import Node


def required_literal(node: Node, *, is_text: bool) -> bytes:
    """Return the longest run of single characters that is in each match, in UTF-8 if `is_text`; empty if there is none.

    Alternatives have none, and repetitions have that of the part if that occurs at least once.

    >>> from headrace.query.match.regex.parse import parse
    >>> required_literal(parse("(a|b)cd*(ef)+g?", is_text=True, ignore_case=False), is_text=True)
    b'ef'
    """
    runs = [""]
    _add_runs(node, runs)
    return max((run.encode("utf-8" if is_text else "latin-1") for run in runs), key=len)


def _add_runs(node: Node, runs: list[str]) -> None:
    """Continue the last run by the node, or begin new ones after it."""
    match node:
        case Characters(ranges) if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
            runs[-1] += chr(ranges[0][0])
        case Sequence(parts):
            for part in parts:
                _add_runs(part, runs)
        case Repeat(part, least) if least > 0:
            runs.append("")
            _add_runs(part, runs)
            runs.append("")
        case _:
            runs.append("")
