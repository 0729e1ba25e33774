"""A format as data: a table of states x symbol groups, and what each step emits.

After Stehle and Jacobsen, "ParPaRaw" (PVLDB 13(5), 2020), sections 3.1 and 4.1: bytes that behave alike share a group, a group
is one row of next states, and a piece of text is summarised by the state that each possible entry state ends in. These
summaries compose (associative, not commutative), so pieces can be read in parallel and joined by a scan. The emit table is
ours: it says what a byte *is* when it is read in a state, so that no look-ahead is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from enum import IntFlag
from typing import TypeVar

StateT = TypeVar("StateT", bound=Hashable)


class Emit(IntFlag):
    """What a byte means in the state that reads it; bits combine, 0 is plain content.

    A record or field that ends at offset p has content up to ``p - (k - 1)``, exclusive, where k is the length of the line end
    or separator; what follows starts at ``p + 1``.
    """

    REC = 1
    """A record ends with this byte."""
    FLD = 2
    """A field, but not the record, ends with this byte."""
    OPEN = 4
    """This byte is the first of a record."""
    STRAY = 8
    """Text follows a closing quote, or a strict or lenient dialect has a quote in an unquoted field; faults the byte's record."""
    BLANK = 16
    """A blank line is skipped; with REC, the record that OPEN had begun turns out to be one."""
    COMMENT = 32
    """With REC: the record that ends is a comment line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Automaton:
    """A deterministic automaton over bytes with one output per step; an immutable, hashable value.

    Parameters
    ----------
    states
        Names, at most 64; state 0 is where every input starts.
    class_of
        256 bytes: the symbol group of each byte value.
    groups
        Printable names of the groups; the last one is "other", the bytes that no rule names.
    next, emit
        Per group one row of ``len(states)`` bytes: the state that follows, and the `Emit` bits.
    idle
        States in which no record is open. An input that ends in any other state ends its last record there.
    quoted
        States inside quotes. An input that ends in one of them has an unclosed quote.
    comment
        States inside a comment line. An input that ends in one of them ends with a comment.
    unfinished
        States behind closing quotes in which a separator or line end has begun. An input that ends there has something else
        behind them.
    unreal_group
        Group of a lenient quote that opens no field, in place of its byte's; None where quotes are strict.
    dropped
        Per group one row, 1 where the byte is no part of its field's text: a quote that encloses, the first of two that stand for
        one, an escape, a space at the start that is skipped. A lenient quote that seems to close its field is one, too; if it
        turns out not to, a stray follows, before any other such byte.
    escaped
        States behind an escape. Where the input ends in one of them, the escape stands for itself.
    sep_length, line_end_length
        Bytes that an FLD or a REC closes, itself included (CRLF of a universal line end counts as CR: 1).

    Examples
    --------
    >>> from headrace.structure.dialect import CSV
    >>> csv = CSV.automaton
    >>> csv.states[csv.run(0, b'a,"b')]
    'QUOTED'
    """

    states: tuple[str, ...]
    class_of: bytes
    groups: tuple[str, ...]
    next: tuple[bytes, ...]
    emit: tuple[bytes, ...]
    idle: frozenset[int]
    quoted: frozenset[int]
    comment: frozenset[int]
    unfinished: frozenset[int] = frozenset()
    dropped: tuple[bytes, ...] = ()
    escaped: frozenset[int] = frozenset()
    unreal_group: int | None = None
    sep_length: int = 1
    line_end_length: int = 1

    def step(self, state: int, byte: int) -> tuple[int, int]:
        """Next state and `Emit` bits for one byte value (0..255)."""
        group = self.class_of[byte]
        return self.next[group][state], self.emit[group][state]

    def run(self, state: int, data: bytes) -> int:
        """State after all of `data`."""
        for group in data.translate(self.class_of):
            state = self.next[group][state]
        return state

    def state_map(self, data: bytes) -> bytes:
        """Image of every state: ``state_map(data)[s] == run(s, data)``. Join two pieces with `compose`."""
        images = self.identity
        for group in data.translate(self.class_of):
            images = compose(images, self.next[group])
        return images

    @property
    def identity(self) -> bytes:
        """State map of no bytes at all."""
        return bytes(range(len(self.states)))

    def __str__(self) -> str:
        """The table as aligned text: a column per state, a row per group, cells ``NEXT/emit``."""
        rows = [["", *self.states]]
        for name, nexts, emits in zip(self.groups, self.next, self.emit, strict=True):
            rows.append([name, *(f"{self.states[s]}/{_emit_text(e)}" for s, e in zip(nexts, emits, strict=True))])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
        return "\n".join(line.rstrip() for line in lines)


def compose(first: bytes, second: bytes) -> bytes:
    """State map of one text followed by another; associative, not commutative."""
    return bytes(second[state] for state in first)


def reachable(
    start: StateT, symbols: Iterable[bytes], step: Callable[[StateT, bytes], tuple[StateT, int]]
) -> dict[StateT, list[tuple[StateT, int]]]:
    """All states that `start` leads to, breadth first, each with its (next state, emit) per symbol."""
    symbols = list(symbols)
    table: dict[StateT, list[tuple[StateT, int]]] = {}
    frontier = [start]
    while frontier:
        table.update((state, [step(state, symbol) for symbol in symbols]) for state in frontier)
        found = (target for state in frontier for target, _ in table[state])
        frontier = [target for target in dict.fromkeys(found) if target not in table]
    return table


def _emit_text(bits: int) -> str:
    return "|".join(flag.name or "" for flag in Emit(bits)) or "-"
