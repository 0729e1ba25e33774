"""What the search for structure on a GPU is told of a dialect, and what it leaves.

Types are those of structure/gpu/tile_start.hpp, tile_summary.hpp, dfa_tables.hpp and lenient_quotes.cu, byte for byte.
"""

from __future__ import annotations

from enum import IntFlag
from functools import cache

import numpy as np
from numpy.typing import NDArray

from headrace.structure.automaton import Emit
from headrace.structure.dialect import Dialect

ENTRY = np.dtype(
    [
        ("record", "u8"),
        ("record_begin", "u8"),
        ("field_begin", "u8"),
        ("column", "u4"),
        ("state", "u1"),
        ("open", "u1"),
        ("reserved", "u1", 2),
    ]
)
TOTALS = np.dtype(
    [
        ("records", "u8"),
        ("fields", "u8"),
        ("blank_lines", "u8"),
        ("comments", "u8"),
        ("bytes", "u8"),
        ("flags", "u4"),
        ("reserved", "u4"),
    ]
)
PLAIN_DIALECT = np.dtype(
    [("separator", "u1"), ("line_end", "u1"), ("quote", "u1"), ("flags", "u1"), ("watched", "u1", 3), ("other", "u1")]
)
TALLY = np.dtype(
    [
        ("record_begin", "u8"),
        ("field_begin", "u8"),
        ("column", "u4"),
        ("records", "u4"),
        ("separators", "u4"),
        ("blanks", "u4"),
        ("comments", "u4"),
        ("flags", "u4"),
    ]
)
LENIENT_DIALECT = np.dtype(
    [
        ("separator", "S8"),
        ("line_end", "S8"),
        ("separator_length", "u1"),
        ("line_end_length", "u1"),
        ("universal", "?"),
        ("skips_spaces", "?"),
        ("quote", "u1"),
        ("has_escape", "?"),
        ("escape", "u1"),
        ("doubles", "?"),
    ]
)
MOST_STATES = (8, 16)
_OF_STATES = [
    ("idle", "u8"),
    ("quoted", "u8"),
    ("comment", "u8"),
    ("unfinished", "u8"),
    ("escaped", "u8"),
    ("quote", "u2"),
    ("spare", "u1"),
    ("other", "u1"),
    ("reserved", "u4"),
]
STEP_TABLES = {
    count: np.dtype(
        [
            ("steps", "u1", (257, count)),
            ("reads", "u1", (257, count)),
            ("emits", "u1", (256, count)),
            *_OF_STATES,
        ]
    )
    for count in MOST_STATES
}
"""By the number of states that they have room for."""
_WIDE_STATES, _NO_GROUP = 64, 32
WIDE_TABLES = np.dtype(
    [
        ("group_of", "u1", 264),
        ("steps", "u2", (33, _WIDE_STATES)),
        ("reads", "u2", (33, _WIDE_STATES)),
        ("emits", "u1", (33, _WIDE_STATES)),
        *_OF_STATES,
    ]
)
"""The same of 64 states, by groups of bytes."""


class Found(IntFlag):
    """What was met anywhere in a text: FindFlag."""

    REDO = 1
    QUOTES = 2
    STRAY = 4
    HIGH = 8
    OPEN = 16
    UNCLOSED = 32
    COMMENT = 64
    UNFINISHED = 128
    RETURN = 256


class _Step(IntFlag):
    FIELD = 16
    RECORD = 32
    START = 64
    RARE = 128


class Plain(IntFlag):
    """What else there is to know of a plain dialect: PlainFlag."""

    UNIVERSAL = 1
    SKIP_BLANK = 2
    DOUBLES = 4
    QUOTES = 8
    WATCHES = 16


def plain_dialect(dialect: Dialect, *, quoted: bool, declines: bool = False) -> np.void | None:
    """What masks need to read this dialect, as PLAIN_DIALECT; None if they cannot.

    Parameters
    ----------
    dialect
        Any.
    quoted
        Whether quotes mean something. Otherwise they, and whatever else masks cannot read, must not be in the text: the search
        says `Found.REDO` where it meets one. Lenient quotes are read as strict ones, which is right where none is malformed.
    declines
        Whether who reads leaves what has other bytes that mean something (an escape, a comment) to others, quotes or not.
    """
    line_end = dialect.lineterminator or b"\n"
    if len(dialect.sep) != 1 or len(line_end) != 1 or max(dialect.sep + line_end) >= 128:
        return None
    special = [dialect.escape_char, dialect.comment and dialect.comment[:1], None if quoted else dialect.quote_char]
    watched = b"".join(byte for byte in special if byte)
    if dialect.skip_initial_space or (quoted and (dialect.quote_char is None or (watched and not declines))):
        return None
    if max(watched, default=0) >= 128:
        return None
    used = {*dialect.sep, *line_end, *b"\r\n", *(dialect.quote_char or b""), *watched}
    other = next(byte for byte in range(128) if byte not in used)
    made: NDArray[np.void] = np.zeros(1, PLAIN_DIALECT)
    made["separator"], made["line_end"], made["other"] = dialect.sep[0], line_end[0], other
    made["quote"] = dialect.quote_char[0] if dialect.quote_char else dialect.sep[0]
    made["watched"] = list((watched * 3 or bytes([other] * 3))[:3]) if len(watched) < 3 else list(watched)
    flags = Plain.UNIVERSAL * (dialect.lineterminator is None) | Plain.SKIP_BLANK * dialect.skip_blank_lines
    flags |= Plain.DOUBLES * dialect.double_quote | Plain.QUOTES * quoted | Plain.WATCHES * bool(watched)
    made["flags"] = int(flags)
    row: np.void = made[0]
    return row


def step_tables(dialect: Dialect) -> np.void:
    """The dialect's automaton as STEP_TABLES, or as WIDE_TABLES if it has more states than those hold."""
    automaton = dialect.automaton
    states = len(automaton.states)
    count = next((count for count in MOST_STATES if states <= count), _WIDE_STATES)
    is_wide = count == _WIDE_STATES
    made: NDArray[np.void] = np.zeros(1, WIDE_TABLES if is_wide else STEP_TABLES[count])
    table: np.void = made[0]
    # No byte changes nothing.
    stays = np.arange(count) << 8 * is_wide
    table["steps"][_NO_GROUP if is_wide else 256] = table["reads"][_NO_GROUP if is_wide else 256] = stays
    table["quote"] = 256 if dialect.quote_char is None else dialect.quote_char[0]
    # Two bytes that mean nothing: `spare` is read as a lenient quote that opens no field, and `other` in its own place.
    table["spare"], table["other"] = [byte for byte in range(128) if automaton.class_of[byte] == len(automaton.groups) - 1][:2]
    groups = list(automaton.class_of)
    if automaton.unreal_group is not None:
        groups[table["spare"]] = automaton.unreal_group
    # States that are none step as the first does, so that they are not told apart from it for long.
    known = [state if state < states else 0 for state in range(count)]
    if is_wide:
        table["group_of"] = [*groups, *[_NO_GROUP] * 8]
    for row, group in enumerate(range(len(automaton.groups)) if is_wide else groups):
        for place, state in enumerate(known):
            emit, drop = automaton.emit[group][state], automaton.dropped[group][state]
            after = automaton.next[group][state] << 8 * is_wide
            table["emits"][row][place] = emit
            table["steps"][row][place] = after | _step(emit)
            table["reads"][row][place] = after | _read(emit, drop)
    for name in ("idle", "quoted", "comment", "unfinished", "escaped"):
        table[name] = sum(1 << state for state in getattr(automaton, name))
    return table


def lenient_dialect(dialect: Dialect) -> np.void:
    """How lenient quotes are told apart, as LENIENT_DIALECT."""
    made: NDArray[np.void] = np.zeros(1, LENIENT_DIALECT)
    line_end = dialect.lineterminator or b"\n"
    lengths = (dialect.sep, line_end, len(dialect.sep), len(line_end), dialect.lineterminator is None, dialect.skip_initial_space)
    escape = dialect.escape_char or b"\0"
    made[0] = (*lengths, (dialect.quote_char or b"\0")[0], dialect.escape_char is not None, escape[0], dialect.double_quote)
    row: np.void = made[0]
    return row


@cache  # emits are few; cells of tables are 16,384
def _step(emit: int) -> int:
    left_out = emit & (Emit.BLANK | Emit.COMMENT)
    step = _Step.FIELD * bool(emit & Emit.FLD) | _Step.START * bool(emit & Emit.OPEN)
    step |= _Step.RECORD * bool(emit & Emit.REC and not left_out) | _Step.RARE * bool(emit & Emit.STRAY or left_out)
    return int(step)


@cache
def _read(emit: int, drop: int) -> int:
    """A byte of `reads`, less the state: Read of structure/gpu/dfa_tables.hpp."""
    dropped = (_Step.FIELD | _Step.RECORD) * drop
    return int(_step(emit) & ~_Step.RARE | dropped | _Step.RARE * bool(emit & Emit.STRAY))
