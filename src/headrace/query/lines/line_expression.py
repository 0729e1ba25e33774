"""Prepares a regular expression for the selection of lines, and for the matches in them.

An automaton reads each line once, from its start to the end of the first match. It is that of the expression after any bytes
(Thompson 1968). Native code makes its deterministic states when a text needs them.
"""

from __future__ import annotations

from headrace import _native
from headrace.core.options import flag
from headrace.query.find.pattern.pattern import Pattern
from headrace.query.match.regex.expression import nfa_of, syntax_of
from headrace.query.match.regex.literal import required_literal
from headrace.query.match.regex.windows import required_windows, share_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_ITEMS = 1 << 17
"""Entries of a thread's table of states, before it is cleared. An entry is 4 bytes, and the sets of nodes take 8 times that."""


class LineExpression:
    r"""A regular expression, prepared to select lines. A line is selected if any part of it matches, also an empty one.

    The line end is not part of a line, so no match contains it. ``^`` and ``$`` are the start and the end of the line.

    Parameters
    ----------
    pattern
        As in `compile_regex`.
    ignore_case
        Whether ASCII letters match in either case.
    max_items
        Number of entries of a table of states. It changes the time of a search and not its result.

    Raises
    ------
    OptionError
        The expression is malformed, not in the subset of `compile_regex`, or needs too many nodes. The number of states is not
        limited.
    """

    __slots__ = ("selector",)

    def __init__(self, pattern: Any, *, ignore_case: bool = False, max_items: int = MAX_ITEMS) -> None:
        nfa, begin = nfa_of(pattern, flag("ignore_case", ignore_case))
        line_begin = nfa.add_in_line(begin)
        automaton = _native.LineAutomaton(nfa.edges(), begin, line_begin)
        literal, windows = _filters(pattern, ignore_case)
        self.selector = _native.LineSelector(literal, windows, automaton, max_items)


def _filters(pattern: Any, ignore_case: bool) -> tuple[_native.FindPattern | None, _native.LineWindows | None]:
    """Return a literal or windows that are in each match, the rarer of both; None for those to be left out."""
    node, is_text = syntax_of(pattern, ignore_case=False)
    literal = required_literal(node, is_text=is_text)
    if ignore_case:
        node, _ = syntax_of(pattern, ignore_case=True)
    windows = required_windows(node, is_text=is_text)
    share = 1.0
    for byte in literal:
        share *= share_of(1 << byte)
    if literal and b"\n" not in literal and (windows is None or share <= windows.share):
        return Pattern(literal, ignore_case=ignore_case).native, None
    return None, None if windows is None else _native.LineWindows(windows.tables, windows.has_lead, windows.has_tail)
