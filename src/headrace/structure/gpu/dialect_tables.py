"""Packs a dialect into the tables that the search kernels read, and names the structs that they write."""

from __future__ import annotations

from enum import IntFlag
from functools import cache

import numpy as np
from numpy.typing import NDArray

from headrace.core.identity_cache import IdentityCache
from headrace.core.layouts.layout import layout
from headrace.structure.automaton import Emit
from headrace.structure.dialect import MAX_SEP_BYTES, Dialect

TILE_START, TILE_SUMMARY = layout("TileStart").dtype, layout("TileSummary").dtype
FIND_TOTALS = layout("FindTotals")
TOTALS = FIND_TOTALS.dtype
_FLAGS = tuple(field.name for field in layout("DialectFlags").fields)
PLAIN_DIALECT, LENIENT_DIALECT = layout("PlainDialect"), layout("LenientDialect")
MAX_STATES = (8, 16)
DFA_TABLES = {count: layout(f"DfaTables<{count}>").dtype for count in (*MAX_STATES, 64)}
"""Layouts of the tables, by their capacity in states."""
_WIDE_STATES, _NO_GROUP = 64, 32
_BREAK = 64  # EMIT_BREAK of emit.hpp
_ENDS_LINE = int(Emit.RECORD | Emit.BLANK)  # what a line end emits that is not inside a field


class FindFlag(IntFlag):
    """Properties of a whole text: FindFlag of tile_start.hpp."""

    REDO = 1
    QUOTES = 2
    STRAY = 4
    HIGH = 8
    OPEN = 16
    UNCLOSED = 32
    COMMENT = 64
    UNFINISHED = 128
    RETURN = 256
    BREAK = 512


class _Step(IntFlag):
    """DfaStep of dfa_tables.hpp."""

    FIELD = 16
    RECORD = 32
    DROP = 48
    START = 64
    RARE = 128


class Plain(IntFlag):
    """Options of a plain dialect: PlainFlag of tile_start.hpp."""

    UNIVERSAL = 1
    SKIP_BLANK = 2
    DOUBLES = 4
    QUOTES = 8
    WATCHES = 16


def plain_dialect(dialect: Dialect, *, quoted: bool, declines: bool = False) -> np.void | None:
    """Return the dialect as PLAIN_DIALECT, for the kernels that read by masks; None if they cannot read it.

    `quoted`: Interpret quotes. Otherwise quotes become watched bytes, like escapes and comments: the search sets `FindFlag.REDO`
    when it finds one. Lenient quotes are read as strict ones, which is right if none is malformed.
    `declines`: the kernel declines tiles that contain watched bytes, so a dialect with quotes may have escapes and comments.
    """
    line_end = dialect.lineterminator or b"\n"
    if len(dialect.sep) != 1 or len(line_end) != 1 or max(dialect.sep + line_end) >= 128:
        return None
    special = [dialect.escape_char, dialect.comment and dialect.comment[:1], None if quoted else dialect.quote_char]
    watched = b"".join(byte for byte in special if byte)
    if dialect.trims_fields or (quoted and (dialect.quote_char is None or (watched and not declines))):
        return None
    if max(watched, default=0) >= 128:
        return None
    used = {*dialect.sep, *line_end, *b"\r\n", *(dialect.quote_char or b""), *watched}
    other = next(byte for byte in range(128) if byte not in used)
    result: NDArray[np.void] = np.zeros(1, PLAIN_DIALECT.dtype)
    result["separator"], result["line_end"], result["other"] = dialect.sep[0], line_end[0], other
    result["quote"] = dialect.quote_char[0] if dialect.quote_char else dialect.sep[0]
    result["watched"] = list((watched * 3 or bytes([other] * 3))[:3]) if len(watched) < 3 else list(watched)
    flags = Plain.UNIVERSAL * (dialect.lineterminator is None) | Plain.SKIP_BLANK * (not dialect.keeps_blank_lines)
    flags |= Plain.DOUBLES * dialect.double_quote | Plain.QUOTES * quoted | Plain.WATCHES * bool(watched)
    result["flags"] = int(flags)
    row: np.void = result[0]
    return row


def dialect_flags(dialect: Dialect) -> bytes:
    """Return the dialect's DialectFlags."""
    return bytes(getattr(dialect, name) for name in _FLAGS)


def dfa_tables(dialect: Dialect) -> np.void:
    """Return the dialect's automaton as DFA_TABLES."""
    automaton = dialect.automaton
    states = len(automaton.states)
    count = next((count for count in MAX_STATES if states <= count), _WIDE_STATES)
    shift = 8 if count == _WIDE_STATES else 0
    result: NDArray[np.void] = np.zeros(1, DFA_TABLES[count])
    table: np.void = result[0]
    # The last row stands for "no byte" and keeps every state.
    table["steps"][_NO_GROUP] = np.arange(count) << shift
    table["quote"] = 256 if dialect.quote_char is None else dialect.quote_char[0]
    # Two ordinary bytes: `spare` represents a lenient quote that opens no field, and `other` represents `spare` itself.
    table["spare"], table["other"] = [byte for byte in range(128) if automaton.class_of[byte] == len(automaton.groups) - 1][:2]
    groups = list(automaton.class_of)
    if automaton.unreal_group is not None:
        groups[table["spare"]] = automaton.unreal_group
    # Unused states step as state 0 does, so their runs converge with its run after one byte.
    known = [state if state < states else 0 for state in range(count)]
    table["group_of"] = [*groups, *[_NO_GROUP] * 16]
    line_groups = {groups[byte] for byte in b"\n\r"} if dialect.lineterminator is None else set()
    for group in range(len(automaton.groups)):
        for place, state in enumerate(known):
            emit, drop = automaton.emit[group][state], automaton.dropped[group][state]
            after = automaton.next[group][state]
            emit |= _BREAK * (group in line_groups and emit & _ENDS_LINE == 0 and after not in automaton.idle)
            table["emits"][group][place] = emit
            table["steps"][group][place] = after << shift | _step(emit) | _Step.DROP * drop
    if dialect.strip:
        table["padding"] = True, dialect.sep[0], (dialect.lineterminator or b"\n")[0], dialect.lineterminator is None
    for name in ("idle", "quoted", "comment", "unfinished", "escaped"):
        table[name] = sum(1 << state for state in getattr(automaton, name))
    return table


def known_dfa_tables(dialect: Dialect) -> np.void:
    """Return `dfa_tables`, which take milliseconds to compute, from a cache."""
    return _known_tables.get_or_create(lambda: dfa_tables(dialect), dialect)


_known_tables: IdentityCache[np.void] = IdentityCache()


def lenient_dialect(dialect: Dialect) -> np.void:
    """Return the dialect's delimiters and quotes as LENIENT_DIALECT, for opening_quotes.cu."""
    result: NDArray[np.void] = np.zeros(1, LENIENT_DIALECT.dtype)
    line_end = dialect.lineterminator or b"\n"
    delimiters = [list(text.ljust(MAX_SEP_BYTES, b"\0")) for text in (dialect.sep, line_end)]
    flags = dialect.lineterminator is None, dialect.trims_fields
    quote, escape = dialect.quote_char or b"\0", dialect.escape_char or b"\0"
    has_escape = dialect.escape_char is not None
    result[0] = (*delimiters, len(dialect.sep), len(line_end), *flags, quote[0], has_escape, escape[0], dialect.double_quote)
    row: np.void = result[0]
    return row


@cache  # there are few distinct emits and up to 16,384 cells
def _step(emit: int) -> int:
    """Return the meaning bits of a step."""
    left_out = emit & (Emit.BLANK | Emit.COMMENT)
    step = _Step.FIELD * bool(emit & Emit.FIELD) | _Step.START * bool(emit & Emit.OPEN)
    step |= _Step.RECORD * bool(emit & Emit.RECORD and not left_out) | _Step.RARE * bool(emit & (Emit.STRAY | _BREAK) or left_out)
    return int(step)
