"""Tests the search for structure that measures strings in the same pass, in the fiber harness. Its summaries of tiles equal those
of an automaton that reads the text byte by byte. Its guess of a tile's beginning is true or the tile is marked.
"""

from __future__ import annotations

from struct import Struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace import Dialect
from headrace.columns.convert.gpu.row_columns import NO_DFA
from headrace.columns.convert.gpu.tuning import RowTuning, summary_program
from headrace.core.layouts.layout import layout
from headrace.structure.gpu.dialect_tables import TILE_SUMMARY, TOTALS, FindFlag, plain_dialect
from headrace.testing import fibers
from tests.examples import examples
from tests.structure.gpu.find_kernels_cases import (
    ORDERS,
    How,
    Result,
    aligned,
    expected,
    has_misplaced_quotes,
    plain_cases,
    scanned,
    tile_count,
    without,
    without_breaks,
)

pytestmark = pytest.mark.fibers

GUESS = 1 << 20
TEXT, SKIP = 8, 9
GROUPS = 16
TASK, BRIEF = layout("RowTask").packer(last="sums"), Struct("=IBBH")
hows = st.builds(How, st.sampled_from([(32, 2), (64, 2), (32, 8)]), st.integers(0, 15), st.sampled_from(ORDERS))


def tallied(data: bytes, dialect: Dialect, how: How, *, quoted: bool) -> Result:
    """Entries and totals, by tallies that are made while strings are measured."""
    threads, _ = how.shape
    plain = plain_dialect(dialect, quoted=quoted)
    assert plain is not None
    tiles = tile_count(data, how)
    tallies, totals = np.zeros(2 * tiles + 1, TILE_SUMMARY), np.zeros(1, TOTALS)
    marks: np.ndarray[Any, np.dtype[np.uint32]] = np.zeros(tiles + 1, np.uint32)
    if tiles:
        defines, _, shared = summary_program(RowTuning(quotes=quoted, tile=how.tile, head=256), threads)
        program = fibers.program("columns/convert/gpu/fast/measure_rows.cu", defines)
        task = TASK.pack(len(data), tiles, 2, 1, 0, 1, bytes(8), 0, GROUPS, 0) + NO_DFA
        briefs = (BRIEF.pack(1, SKIP, 0, 0) + BRIEF.pack(0, TEXT, 0, 0)).ljust(264, b"\0")
        sums, sizes = np.zeros(tiles, np.uint64), np.zeros(tiles * (GROUPS + 16), np.uint16)
        args = [aligned(data, how.skew), plain, tallies, totals, sums, sizes, marks, task, briefs]
        order, seed = how.order
        program.launch("summarize_rows", tiles, threads, args, order=order, seed=seed, shared=shared)
    totals["flags"] &= ~np.uint32(FindFlag.RETURN)
    guesses = (tallies["flags"][:tiles] & GUESS) != 0
    entries, counts = scanned(data, how, tallies, totals, quoted=quoted, states=None, marks=marks)
    begins = np.array([entry[4] != 0 for entry in entries[:tiles]], bool)
    assert ((guesses == begins) | (marks[:tiles] != 0)).all()
    return entries, without_breaks(data, dialect, counts)


def check_tallied(data: bytes, dialect: Dialect, how: How) -> None:
    """Check that the summaries are as expected, or that a quote stands where parity may misread it and is reported."""
    found = tallied(data, dialect, how, quoted=True)
    misplaced = has_misplaced_quotes(data, dialect)
    assert bool(found[1][-1] & FindFlag.STRAY) == misplaced
    assert misplaced or found == expected(data, dialect, how)


@given(plain_cases(), hows)
@settings(max_examples=examples(150), deadline=None, derandomize=True)
def test_any_text(case: tuple[Dialect, bytes], how: How) -> None:
    dialect, data = case
    if dialect.quote_char is not None:
        check_tallied(data, dialect, how)
        data = without(data, dialect)
    assert tallied(data, dialect, how, quoted=False) == expected(data, dialect, how)


@pytest.mark.covering(default=0, long=0)
@pytest.mark.long_except("-1-15", "0-0", "1-1")
@pytest.mark.parametrize("skew", [0, 1, 15])
@pytest.mark.parametrize("shift", [-2, -1, 0, 1])
def test_edges(skew: int, shift: int) -> None:
    """Texts that a tile's edge cuts: line ends of two bytes, doubled quotes, records that are longer than tiles."""
    how = How((32, 2), skew, ("random", skew))
    head = b"a," + b"x" * (how.tile - skew - 2 + shift)
    for tail in (b'\r\n\r\nb,"c\r\n"', b"\n\n,\n", b',"a""b""",\n"', b'"",\r\n', b"", b"," * how.tile, b"\n" * (how.tile + 1)):
        for data in (head + tail, head + b',"' + head + b'"' + tail, b"\n" * (how.tile + shift) + tail, (head + tail) * 3):
            for dialect in (Dialect(), Dialect(skip_blank_lines=False), Dialect(lineterminator="\n")):
                check_tallied(data, dialect, how)


@pytest.mark.parametrize("inside", ["ab,c\n", 'a""b,c\n', ',"",'])
def test_a_tile_with_ambiguous_quotes_is_assumed_to_begin_outside(inside: str) -> None:
    """In the last one no quote is misplaced, whether it opens or closes."""
    how = How((32, 2), 3, ("forward", 0))
    data = ('1,"' + inside * 1500 + '"\n').encode()
    assert tallied(data, Dialect(), how, quoted=True) == expected(data, Dialect(), how)
