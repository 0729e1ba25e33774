"""What the search for structure on a GPU is told of a dialect, and what it leaves.

Types are those of structure/tile_entry.hpp, tally.hpp, step_tables.hpp and string_sums.cuh, byte for byte.
"""

from __future__ import annotations

from enum import IntFlag

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
STRING_COLUMNS = np.dtype([("column", "u8"), ("strings", "u4"), ("columns", "u4"), ("stride", "u4"), ("padding", "u4")])
MOST_STATES = (8, 16)
STEP_TABLES = {
    count: np.dtype(
        [
            ("steps", "u1", (257, count)),
            ("emits", "u1", (256, count)),
            ("idle", "u8"),
            ("quoted", "u8"),
            ("comment", "u8"),
            ("unfinished", "u8"),
            ("quote", "u4"),
            ("reserved", "u4"),
        ]
    )
    for count in MOST_STATES
}
"""By the number of states that they have room for."""


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


def plain_dialect(dialect: Dialect, *, quoted: bool) -> np.void | None:
    """What masks need to read this dialect, as PLAIN_DIALECT; None if they cannot.

    Parameters
    ----------
    dialect
        Any.
    quoted
        Whether quotes mean something. Otherwise they, and whatever else masks cannot read, must not be in the text: the search
        says `Found.REDO` where it meets one.
    """
    line_end = dialect.line_end or b"\n"
    if len(dialect.sep) != 1 or len(line_end) != 1 or max(dialect.sep + line_end) >= 128:
        return None
    special = [dialect.escape, dialect.comment and dialect.comment[:1], None if quoted else dialect.quote]
    watched = b"".join(byte for byte in special if byte)
    if dialect.skip_initial_space or (quoted and (dialect.quote is None or watched or dialect.lenient)):
        return None
    if max(watched, default=0) >= 128:
        return None
    used = {*dialect.sep, *line_end, *b"\r\n", *(dialect.quote or b""), *watched}
    other = next(byte for byte in range(128) if byte not in used)
    made: NDArray[np.void] = np.zeros(1, PLAIN_DIALECT)
    made["separator"], made["line_end"], made["other"] = dialect.sep[0], line_end[0], other
    made["quote"] = dialect.quote[0] if dialect.quote else dialect.sep[0]
    made["watched"] = list((watched * 3 or bytes([other] * 3))[:3]) if len(watched) < 3 else list(watched)
    flags = Plain.UNIVERSAL * (dialect.line_end is None) | Plain.SKIP_BLANK * dialect.skip_blank_lines
    flags |= Plain.DOUBLES * dialect.double_quote | Plain.QUOTES * quoted | Plain.WATCHES * bool(watched)
    made["flags"] = int(flags)
    row: np.void = made[0]
    return row


def step_tables(dialect: Dialect) -> np.void | None:
    """The dialect's automaton as STEP_TABLES; None if it has more states than those hold, or quotes are lenient."""
    automaton = dialect.automaton
    states = len(automaton.states)
    count = next((count for count in MOST_STATES if states <= count), None)
    if count is None or dialect.lenient:
        return None
    made: NDArray[np.void] = np.zeros(1, STEP_TABLES[count])
    made[0]["steps"][256] = range(count)
    # States that are none step as the first does, so that they are not told apart from it for long.
    known = [state if state < states else 0 for state in range(count)]
    for byte, group in enumerate(automaton.class_of):
        emits = [automaton.emit[group][state] for state in known]
        made[0]["emits"][byte] = emits
        made[0]["steps"][byte] = [automaton.next[group][state] | _step(emit) for state, emit in zip(known, emits, strict=True)]
    for name in ("idle", "quoted", "comment", "unfinished"):
        made[name] = sum(1 << state for state in getattr(automaton, name))
    made["quote"] = 256 if dialect.quote is None else dialect.quote[0]
    row: np.void = made[0]
    return row


def _step(emit: int) -> int:
    left_out = emit & (Emit.BLANK | Emit.COMMENT)
    step = _Step.FIELD * bool(emit & Emit.FLD) | _Step.START * bool(emit & Emit.OPEN)
    step |= _Step.RECORD * bool(emit & Emit.REC and not left_out) | _Step.RARE * bool(emit & Emit.STRAY or left_out)
    return int(step)
