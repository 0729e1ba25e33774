"""State maps of byte ranges against a serial walk of the automaton: any dialect, cut, tile size and instruction set."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace import Context, Dialect, _native
from headrace.structure import RangeStart, StateMap, range_starts, summarize
from headrace.structure.automaton import Emit
from headrace.testing.oracle import opens_field, split
from headrace.testing.strategies import dialects, lenient_dialects, texts
from tests.examples import examples

pytestmark = pytest.mark.isas

ISAS = _native.isas()
TILES = [1, 3, 64, 65, 4096]


def serial(data: bytes, dialect: Dialect, begin: int, end: int, state: int) -> tuple[int, int]:
    """State and number of data records after bytes `begin` to `end`, read one by one from `state`."""
    automaton = dialect.automaton
    records = 0
    for at in range(begin, end):
        group = automaton.class_of[data[at]]
        if automaton.unreal_group is not None and data[at : at + 1] == dialect.quote_char and not opens_field(data, at, dialect):
            group = automaton.unreal_group
        emit = automaton.emit[group][state]
        records += bool(emit & Emit.RECORD) and not emit & (Emit.BLANK | Emit.COMMENT)
        state = automaton.next[group][state]
    return state, records


def line_ends(data: bytes, end: int) -> int:
    """Line ends before byte `end`; one of two bytes counts with its second."""
    return sum(data[at] == 10 or (data[at] == 13 and data[at + 1 : at + 2] != b"\n") for at in range(end))


@st.composite
def cases(draw: st.DrawFn, lenient: bool) -> tuple[Dialect, bytes, list[int]]:
    """A dialect, a text, and the borders of its ranges, some of which are empty or one byte long."""
    dialect = draw(lenient_dialects() if lenient else dialects())
    data = draw(texts(dialect, max_tokens=draw(st.sampled_from([10, 40, 200]))))
    every_byte = draw(st.booleans()) and len(data) < 60
    cuts = list(range(len(data) + 1)) if every_byte else draw(st.lists(st.integers(0, len(data)), max_size=8))
    return dialect, data, sorted([0, *cuts, len(data)])


def check(case: tuple[Dialect, bytes, list[int]], tile: int, threads: int, isa: str) -> None:
    dialect, data, borders = case
    context = Context(threads=threads, isa=isa)
    maps = [summarize(data, dialect, range(*ends), context=context, tile_bytes=tile) for ends in pairwise(borders)]
    whole = summarize(data, dialect, context=context)
    assert reduce(StateMap.then, maps) == whole
    assert reduce(lambda right, left: left @ right, reversed(maps)) == whole  # grouped from the right
    starts = [RangeStart(*serial(data, dialect, 0, border, 0), line_ends(data, border)) for border in borders]
    assert range_starts(maps) == starts
    records = split(data, dialect).records
    assert whole.count_records() == sum(not record.comment for record in records)


@given(cases(lenient=False), st.sampled_from(TILES), st.sampled_from([1, 3]), st.sampled_from(ISAS))
@settings(max_examples=examples(400), deadline=None, derandomize=True)
def test_any_cut_of_any_dialect(case: tuple[Dialect, bytes, list[int]], tile: int, threads: int, isa: str) -> None:
    check(case, tile, threads, isa)


@given(cases(lenient=True), st.sampled_from(TILES), st.sampled_from([1, 3]), st.sampled_from(ISAS))
@settings(max_examples=examples(200), deadline=None, derandomize=True)
def test_any_cut_with_lenient_quotes(case: tuple[Dialect, bytes, list[int]], tile: int, threads: int, isa: str) -> None:
    check(case, tile, threads, isa)


@given(cases(lenient=False), st.sampled_from(TILES), st.sampled_from(ISAS))
@settings(max_examples=examples(200), deadline=None, derandomize=True)
def test_every_state_before_a_range(case: tuple[Dialect, bytes, list[int]], tile: int, isa: str) -> None:
    dialect, data, borders = case
    begin, end = borders[len(borders) // 2], borders[-1]
    found = summarize(data, dialect, range(begin, end), context=Context(isa=isa), tile_bytes=tile)
    expected = [serial(data, dialect, begin, end, state) for state in range(len(dialect.automaton.states))]
    assert list(zip(found.states, found.records, strict=True)) == expected


@pytest.mark.parametrize("isa", ISAS)
def test_every_cut_of_one_text(isa: str) -> None:
    """Each place around the borders of blocks, in a text whose ranges do not commute."""
    data, dialect = b'a,"b\r\n""c",d\r\n#x\r\ny\\"\n' * 9, Dialect(comment="#", escape_char="\\")
    context = Context(isa=isa, threads=1)
    whole = summarize(data, dialect, context=context)
    commutes = 0
    for cut in range(len(data) + 1):
        left, right = (summarize(data, dialect, part, context=context) for part in (range(cut), range(cut, len(data))))
        assert left @ right == whole, cut
        commutes += right @ left == whole
    assert commutes < len(data) // 2
