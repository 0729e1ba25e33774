"""Prepares a regular expression for the selection of lines, and for the matches in them.

An automaton reads each line once, from its start to the end of the first match. It is that of the expression after any bytes
(Thompson 1968). Native code makes its deterministic states when a text needs them.
"""

from __future__ import annotations

from headrace import _native
from headrace.core.options import flag
from headrace.query.match.regex.expression import literal_syntax, syntax_of
from headrace.query.match.regex.nfa import Nfa
from headrace.query.match.regex.syntax import Alternatives, Characters, LineEdge, Sequence
from headrace.query.match.regex.windows import required_part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from headrace.query.match.regex.syntax import Node

CONTINUATION = (0x80, 0xBF)  # bytes of a character of UTF-8 after its first one
MAX_ITEMS = 1 << 17
"""Entries of a thread's table of states, before it is cleared. An entry is 4 bytes, and the sets of nodes take 8 times that."""
_ITEMS_A_NODE, _MAX_ITEMS_OF_MANY = 32, 1 << 22
"""Thousands of texts have a state for each node. Their table has more entries, up to a bound, so that it is not cleared."""


class LineExpression:
    r"""Regular expressions, prepared to select lines. A line is selected if any part of it matches, also an empty one.

    The line end is not part of a line, so no match contains it. ``^`` and ``$`` are the start and the end of the line.

    Raises OptionError if the expression is malformed, not in the subset of `compile_regex`, or needs too many nodes. The
    number of states is not limited.

    `patterns`: an expression as in `compile_regex`, or several, one of which has to match: all str or all bytes. None matches
    no line.
    `ignore_case`: whether ASCII letters match in either case.
    `is_literal`: whether the patterns are texts without special characters.
    `edges`: ``"word"`` if characters of words, ``[A-Za-z0-9_]``, may neither precede nor follow a match; ``"line"`` for matches
    of whole lines; empty for any.
    `max_items`: number of entries of a table of states; None for one that suits the number of nodes. It changes the time of a
    search and not its result.
    """

    __slots__ = ("selector",)

    def __init__(
        self, patterns: Any, *, ignore_case: bool = False, is_literal: bool = False, edges: str = "", max_items: int | None = None
    ) -> None:
        several = patterns if isinstance(patterns, list) else [patterns]
        is_word, is_line = edges == "word", edges == "line"
        node, is_text = _tree(several, is_line, is_literal=is_literal, ignore_case=flag("ignore_case", ignore_case))
        nfa = Nfa(is_text, sum(map(len, several)))
        begin = selecting = nfa.add(node, 0)
        if is_word:
            selecting = _add_words(nfa, node)
        line_begin = nfa.add_in_line(selecting)
        automaton = _native.LineAutomaton(nfa.edges(), begin, line_begin)
        respecting = _tree(several, is_line, is_literal=is_literal, ignore_case=False)[0] if ignore_case else node
        part = required_part(node, respecting, is_text=is_text, is_of_line=True)
        literal, windows = part.native()
        before = int(is_word)  # bytes that the automaton reads before a match
        reach = _native.UNLIMITED_REACH if part.reach is None else before + part.reach
        if max_items is None:
            max_items = max(MAX_ITEMS, min(_ITEMS_A_NODE * len(nfa.ranges), _MAX_ITEMS_OF_MANY))
        self.selector = _native.LineSelector(literal, windows, automaton, max_items, is_word, reach)


def _add_words(nfa: Nfa, node: Node) -> int:
    """Return a node from which matches of `node` are read, with the byte before and after them, which are of no word.

    An empty match is not inside of a character: between a byte beyond ASCII and a continuation byte.
    """
    end = nfa.add_word_edge(0, is_end=True)
    begin = nfa.add(node, end)
    if not (nfa.is_text and nfa.reads_nothing(begin, end)):
        return nfa.add_word_edge(begin, is_end=False)
    after_others = nfa.add(node, nfa.add_word_edge(0, is_end=True, without=CONTINUATION))
    selecting = nfa.node()
    nfa.empty[selecting] = [
        nfa.add_word_edge(begin, is_end=False, without=(0x80, 0xFF)),
        nfa.add_word_edge(after_others, is_end=False, without=(0, 0x7F)),
    ]
    return selecting


def _tree(patterns: list[Any], is_line: bool, *, is_literal: bool, ignore_case: bool) -> tuple[Node, bool]:
    """Return the syntax tree of all patterns, and whether their characters are those of Unicode."""
    if not patterns:
        node: Node = Characters(())
        is_text = True
    elif is_literal:
        node, is_text = literal_syntax(patterns, ignore_case=ignore_case)
    else:
        trees = [syntax_of(pattern, ignore_case=ignore_case) for pattern in patterns]
        node, is_text = trees[0][0] if len(trees) == 1 else Alternatives(tuple(tree for tree, _ in trees)), trees[0][1]
    return (Sequence((LineEdge(False), node, LineEdge(True))) if is_line else node), is_text
