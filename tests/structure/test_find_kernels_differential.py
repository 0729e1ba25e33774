"""The search for structure on a GPU under the fiber harness, against the automaton read byte by byte and the sequential oracle."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from headrace import Dialect
from headrace.structure.automaton import Emit
from headrace.structure.find_gpu import ENTRY, TOTALS, Found, plain_dialect
from headrace.testing import fibers
from headrace.testing.oracle import split
from headrace.testing.strategies import texts

SHAPES = [(32, 1), (64, 1), (32, 2)]
ORDERS = [("forward", 0), ("reverse", 0), ("random", 1), ("random", 2)]


def aligned(data: bytes, skew: int) -> NDArray[np.uint8]:
    """The text in memory, `skew` bytes behind a boundary of 16, and nothing readable before and behind."""
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
        if emit & Emit.OPEN:
            record_begin = field_begin = at
        if emit & Emit.FLD:
            column, field_begin = column + 1, at + 1
        if emit & Emit.REC:
            records += not emit & (Emit.BLANK | Emit.COMMENT)
            column = 0
    raise AssertionError


def expected_totals(data: bytes, dialect: Dialect) -> tuple[int, ...]:
    """(records, fields, blank lines, comments, flags)."""
    oracle = split(data, dialect)
    records = [record for record in oracle.records if not record.comment]
    flags = Found(0)
    if dialect.quote is not None and dialect.quote in data:
        flags |= Found.QUOTES
    if any(record.strays for record in oracle.records):
        flags |= Found.STRAY
    if any(byte >= 128 for byte in data):
        flags |= Found.HIGH
    if any(record.unclosed for record in oracle.records):
        flags |= Found.UNCLOSED
    end = expected_entries(data, dialect, 1 << 30, 0)[-1]
    if end[5] and not oracle.records[-1].comment:
        flags |= Found.OPEN
    fields = sum(len(record.fields) for record in records)
    return len(records), fields, oracle.blank_lines, len(oracle.records) - len(records), int(flags)


def found(
    data: bytes, dialect: Dialect, *, quoted: bool, shape: tuple[int, int] = (32, 1), skew: int = 0, how: tuple[str, int] = ("forward", 0)
) -> tuple[list[tuple[int, ...]], tuple[int, ...]]:
    threads, rows = shape
    tile = threads * rows * 16
    plain = plain_dialect(dialect, quoted=quoted)
    assert plain is not None
    program = fibers.program("structure/find_plain.cu", {"HR_QUOTED": int(quoted), "HR_THREADS": threads, "HR_ROWS": rows, "HR_UNROLL": 1, "HR_BLOCKS": 1})
    text = aligned(data, skew)
    tiles = -(-(len(data) + skew) // tile) if data else 0
    entries, totals = np.zeros(tiles + 1, ENTRY), np.zeros(1, TOTALS)
    memory = np.zeros(9 * (tiles + 1), np.uint64)
    args = [text, len(data), plain, entries, totals, None, memory]
    program.launch("find_plain", max(tiles, 1), threads, args, order=how[0], seed=how[1], checks=fibers.Checks(unwritten=(entries,)))
    total = totals[0]
    return (
        [tuple(entry.item()[:6]) for entry in entries],
        tuple(int(total[name]) for name in ("records", "fields", "blank_lines", "comments", "flags")),
    )


def without(data: bytes, dialect: Dialect) -> bytes:
    """The text without what only automata, or only quotes, can read."""
    return bytes(byte for byte in data if byte not in (dialect.quote or b""))


@st.composite
def plain_cases(draw: st.DrawFn) -> tuple[Dialect, bytes]:
    dialect = Dialect(
        sep=draw(st.sampled_from([",", "\t", "|", "\0"])),
        quote=draw(st.sampled_from(['"', "'", None])),
        double_quote=draw(st.booleans()),
        line_end=draw(st.sampled_from([None, None, "\n", "\r", ";"])),
        skip_blank_lines=draw(st.booleans()),
    )
    parts = draw(st.lists(texts(dialect, max_tokens=300), min_size=1, max_size=4))
    return dialect, b"".join(parts) * draw(st.sampled_from([1, 1, 2, 5]))


def check(data: bytes, dialect: Dialect, *, quoted: bool, shape: tuple[int, int], skew: int, how: tuple[str, int]) -> None:
    entries, totals = found(data, dialect, quoted=quoted, shape=shape, skew=skew, how=how)
    assert entries == expected_entries(data, dialect, shape[0] * shape[1] * 16, skew)
    assert totals == expected_totals(data, dialect)


@given(plain_cases(), st.sampled_from(SHAPES), st.integers(0, 15), st.sampled_from(ORDERS))
@settings(max_examples=400, deadline=None, derandomize=True)
def test_without_quotes(case: tuple[Dialect, bytes], shape: tuple[int, int], skew: int, how: tuple[str, int]) -> None:
    dialect, data = case
    check(without(data, dialect), dialect, quoted=False, shape=shape, skew=skew, how=how)


@given(plain_cases(), st.sampled_from(SHAPES), st.integers(0, 15), st.sampled_from(ORDERS))
@settings(max_examples=600, deadline=None, derandomize=True)
def test_quotes(case: tuple[Dialect, bytes], shape: tuple[int, int], skew: int, how: tuple[str, int]) -> None:
    dialect, data = case
    if dialect.quote is not None:
        check(data, dialect, quoted=True, shape=shape, skew=skew, how=how)
        entries, totals = found(without(data, dialect), dialect, quoted=True, shape=shape, skew=skew, how=how)
        assert (entries, totals) == found(without(data, dialect), dialect, quoted=False, shape=shape, skew=skew)
