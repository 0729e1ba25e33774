"""Runs the kernels of the structure search, and computes the expected output of each."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from headrace import Dialect
from headrace.structure.automaton import Emit
from headrace.structure.gpu.dialect_tables import TILE_START, FindFlag
from headrace.testing import fibers
from headrace.testing.oracle import split
from headrace.testing.strategies import texts

ORDERS = [("forward", 0), ("reverse", 0), ("random", 1), ("random", 2)]


Result = tuple[list[tuple[int, ...]], tuple[int, ...]]
"""Entries (record, record_begin, field_begin, column, inside quotes, open), and totals (records, fields, blank lines, comments,
flags)."""


def aligned(data: bytes, skew: int) -> NDArray[np.uint8]:
    """Return the text in memory, `skew` bytes after a boundary of 16, with nothing readable before or after it."""
    memory = np.zeros(len(data) + 32, np.uint8)
    begin = -memory.ctypes.data % 16 + skew
    memory[begin : begin + len(data)] = np.frombuffer(data, np.uint8)
    return memory[begin : begin + len(data)]


def expected_entries(data: bytes, dialect: Dialect, tile: int, skew: int) -> list[tuple[int, ...]]:
    """(record, record_begin, field_begin, column, inside quotes, open) where each tile begins, and at the end."""
    automaton = dialect.automaton
    begins = [0, *range(tile - skew, len(data), tile), len(data)] if data else [0]
    state = records = column = record_begin = field_begin = 0
    entries = []
    for at in range(len(data) + 1):
        if at in begins:
            idle = state in automaton.idle
            places = (at, at, 0) if idle else (record_begin, field_begin, column)
            entries += [(records, *places, state in automaton.quoted, not idle)] * (begins.count(at) if at == len(data) else 1)
        if at == len(data):
            return entries
        state, emit = automaton.step(state, data[at])
        if not emit:
            continue
        if emit & Emit.OPEN:
            record_begin = field_begin = at
        if emit & Emit.FIELD:
            column, field_begin = column + 1, at + 1
        if emit & Emit.RECORD:
            records += not emit & (Emit.BLANK | Emit.COMMENT)
            column = 0
    raise AssertionError


def expected_totals(data: bytes, dialect: Dialect) -> tuple[int, ...]:
    """Return (records, fields, blank lines, comments, flags except that of carriage returns, which only masks report)."""
    oracle = split(data, dialect)
    records = [record for record in oracle.records if not record.comment]
    flags = FindFlag(0)
    if dialect.quote_char is not None and dialect.quote_char in data:
        flags |= FindFlag.QUOTES
    if any(record.strays for record in oracle.records):
        flags |= FindFlag.STRAY
    if any(byte >= 128 for byte in data):
        flags |= FindFlag.HIGH
    if any(record.unclosed for record in oracle.records):
        flags |= FindFlag.UNCLOSED
    if expected_entries(data, dialect, 1 << 30, 0)[-1][5]:
        flags |= FindFlag.COMMENT if oracle.records[-1].comment else FindFlag.OPEN
    if dialect.automaton.run(0, data) in dialect.automaton.unfinished:
        flags |= FindFlag.UNFINISHED
    fields = sum(len(record.fields) for record in records)
    return len(records), fields, oracle.blank_lines, len(oracle.records) - len(records), int(flags)


@dataclass(frozen=True)
class How:
    """Shape of a search: threads and rows, place of the text, order of the threads."""

    shape: tuple[int, int]
    skew: int
    order: tuple[str, int]

    @property
    def tile(self) -> int:
        return self.shape[0] * self.shape[1] * 16


SCAN_THREADS = 32


def tile_count(data: bytes, how: How) -> int:
    return -(-(len(data) + how.skew) // how.tile) if data else 0


def scanned(
    data: bytes,
    how: How,
    tallies: NDArray[Any],
    totals: NDArray[Any],
    *,
    quoted: bool,
    states: object,
    marks: NDArray[np.uint32] | None = None,
) -> Result:
    """Return entries and totals from the tiles' sums; `marks` of tiles whose beginning was guessed wrongly are set."""
    tiles = tile_count(data, how)
    blocks = max(1, -(-tiles // SCAN_THREADS))
    entries, memory = np.zeros(tiles + 1, TILE_START), np.zeros(10 * (blocks + 1), np.uint64)
    args = [tallies, int(quoted), states, len(data), how.tile, how.skew, entries, totals, None, marks, memory]
    program = fibers.program("structure/gpu/scan_summaries.cu", {"HR_THREADS": SCAN_THREADS})
    order, seed = how.order
    checks = fibers.Checks(unwritten=(entries,))
    program.launch("scan_tiles", blocks, SCAN_THREADS, args, order=order, seed=seed, checks=checks)
    total = totals[0]
    assert total["bytes"] == len(data)
    return (
        [tuple(entry.item()[:6]) for entry in entries],
        tuple(int(total[name]) for name in ("records", "fields", "blank_lines", "comments", "flags")),
    )


def check_returns(data: bytes, dialect: Dialect, flags: int) -> None:
    """If line ends are universal, masks report carriage returns, and take some bytes outside ASCII for such."""
    if not flags & FindFlag.REDO:
        assert bool(flags & FindFlag.RETURN) == (dialect.lineterminator is None and any(byte & 0x7F == 13 for byte in data))


def without_breaks(data: bytes, dialect: Dialect, totals: tuple[int, ...]) -> tuple[int, ...]:
    """Check that a search reports texts whose lines are not records, and none without quotes and escapes.

    `totals`: those of `Result`, which are returned without that flag. It does not matter if masks have misread the text.
    """
    records, _, blank_lines, comments, flags = totals
    ended = records + blank_lines + comments - bool(flags & (FindFlag.OPEN | FindFlag.COMMENT))
    special = (dialect.quote_char or b"") + (dialect.escape_char or b"")
    if not set(special) & set(data):
        assert not flags & FindFlag.BREAK
    elif dialect.lineterminator is None and not flags & FindFlag.STRAY and len(re.findall(rb"\r\n|\r|\n", data)) != ended:
        assert flags & FindFlag.BREAK
    return (*totals[:-1], flags & ~FindFlag.BREAK)


def without(data: bytes, dialect: Dialect) -> bytes:
    """Return the text without bytes that only automata, or only quotes, can read."""
    return bytes(byte for byte in data if byte not in (dialect.quote_char or b""))


@st.composite
def plain_cases(draw: st.DrawFn) -> tuple[Dialect, bytes]:
    dialect = Dialect(
        sep=draw(st.sampled_from([",", "\t", "|", "\0"])),
        quote_char=draw(st.sampled_from(['"', "'", None])),
        double_quote=draw(st.booleans()),
        lineterminator=draw(st.sampled_from([None, None, "\n", "\r", ";"])),
        skip_blank_lines=draw(st.booleans()),
    )
    parts = draw(st.lists(texts(dialect, max_tokens=300), min_size=1, max_size=4))
    return dialect, b"".join(parts) * draw(st.sampled_from([1, 1, 2, 5]))


@lru_cache(maxsize=1)  # texts without quotes are searched twice
def expected(data: bytes, dialect: Dialect, how: How) -> Result:
    return expected_entries(data, dialect, how.tile, how.skew), expected_totals(data, dialect)


def has_misplaced_quotes(data: bytes, dialect: Dialect) -> bool:
    """Return whether a quote stands in an unquoted field, or text after a closing quote: parity may misread such a text."""
    strict = replace(dialect, strict_quotes=dialect.quote_char is not None)
    return any(record.strays for record in split(data, strict).records)
