"""Compiles regular expressions."""

from __future__ import annotations

from typing import Any

from headrace.core.options import flag
from headrace.query.match.automaton.dfa import Dfa, with_part
from headrace.query.match.automaton.tables import tables_of
from headrace.query.match.regex.determinize import determinize
from headrace.query.match.regex.expression import syntax_of
from headrace.query.match.regex.nfa import Nfa
from headrace.query.match.regex.windows import required_part


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
    node, is_text = syntax_of(pattern, ignore_case=flag("ignore_case", ignore_case))
    nfa = Nfa(is_text, 0)
    dfa = determinize(nfa, nfa.add(node, 0))
    tables_of(dfa)
    respecting = syntax_of(pattern)[0] if ignore_case else node
    return with_part(dfa, required_part(node, respecting, is_text=is_text, is_of_line=False))
