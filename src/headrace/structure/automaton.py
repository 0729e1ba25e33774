"""Represents a format as data: a table of states x symbol groups, and the meaning of each step.

Source: Stehle and Jacobsen, "ParPaRaw" (PVLDB 13(5), 2020), sections 3.1 and 4.1. Bytes that behave alike share a symbol group,
and each group has one row of next states. A range of text is summarized by its *state map*: the state after it for each state
before it. State maps compose; the operation is associative but not commutative. So ranges are read in parallel and combined by
a prefix scan. The emit table is an addition: it says what a byte means in the state that reads it, which avoids look-ahead.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from enum import IntFlag
from typing import Generic, NamedTuple, TypeVar

StateT = TypeVar("StateT", bound=Hashable)


class Transition(NamedTuple, Generic[StateT]):
    """The state after a byte, and the byte's `Emit` bits."""

    state: StateT
    emit: int


class Emit(IntFlag):
    """Meaning of a byte in the state that reads it (Emit of emit.hpp). Bits combine; 0 is ordinary content.

    Let a record or field end at offset p, with a line end or separator of length k. Its content goes up to ``p - (k - 1)``,
    exclusive. The next one starts at ``p + 1``.
    """

    RECORD = 1  # a record ends with this byte
    FIELD = 2  # a field, but not the record, ends with this byte
    OPEN = 4  # this byte is the first of a record
    STRAY = 8  # a malformed quote: text follows a closing quote, or an unquoted field of a strict or lenient dialect has a quote
    BLANK = 16  # a skipped blank line; with RECORD, the record that OPEN began turns out to be one
    COMMENT = 32  # with RECORD: the record that ends is a comment line


@dataclass(frozen=True, slots=True, kw_only=True)
class Automaton:
    """A deterministic automaton over bytes with one output per step; an immutable, hashable value.

    >>> from headrace.structure.dialect import CSV
    >>> csv = CSV.automaton
    >>> csv.states[csv.run(0, b'a,"b')]
    'QUOTED'
    """

    states: tuple[str, ...]  # names, at most 64; state 0 is where every input starts
    class_of: bytes  # 256 bytes: the symbol group of each byte value
    groups: tuple[str, ...]  # Printable names of the groups. The last one is "other", the bytes without a special meaning.
    next: tuple[bytes, ...]
    emit: tuple[bytes, ...]  # one row of `len(states)` bytes a group: the next state, and the `Emit` bits
    idle: frozenset[int]  # States in which no record is open. An input that ends in any other state ends its last record there.
    quoted: frozenset[int]  # States inside quotes. An input that ends in one of them has an unclosed quote.
    comment: frozenset[int]  # States inside a comment line. An input that ends in one of them ends with a comment.
    unfinished: frozenset[int] = frozenset()
    """States in which a separator or line end has begun after closing quotes. An input that ends there is malformed."""
    dropped: tuple[bytes, ...] = ()
    """One row a group, 1 if the byte is not part of its field's text. Such bytes are an enclosing quote, the first of two quotes
    that mean one, an escape, a skipped initial space. A lenient quote that seems to close its field counts, too. If it turns out
    not to close it, a STRAY follows before any other dropped byte.
    """
    escaped: frozenset[int] = frozenset()  # States after an escape. If the input ends in one of them, the escape is text.
    unreal_group: int | None = None
    """Symbol group of a lenient quote that opens no field, which replaces its byte's group; None if quotes are strict."""
    sep_length: int = 1
    line_end_length: int = 1
    """Length of a separator and of a line end in bytes (1 for universal line ends, whose CR LF ends the record at CR)."""

    def step(self, state: int, byte: int) -> tuple[int, int]:
        """Return the next state and the `Emit` bits for a byte value (0 to 255)."""
        group = self.class_of[byte]
        return self.next[group][state], self.emit[group][state]

    def run(self, state: int, data: bytes) -> int:
        """Return the state after all of `data`."""
        for group in data.translate(self.class_of):
            state = self.next[group][state]
        return state

    def state_map(self, data: bytes) -> bytes:
        """Return the state map of `data`: ``state_map(data)[s] == run(s, data)``. `compose` combines adjacent maps."""
        images = self.identity
        for group in data.translate(self.class_of):
            images = compose(images, self.next[group])
        return images

    @property
    def identity(self) -> bytes:
        """State map of an empty text."""
        return bytes(range(len(self.states)))

    def __str__(self) -> str:
        """Return the table as aligned text: a column a state, a row a group, cells ``NEXT/emit``."""
        rows = [["", *self.states]]
        for name, nexts, emits in zip(self.groups, self.next, self.emit, strict=True):
            rows.append([name, *(f"{self.states[s]}/{_emit_text(e)}" for s, e in zip(nexts, emits, strict=True))])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
        return "\n".join(line.rstrip() for line in lines)


def compose(first: bytes, second: bytes) -> bytes:
    """Return the state map of one text followed by another. Associative, not commutative."""
    return bytes(second[state] for state in first)


def reachable(
    start: StateT, symbols: Iterable[bytes], step: Callable[[StateT, bytes], Transition[StateT]]
) -> dict[StateT, list[Transition[StateT]]]:
    """Return all states that `start` leads to, breadth first, each with its transition for every symbol."""
    symbols = list(symbols)
    table: dict[StateT, list[Transition[StateT]]] = {}
    frontier = [start]
    while frontier:
        table.update((state, [step(state, symbol) for symbol in symbols]) for state in frontier)
        targets = (transition.state for state in frontier for transition in table[state])
        frontier = [target for target in dict.fromkeys(targets) if target not in table]
    return table


def _emit_text(bits: int) -> str:
    return "|".join(flag.name or "" for flag in Emit(bits)) or "-"
