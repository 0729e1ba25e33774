"""The search for structure on a GPU under the fiber harness, against the automaton read byte by byte and the sequential oracle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from headrace import Dialect
from headrace.structure.automaton import Emit
from headrace.structure.find_gpu import ENTRY, STRING_COLUMNS, TOTALS, Found, plain_dialect, step_tables
from headrace.testing import fibers
from headrace.testing.oracle import field_text, split
from headrace.testing.strategies import dialects, texts, well_formed_tables

SHAPES = [(32, 1), (64, 1), (32, 2)]
CHUNKS = [(32, 2), (64, 2)]
ORDERS = [("forward", 0), ("reverse", 0), ("random", 1), ("random", 2)]
Result = tuple[list[tuple[int, ...]], tuple[int, ...]]
"""Entries (record, record_begin, field_begin, column, inside quotes, open), and totals (records, fields, blank lines, comments,
flags)."""


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


@dataclass(frozen=True)
class How:
    """How a search is run: threads and rows, place of the text, order of the threads."""

    shape: tuple[int, int]
    skew: int
    order: tuple[str, int]

    @property
    def tile(self) -> int:
        return self.shape[0] * self.shape[1] * 16


hows = st.builds(How, st.sampled_from(SHAPES), st.integers(0, 15), st.sampled_from(ORDERS))
hows_of_steps = st.builds(How, st.sampled_from(CHUNKS), st.integers(0, 15), st.sampled_from(ORDERS))


def found(data: bytes, file: str, defines: dict[str, int], dialect: object, how: How, more: Sequence[object] = ()) -> Result:
    """What a kernel says: entries as `expected_entries` has them, but with states, and totals."""
    threads, rows = how.shape
    shape = {"HR_THREADS": threads, "HR_ROWS": rows, "HR_UNROLL": 1, "HR_BLOCKS": 1}
    program = fibers.program(f"structure/{file}.cu", defines | shape)
    text = aligned(data, how.skew)
    tiles = -(-(len(data) + how.skew) // how.tile) if data else 0
    entries, totals = np.zeros(tiles + 1, ENTRY), np.zeros(1, TOTALS)
    memory = np.zeros(10 * (tiles + 1), np.uint64)
    args = [text, len(data), dialect, entries, totals, None, memory, *more[:2]]
    order, seed = how.order
    reachable = tuple(array for array in more if isinstance(array, np.ndarray))
    checks = fibers.Checks(unwritten=(entries,), reachable=reachable)
    program.launch(file, max(tiles, 1), threads, args, order=order, seed=seed, checks=checks)
    total = totals[0]
    assert total["bytes"] == len(data)
    return (
        [tuple(entry.item()[:6]) for entry in entries],
        tuple(int(total[name]) for name in ("records", "fields", "blank_lines", "comments", "flags")),
    )


def by_masks(data: bytes, dialect: Dialect, how: How, *, quoted: bool) -> Result:
    plain = plain_dialect(dialect, quoted=quoted)
    assert plain is not None
    none = np.zeros((), STRING_COLUMNS)[()]
    return found(data, "find_plain", {"HR_QUOTED": int(quoted), "HR_STRINGS": 0}, plain, how, (none, None))


def by_steps(data: bytes, dialect: Dialect, how: How) -> Result:
    tables = step_tables(dialect)
    assert tables is not None
    entries, totals = found(data, "find_steps", {}, np.array([tables]), how)
    return [(*entry[:4], entry[4] in dialect.automaton.quoted, entry[5]) for entry in entries], totals


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


def expected(data: bytes, dialect: Dialect, how: How) -> Result:
    return expected_entries(data, dialect, how.tile, how.skew), expected_totals(data, dialect)


@given(plain_cases(), hows)
@settings(max_examples=400, deadline=None, derandomize=True)
def test_without_quotes(case: tuple[Dialect, bytes], how: How) -> None:
    dialect, data = case
    data = without(data, dialect)
    assert by_masks(data, dialect, how, quoted=False) == expected(data, dialect, how)


@given(plain_cases(), hows)
@settings(max_examples=600, deadline=None, derandomize=True)
def test_quotes(case: tuple[Dialect, bytes], how: How) -> None:
    dialect, data = case
    if dialect.quote is not None:
        assert by_masks(data, dialect, how, quoted=True) == expected(data, dialect, how)
        data = without(data, dialect)
        assert by_masks(data, dialect, how, quoted=True) == by_masks(data, dialect, how, quoted=False)


@st.composite
def cases_of_steps(draw: st.DrawFn) -> tuple[Dialect, bytes]:
    dialect = draw(dialects().filter(lambda dialect: step_tables(dialect) is not None))
    parts = draw(st.lists(texts(dialect, max_tokens=300), min_size=1, max_size=4))
    return dialect, b"".join(parts) * draw(st.sampled_from([1, 1, 2, 5]))


@given(cases_of_steps() | plain_cases(), hows_of_steps)
@settings(max_examples=500, deadline=None, derandomize=True)
def test_any_dialect_of_eight_states(case: tuple[Dialect, bytes], how: How) -> None:
    dialect, data = case
    assert by_steps(data, dialect, how) == expected(data, dialect, how)


def kept(data: bytes, begin: int, end: int, dialect: Dialect) -> list[int]:
    """Where the bytes of a field's text stand: all but the quotes that enclose it, of doubled ones the second."""
    quote = (dialect.quote or b" ")[0]
    if dialect.quote is None or data[begin:end][:1] != dialect.quote:
        return list(range(begin, end))
    places, quotes = [], 0
    for at in range(begin + 1, end):
        quotes += data[at] == quote
        if data[at] != quote or (quotes % 2 == 0 and data[at - 1] == quote):
            places.append(at)
    return places


def expected_sums(data: bytes, dialect: Dialect, how: How, columns: list[int]) -> list[list[int]]:
    tiles = -(-(len(data) + how.skew) // how.tile)
    sums = np.zeros((len(columns), tiles + 1), np.int64)
    for record in split(data, dialect).records:
        for column, (begin, end) in enumerate(record.fields):
            places = kept(data, begin, end, dialect)
            assert bytes(data[at] for at in places) == field_text(data, begin, end, dialect)[0]
            if column in columns:
                for at in places:
                    sums[columns.index(column), (at + how.skew) // how.tile] += 1
    return sums.tolist()


def sums_by_masks(data: bytes, dialect: Dialect, how: How, columns: list[int], count: int, *, quoted: bool) -> list[list[int]]:
    tiles = -(-(len(data) + how.skew) // how.tile)
    sums = np.full((len(columns), tiles + 1), 7, np.uint64)
    numbers = np.array(columns, np.uint32)
    strings = np.zeros((), STRING_COLUMNS)
    strings["column"], strings["strings"] = numbers.ctypes.data, len(columns)
    strings["columns"], strings["stride"] = count, tiles + 1
    plain = plain_dialect(dialect, quoted=quoted)
    defines = {"HR_QUOTED": int(quoted), "HR_STRINGS": 1}
    result = found(data, "find_plain", defines, plain, how, (strings[()], sums, numbers))
    assert result == expected(data, dialect, how)
    return sums.tolist()


@given(plain_cases(), hows, st.data())
@settings(max_examples=500, deadline=None, derandomize=True)
def test_bytes_of_strings(case: tuple[Dialect, bytes], how: How, draw: st.DataObject) -> None:
    dialect, data = case
    if draw.draw(st.booleans()):
        data = draw.draw(well_formed_tables(dialect, max_rows=30)).data * draw.draw(st.integers(1, 6))
    quoted = dialect.quote is not None and draw.draw(st.booleans())
    data = data if quoted else without(data, dialect)
    oracle = split(data, dialect)
    assume(data and not any(record.strays for record in oracle.records))
    widths = [len(record.fields) for record in oracle.records] or [1]
    count = draw.draw(st.sampled_from(widths))
    columns = sorted(draw.draw(st.sets(st.integers(0, count - 1), min_size=1, max_size=4)))
    assert sums_by_masks(data, dialect, how, columns, count, quoted=quoted) == expected_sums(data, dialect, how, columns)
