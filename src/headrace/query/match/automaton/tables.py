"""Builds the tables of a search: an automaton that reads a text backward, and one that reads it forward.

A search finds the leftmost-longest matches in two readings. The backward reading computes a *right state* for each position. It
is the set of states from which some of the following bytes lead to an accepting state. The forward reading consults the right
state after each byte. If it has the state after the byte, a longer match exists, and the match begins or goes on. Otherwise, the
match ends if the state accepts. So neither reading looks ahead. Both are automata, which run over chunks of the text in parallel.
Such a pair is a bimachine (Schützenberger 1961, "A remark on finite transducers"; Elgot and Mezei 1965, "On relations defined by
generalized finite automata").

Example: ``ab|abab`` in ``ababab``. The state after the first ``ab`` accepts. The right state there has it, too, because ``ab``
follows, so the match goes on. At position 4 the state is not in the right state, and the match ends. The second match is ``ab``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from headrace.core.errors import OptionError
from headrace.query.match.automaton.dfa import LINE_FEED, MAX_STATES, Dfa

FAILS, GOES_ON, ENDS = 0, 1, 2  # MatchVerdict of match_rules.hpp


@dataclass(frozen=True, slots=True)
class MatchTables:
    """Tables of a search, in the layout of ``MatchTables`` (match_rules.hpp)."""

    class_of: bytes  # class of each byte value
    forward: bytes  # next state by class and state
    verdicts: bytes  # verdict by right state and state
    backward: bytes  # right state before a byte by its class and the right state after it
    idle_after: bytes  # idle state after a byte of each class
    states: int  # Number of states. The first `idles` of them are outside a match.
    rights: int  # Number of right states. State 0 is that of the end of the text.
    idles: int
    """Number of idle states; if 2, the second one is for the starts of lines. The last one is that of the start of the text."""


@lru_cache(maxsize=256)
def tables_of(dfa: Dfa) -> MatchTables:
    """Return the tables of an automaton. Raise OptionError if one of the two readings needs more than 256 states."""
    forward, accepting, at_line_end, idles = _forward_states(dfa)
    states = len(forward[0])
    if states > MAX_STATES:
        raise OptionError(f"the automaton has {states} states with those outside a match; it may have {MAX_STATES}")
    backward, rights = _right_states(_sources(forward, idles), accepting, at_line_end, dfa.class_of[LINE_FEED])
    verdicts = bytearray()
    for right, is_line_end in rights:
        ends = accepting | at_line_end if is_line_end else accepting
        verdicts += bytes(GOES_ON if right >> s & 1 else ENDS if ends >> s & 1 else FAILS for s in range(states))
    idle_after = bytes(idles - 1 if group == dfa.class_of[LINE_FEED] else 0 for group in range(len(forward)))
    return MatchTables(
        dfa.class_of,
        bytes(chain.from_iterable(forward)),
        bytes(verdicts),
        bytes(chain.from_iterable(backward)),
        idle_after,
        states,
        len(rights),
        idles,
    )


def _forward_states(dfa: Dfa) -> tuple[list[list[int]], int, int, int]:
    """Return next states by class, the masks of accepting states and of those at line ends, and the number of idle states.

    Idle states are copies of the start states that no byte leads to. States that lead to no accepting state are one.
    """
    starts = [dfa.start] if dfa.line_start is None else [dfa.start, dfa.line_start]
    alive = _alive(dfa)
    order = list(starts)  # the automaton's state of each state; -1 for those that lead to no accepting state
    number_of: dict[int, int] = {}
    forward: list[list[int]] = [[] for _ in dfa.transitions]
    at = 0
    while at < len(order):
        for row, new in zip(dfa.transitions, forward, strict=True):
            target = row[order[at]] if order[at] >= 0 else -1
            target = target if target in alive else -1
            if target not in number_of:
                number_of[target] = len(order)
                order.append(target)
            new.append(number_of[target])
        at += 1
    masks = [0, 0]
    for i, ends in enumerate((dfa.accepting, dfa.accepting_at_line_end)):
        masks[i] = sum(1 << number for state, number in number_of.items() if state in ends)
    return forward, masks[0], masks[1], len(starts)


def _alive(dfa: Dfa) -> set[int]:
    """Return the states that lead to an accepting one."""
    before: list[set[int]] = [set() for _ in range(dfa.state_count)]
    for row in dfa.transitions:
        for state, target in enumerate(row):
            before[target].add(state)
    alive = set(dfa.accepting | dfa.accepting_at_line_end)
    frontier = list(alive)
    while frontier:
        added = before[frontier.pop()] - alive
        alive |= added
        frontier += added
    return alive


def _sources(forward: list[list[int]], idles: int) -> list[dict[int, int]]:
    """Return by class, for each state, the mask of states that lead to it. Idle ones are left out: no byte leads to them."""
    result: list[dict[int, int]] = []
    for row in forward:
        sources: dict[int, int] = {}
        for state, target in enumerate(row[idles:], idles):
            sources[target] = sources.get(target, 0) | 1 << state
        result.append(sources)
    return result


def _right_states(
    into: list[dict[int, int]], accepting: int, at_line_end: int, line_feed: int
) -> tuple[list[list[int]], list[tuple[int, bool]]]:
    """Return right states before a byte by its class, and the set of states and whether a line ends of each right state."""
    rights: list[tuple[int, bool]] = [(0, at_line_end != 0)]
    number_of = {rights[0]: 0}
    backward: list[list[int]] = [[] for _ in into]
    at = 0
    while at < len(rights):
        following, is_line_end = rights[at]
        wanted = following | accepting | (at_line_end if is_line_end else 0)
        for group, (sources, new) in enumerate(zip(into, backward, strict=True)):
            found = 0
            for target, mask in sources.items():
                if wanted >> target & 1:
                    found |= mask
            right = (found, at_line_end != 0 and group == line_feed)
            if right not in number_of:
                if len(rights) == MAX_STATES:
                    raise OptionError(f"reading the text backward needs more than {MAX_STATES} states")
                number_of[right] = len(rights)
                rights.append(right)
            new.append(number_of[right])
        at += 1
    return backward, rights
