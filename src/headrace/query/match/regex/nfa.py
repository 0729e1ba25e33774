"""Builds a nondeterministic automaton over bytes from a syntax tree (Thompson 1968, "Regular expression search algorithm")."""

from __future__ import annotations

from headrace.core.errors import OptionError
from headrace.query.match.regex.syntax import (
    LINE_FEED,
    WORD,
    Alternatives,
    Characters,
    LineEdge,
    Repeat,
    Sequence,
    complement,
    union,
)
from headrace.query.match.regex.utf8 import byte_ranges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headrace.query.match.regex.syntax import Node

_REPEATED_NODES = 50_000  # Nodes beyond those of the characters that a pattern has. It needs them for repetitions and classes.
_NODES_PER_CHARACTER = 16
_MAX_NODES = 1 << 24


class Nfa:
    """A nondeterministic automaton over bytes. Nodes are numbers; node 0 accepts.

    `is_text`: whether characters are those of Unicode, in UTF-8, not bytes.
    `size`: number of characters of the patterns, for which more nodes are allowed.
    """

    __slots__ = ("_max_nodes", "empty", "is_text", "line_end", "line_start", "ranges")

    def __init__(self, is_text: bool, size: int) -> None:
        self.is_text = is_text
        self._max_nodes = min(_REPEATED_NODES + _NODES_PER_CHARACTER * size, _MAX_NODES)
        self.empty: dict[int, list[int]] = {}  # by node: targets of its edges that read nothing; most nodes have none
        self.line_start: dict[int, list[int]] = {}
        """Targets of a node's edges that read nothing, and may be taken at the start of a line."""
        self.line_end: dict[int, list[int]] = {}  # the same for the end of a line
        self.ranges: list[tuple[tuple[int, int, int], ...]] = [()]
        """First and last byte and target of the edges of each node that read a byte."""

    def node(self) -> int:
        """Add a node without edges. Raise OptionError if there are too many."""
        return self._reader(())

    def add(self, node: Node, after: int) -> int:
        """Return a node from which the tree, and then `after`, is read."""
        match node:
            case Characters():
                return self._characters(node, after)
            case Sequence():
                for part in reversed(node.parts):
                    after = self.add(part, after)
                return after
            case Alternatives():
                return self._alternatives(node, after)
            case Repeat():
                return self._repeat(node, after)
            case LineEdge():
                begin = self.node()
                (self.line_end if node.is_end else self.line_start)[begin] = [after]
                return begin

    def add_in_line(self, begin: int) -> int:
        """Return a node from which any bytes of a line, and then the bytes that are read from `begin`, are read."""
        loop = self.node()
        self.empty[loop] = [begin]
        self.ranges[loop] = ((0, LINE_FEED - 1, loop), (LINE_FEED + 1, 255, loop))
        return loop

    def add_word_edge(self, after: int, *, is_end: bool, without: tuple[int, int] = (LINE_FEED, LINE_FEED)) -> int:
        """Return a node that leads to `after` at an edge of the line, or by a byte of the line that is of no word.

        `without`: first and last of further bytes that do not lead there.
        """
        begin = self.node()
        (self.line_end if is_end else self.line_start)[begin] = [after]
        others = complement(union([*WORD, (LINE_FEED, LINE_FEED), without]), 255)
        self.ranges[begin] = tuple((first, last, after) for first, last in others)
        return begin

    def reads_nothing(self, begin: int, end: int) -> bool:
        """Return whether edges that read nothing lead from one node to the other, inside of a line."""
        left, seen = [begin], {begin}
        while left:
            new = set(self.empty.get(left.pop(), ())) - seen
            seen |= new
            left += new
        return end in seen

    def edges(self) -> list[tuple[int, int, int, int]]:
        """Return all edges as source, first and last byte, and target. The first byte of one that reads nothing is beyond 255."""
        found = [(source, *edge) for source, edges in enumerate(self.ranges) for edge in edges]
        for kind, targets_of in enumerate((self.empty, self.line_start, self.line_end), 256):
            found += [(source, kind, kind, target) for source, targets in targets_of.items() for target in targets]
        return found

    def _characters(self, node: Characters, after: int) -> int:
        edges = []
        for low, high in node.ranges:
            for first, *others in byte_ranges(low, high) if self.is_text else (((low, high),),):
                target = after
                for ranges in reversed(others):
                    target = self._reader(((*ranges, target),))
                edges.append((*first, target))
        return self._reader(tuple(edges))

    def _reader(self, edges: tuple[tuple[int, int, int], ...]) -> int:
        if len(self.ranges) == self._max_nodes:
            raise OptionError(f"pattern needs more than {self._max_nodes} nodes; use fewer repetitions or patterns")
        self.ranges.append(edges)
        return len(self.ranges) - 1

    def _alternatives(self, node: Alternatives, after: int) -> int:
        """Return a node with the edges of those parts that begin with a character, so that it is one node for all of them."""
        begin, edges, targets = self.node(), list[tuple[int, int, int]](), list[int]()
        for part in node.parts:
            target = self.add(part, after)
            if self.ranges[target] and not any(target in each for each in (self.empty, self.line_start, self.line_end)):
                edges += self.ranges[target]
            else:
                targets.append(target)
        self.ranges[begin], self.empty[begin] = tuple(edges), targets
        return begin

    def _repeat(self, node: Repeat, after: int) -> int:
        if node.most is None:
            loop = self.node()
            self.empty[loop] = [after, self.add(node.part, loop)]
            after = loop
        else:
            end = after
            for _ in range(node.most - node.least):
                begin = self.node()
                self.empty[begin] = [end, self.add(node.part, after)]
                after = begin
        for _ in range(node.least):
            before = self.add(node.part, after)
            if before == after:  # the part matches no byte and needs no node, so its repetitions would not end
                break
            after = before
        return after
