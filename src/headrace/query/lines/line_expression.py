"""Prepares a regular expression for the selection of lines.

An automaton reads each line once, from its start to the end of the first match. It is that of the expression after any bytes
(Thompson 1968), and it stays in a state that accepts. A second automaton finds the matches in selected lines, if they are shown.
"""

from __future__ import annotations

from typing import Any

from headrace import _native
from headrace.query.find.pattern.pattern import Pattern
from headrace.query.match.automaton.native import native_automaton
from headrace.query.match.regex.compile_regex import compile_line_regex, compile_regex, literal_of


class LineExpression:
    r"""A regular expression, prepared to select lines. A line is selected if any part of it matches, also an empty one.

    The line end is not part of a line, so no match contains it. ``^`` and ``$`` are the start and the end of the line.

    Parameters
    ----------
    pattern
        As in `compile_regex`.
    ignore_case
        Whether ASCII letters match in either case.
    shows_matches
        Whether matches are written or marked, not only their lines.

    Raises
    ------
    OptionError
        As in `compile_regex`. The automaton of lines has at most 256 states, too.
    """

    __slots__ = ("selector",)

    def __init__(self, pattern: Any, *, ignore_case: bool = False, shows_matches: bool = False) -> None:
        dfa = compile_line_regex(pattern, ignore_case=ignore_case)
        tables = dfa.class_of, b"".join(dfa.transitions), bytes(dfa.accepting), bytes(dfa.accepting_at_line_end)
        literal = literal_of(pattern)
        self.selector = _native.LineSelector(
            Pattern(literal, ignore_case=ignore_case).native if literal and b"\n" not in literal else None,
            _native.LineAutomaton(tables, dfa.start),
            native_automaton(compile_regex(pattern, ignore_case=ignore_case)) if shows_matches else None,
        )
