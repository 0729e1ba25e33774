"""Builds texts, expressions and automata for the tests of matches, and their expected matches."""

from __future__ import annotations

import re
from typing import AnyStr

import numpy as np
from hypothesis import strategies as st

from headrace import Dfa

FLAGS = re.ASCII | re.MULTILINE

Spans = list[tuple[int, int]]


def expected(text: AnyStr, pattern: AnyStr, flags: int = 0) -> Spans:
    """Return the leftmost-longest matches by `re`, which is asked for each begin and end of a match alone."""
    size = len(text)
    form = "(?:%s)(?=(?s:.{%d})\\Z)" if isinstance(text, str) else b"(?:%s)(?=(?s:.{%d})\\Z)"
    ends_at = [re.compile(form % (pattern, size - end), flags | FLAGS if isinstance(text, str) else flags | re.MULTILINE)  # type: ignore[operator]
               for end in range(size + 1)]  # fmt: skip
    found: Spans = []
    at = 0
    while at < size:
        end = next((end for end in range(size, at, -1) if ends_at[end].match(text, at)), at)
        if end > at:
            found.append((at, end))
        at = max(end, at + 1)
    return found


def in_bytes(text: str, spans: Spans) -> Spans:
    """Return spans of characters as spans of bytes of the UTF-8 form."""
    before = np.cumsum([0, *(len(character.encode()) for character in text)]).tolist()
    return [(before[begin], before[end]) for begin, end in spans]


def walked(text: bytes, dfa: Dfa) -> Spans:
    """Return the matches of an automaton by a walk from each begin."""
    ends = dfa.accepting | dfa.accepting_at_line_end
    alive = set(ends)
    for _ in range(dfa.state_count):
        alive |= {state for row in dfa.transitions for state, target in enumerate(row) if target in alive}
    found: Spans = []
    at = 0
    while at < len(text):
        is_line_start = at == 0 or text[at - 1] == 10
        state = dfa.line_start if is_line_start and dfa.line_start is not None else dfa.start
        longest = at
        for i in range(at, len(text)):
            state = dfa.transitions[dfa.class_of[text[i]]][state]
            is_line_end = i + 1 == len(text) or text[i + 1] == 10
            if state in dfa.accepting or (is_line_end and state in dfa.accepting_at_line_end):
                longest = i + 1
            if state not in alive:
                break
        if longest > at:
            found.append((at, longest))
        at = max(longest, at + 1)
    return found


def patterns(letters: list[str]) -> st.SearchStrategy[str]:
    """Return a strategy of expressions in the subset."""
    atoms = st.sampled_from(
        [*letters, ".", r"\w", r"\D", r"\s", "[ab]", "[^a]", r"[^\n]", "[a-c\\-]", "\\.", "^", "$", "\n", r"\x61"]
    )
    counts = st.sampled_from(["*", "+", "?", "{2}", "{1,}", "{,2}", "{1,3}"])

    def extended(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            st.lists(parts, min_size=1, max_size=4).map("".join),
            st.lists(parts, min_size=1, max_size=3).map(lambda each: "(?:" + "|".join(each) + ")"),
            st.tuples(parts, counts).map(lambda part: f"({part[0]}){part[1]}"),
        )

    return st.recursive(atoms, extended, max_leaves=8)


def random_dfa(seed: int, states: int, classes: int, *, lines: bool = False) -> Dfa:
    """Return a random automaton, in which most transitions of half of the automata lead to one state."""
    random = np.random.default_rng([seed, states, classes, lines])
    class_of = random.integers(0, classes, 256, np.uint8)
    table = random.integers(0, states, (classes, states), np.uint8)
    if seed % 2:
        table[random.random(table.shape) < 0.6] = states - 1
    if lines:
        class_of[class_of == class_of[10]] = (class_of[10] + 1) % classes
        class_of[10] = classes
        table = np.vstack([table, random.integers(0, states, states, np.uint8)])
    accepting = random.choice(states, max(1, states // 4), replace=False).tolist()
    if not lines:
        return Dfa(class_of.tobytes(), [row.tobytes() for row in table], accepting)
    ends = random.choice(states, max(1, states // 4), replace=False).tolist()
    return Dfa(class_of.tobytes(), [row.tobytes() for row in table], accepting, line_start=states - 1, accepting_at_line_end=ends)


def cycle(states: int, letters: bytes) -> Dfa:
    """Return an automaton that counts letters modulo a number. No two of its states are ever merged."""
    class_of = bytes(0 if byte in letters else 1 for byte in range(256))
    rows = [bytes((state + 1) % states for state in range(states)), bytes(range(states))]
    return Dfa(class_of, rows, {0})
