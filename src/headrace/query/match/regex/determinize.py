"""Makes a nondeterministic automaton deterministic, and minimal.

States are sets of nodes (Rabin and Scott 1959, "Finite automata and their decision problems"). They are merged by Hopcroft's
algorithm (1971, "An n log n algorithm for minimizing states in a finite automaton").
"""

from __future__ import annotations

from headrace.core.errors import OptionError
from headrace.query.match.automaton.dfa import LINE_FEED, MAX_STATES, Dfa
from headrace.query.match.regex.nfa import Nfa

_MAX_SETS = 4096
_MAX_VISITS = 400_000
"""Maximum number of visits of nodes and classes, by all sets together: a bound of the time and of the memory."""
_ACCEPTS = 0
_State = tuple[frozenset[int], bool]


def determinize(nfa: Nfa, start: int) -> Dfa:
    """Return the minimal deterministic automaton.

    `nfa`: the automaton. `start`: its node at the start of a match. Raise OptionError if it has more than 256 states, or too
    many sets or visits of nodes before it is minimised.
    """
    class_of, samples = _classes(nfa)
    subsets = _Subsets(nfa, class_of)
    starts = [subsets.closure(frozenset([start]), at_line_start) for at_line_start in (False, True)]
    number_of: dict[_State, int] = {}
    for state in starts:
        number_of.setdefault(state, len(number_of))
    order = list(number_of)
    rows: list[list[int]] = [[] for _ in samples]
    for state in order:  # grows
        for row, target in zip(rows, subsets.steps(state), strict=True):
            if target not in number_of:
                if len(order) == _MAX_SETS:
                    raise OptionError(f"pattern needs more than {_MAX_SETS} sets of states; use fewer repetitions")
                number_of[target] = len(order)
                order.append(target)
            row.append(number_of[target])
    kinds = [subsets.kind(state) for state in order]
    parts = minimal_parts(rows, kinds)
    return _merged(class_of, rows, kinds, (parts, [number_of[state] for state in starts]))


def _classes(nfa: Nfa) -> tuple[bytes, list[int]]:
    """Return the class of each byte, and a byte of each class. Bytes with the same edges share a class."""
    begins = {0, LINE_FEED, LINE_FEED + 1}
    for edges in nfa.ranges:
        for first, last, _ in edges:
            begins |= {first, last + 1}
    samples = sorted(begins - {256})
    class_of, number = bytearray(), -1
    for byte in range(256):
        number += byte in begins
        class_of.append(number)
    return bytes(class_of), samples


class _Subsets:
    """Computes sets of nodes. A state also has whether a line starts, if an edge for line ends may need it later.

    The members of the sets decide the time: ``(.?){1000}`` has sets of thousands of nodes. So each visit of a node or a class is
    counted.
    """

    def __init__(self, nfa: Nfa, class_of: bytes) -> None:
        self._nfa, self._class_of = nfa, class_of
        self._after: dict[tuple[frozenset[int], bool], _State] = {}
        self._visits = 0

    def _spend(self, visits: int) -> None:
        self._visits += visits
        if self._visits > _MAX_VISITS:
            raise OptionError(
                f"pattern needs more than {_MAX_VISITS} visits of nodes to be compiled; use fewer repetitions and alternatives"
            )

    def closure(self, nodes: frozenset[int], at_line_start: bool, *, at_line_end: bool = False) -> _State:
        """Return the nodes that are reached without reading. Nodes with edges that read nothing only are left out."""
        nfa, found = self._nfa, set(nodes)
        frontier = list(found)
        while frontier:
            node = frontier.pop()
            targets = set(nfa.empty.get(node, ()))
            if at_line_start:
                targets.update(nfa.line_start.get(node, ()))
            if at_line_end:
                targets.update(nfa.line_end.get(node, ()))
            self._spend(1 + len(targets))
            frontier += targets - found
            found |= targets
        left = frozenset(n for n in found if n == _ACCEPTS or nfa.ranges[n] or n in nfa.line_end)
        return left, at_line_start and any(n in nfa.line_end for n in left)

    def steps(self, state: _State) -> list[_State]:
        """Return the state after a byte of each class."""
        nodes, at_line_start = state
        line_feed, ranges = self._class_of[LINE_FEED], self._nfa.ranges
        targets: list[set[int]] = [set() for _ in range(self._class_of[-1] + 1)]
        self._spend(len(targets) + len(nodes))
        for node in nodes:
            for first, last, target in ranges[node]:
                groups = range(self._class_of[first], self._class_of[last] + 1)
                self._spend(len(groups))
                for group in groups:
                    targets[group].add(target)
        if any(node in self._nfa.line_end for node in nodes):
            for node in self.closure(nodes, at_line_start, at_line_end=True)[0]:
                targets[line_feed].update(target for first, last, target in ranges[node] if first <= LINE_FEED <= last)
        return [self._closure_once(frozenset(after), group == line_feed) for group, after in enumerate(targets)]

    def _closure_once(self, nodes: frozenset[int], at_line_start: bool) -> _State:
        found = self._after.get((nodes, at_line_start))
        if found is None:
            found = self._after[nodes, at_line_start] = self.closure(nodes, at_line_start)
        return found

    def kind(self, state: _State) -> int:
        """Return 2 if the state accepts, 1 if it accepts at the end of a line, otherwise 0."""
        nodes, at_line_start = state
        if _ACCEPTS in nodes:
            return 2
        return int(_ACCEPTS in self.closure(nodes, at_line_start, at_line_end=True)[0])


def minimal_parts(rows: list[list[int]], kinds: list[int]) -> list[int]:
    """Return the part of each state; equivalent states have the same one.

    `rows`: next states, by class. `kinds`: a number for each state. States of different numbers are not equivalent.
    """
    before: list[list[list[int]]] = []  # by class and state
    for row in rows:
        sources: list[list[int]] = [[] for _ in row]
        for state, target in enumerate(row):
            sources[target].append(state)
        before.append(sources)
    members: list[set[int]] = [{s for s, k in enumerate(kinds) if k == kind} for kind in sorted(set(kinds))]
    part_of = [sorted(set(kinds)).index(kind) for kind in kinds]
    waiting = set(range(len(members)))
    while waiting:
        splitter = list(members[waiting.pop()])
        for sources in before:
            reached: dict[int, set[int]] = {}
            for target in splitter:
                for state in sources[target]:
                    reached.setdefault(part_of[state], set()).add(state)
            for part, inside in reached.items():
                if len(inside) == len(members[part]):
                    continue
                members[part] -= inside
                new = len(members)
                members.append(inside)
                for state in inside:
                    part_of[state] = new
                waiting.add(new if part in waiting or len(inside) <= len(members[part]) else part)
    return part_of


def _merged(class_of: bytes, rows: list[list[int]], kinds: list[int], merged: tuple[list[int], list[int]]) -> Dfa:
    """Return the automaton whose states are parts, and whose classes have different rows. `merged`: parts, and start states."""
    parts, starts = merged
    count = max(parts) + 1
    if count > MAX_STATES:
        raise OptionError(f"pattern needs {count} states; it may need {MAX_STATES}")
    member = {part: state for state, part in enumerate(parts)}
    of_parts = [bytes(parts[row[member[part]]] for part in range(count)) for row in rows]
    accepting = {part for part in range(count) if kinds[member[part]] == 2}
    at_line_end = {part for part in range(count) if kinds[member[part]] == 1}
    start, line_start = (parts[state] for state in starts)
    uses_lines = start != line_start or bool(at_line_end)
    number_of: dict[tuple[bytes, bool], int] = {}
    group_of = []
    for group, row in enumerate(of_parts):
        is_line_feed = uses_lines and group == class_of[LINE_FEED]
        group_of.append(number_of.setdefault((row, is_line_feed), len(number_of)))
    rows_left = tuple(row for row, _ in number_of)
    return Dfa(
        bytes(group_of[group] for group in class_of),
        rows_left,
        accepting,
        start=start,
        line_start=line_start,
        accepting_at_line_end=at_line_end,
    )
