"""Compiles regular expressions."""

from __future__ import annotations

from typing import Any

from headrace.core.options import flag
from headrace.query.find.pattern.pattern import contiguous_bytes
from headrace.query.match.automaton.dfa import Dfa
from headrace.query.match.automaton.tables import tables_of
from headrace.query.match.regex.determinize import determinize
from headrace.query.match.regex.nfa import Nfa
from headrace.query.match.regex.parse import parse
from headrace.query.match.regex.syntax import Node


def compile_regex(pattern: Any, *, ignore_case: bool = False) -> Dfa:
    r"""Return the automaton of a regular expression, for `match`.

    Parameters
    ----------
    pattern
        A str, whose characters match their UTF-8 forms, or bytes, each of which matches itself. The syntax is a subset of that
        of `re`. It has literals, escapes, ``.``, sets such as ``[a-z_]`` and ``[^,]``, and ``\d \w \s \D \W \S`` of ASCII. It has
        ``|``, groups, ``* + ? {m} {m,} {,n} {m,n}``, and ``^`` and ``$`` for the start and end of a line. A dot or a negated set
        of a str matches a whole character. Sets may have the classes of POSIX, of ASCII, such as ``[[:alpha:]_]``, which `re`
        has not. So ``[:``, ``[.`` and ``[=`` in a set are errors otherwise, and a bracket there is ``\[``.
    ignore_case
        Whether ASCII letters match in either case.

    Returns
    -------
    Dfa
        The minimal automaton. Among alternatives the longest one counts, as in POSIX and not as in `re`.

    Raises
    ------
    OptionError
        The expression is malformed or not in the subset: lazy repetition, look-around, back-references, word edges. The message
        has the position. Or the automaton needs more than 256 states, in either direction. Or its construction would take more
        than a fraction of a second, as that of ``(.?){1000}``.

    Examples
    --------
    >>> compile_regex(r"\d+(\.\d+)?")
    <Dfa of 5 states and 3 classes of bytes>
    >>> compile_regex("[äöü]").accepts("ö".encode())
    True
    """
    nfa, begin = _nfa_of(pattern, ignore_case)
    dfa = determinize(nfa, begin)
    tables_of(dfa)
    return dfa


def line_nfa(pattern: Any, *, ignore_case: bool = False) -> tuple[Nfa, int, int]:
    """Return the nondeterministic automaton of an expression, its node at the start of a match, and that of a line.

    From the node at the start of a line any bytes of the line, and then a match, are read.

    Parameters
    ----------
    pattern, ignore_case
        As in `compile_regex`.

    Raises
    ------
    OptionError
        The expression is malformed, not in the subset, or needs too many nodes.
    """
    nfa, begin = _nfa_of(pattern, ignore_case)
    return nfa, begin, nfa.add_in_line(begin)


def syntax_of(pattern: Any, *, ignore_case: bool = False) -> tuple[Node, bool]:
    """Return the syntax tree of a valid expression, and whether its characters are those of Unicode."""
    text, is_text = _characters_of(pattern)
    return parse(text, is_text=is_text, ignore_case=ignore_case), is_text


def _nfa_of(pattern: Any, ignore_case: bool) -> tuple[Nfa, int]:
    """Return the automaton of an expression before it is made deterministic, and its first node."""
    text, is_text = _characters_of(pattern)
    nfa = Nfa(is_text)
    return nfa, nfa.add(parse(text, is_text=is_text, ignore_case=flag("ignore_case", ignore_case)), 0)


def _characters_of(pattern: Any) -> tuple[str, bool]:
    """Return the characters of an expression, and whether they are those of Unicode."""
    if isinstance(pattern, str):
        return pattern, True
    return contiguous_bytes(pattern, "pattern", "a regular expression as str or bytes").decode("latin-1"), False
