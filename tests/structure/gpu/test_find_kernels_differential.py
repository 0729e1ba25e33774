"""The search for structure on a GPU, in the fiber harness, against an automaton read byte by byte and the sequential oracle."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace import Dialect
from headrace.structure.gpu.dialect_tables import TILE_START, TILE_SUMMARY, TOTALS, FindFlag, known_dfa_tables, plain_dialect
from headrace.testing import fibers
from headrace.testing.convert_fibers import word_roles
from headrace.testing.strategies import dialects, texts
from tests.examples import examples
from tests.structure.gpu.find_kernels_cases import (
    ORDERS,
    SCAN_THREADS,
    How,
    Result,
    aligned,
    check_returns,
    expected,
    has_misplaced_quotes,
    plain_cases,
    scanned,
    tile_count,
    without,
    without_breaks,
)

pytestmark = pytest.mark.fibers

SHAPES = [(64, 1), (32, 2), (32, 8)]
CHUNKS = [(32, 2), (64, 4)]


hows = st.builds(How, st.sampled_from(SHAPES), st.integers(0, 15), st.sampled_from(ORDERS))
hows_of_steps = st.builds(How, st.sampled_from(CHUNKS), st.integers(0, 15), st.sampled_from(ORDERS))


def by_masks(data: bytes, dialect: Dialect, how: How, *, quoted: bool) -> Result:
    """Entries and totals."""
    threads, rows = how.shape
    plain = plain_dialect(dialect, quoted=quoted)
    assert plain is not None
    tiles = tile_count(data, how)
    tallies, totals = np.zeros(2 * tiles + 1, TILE_SUMMARY), np.zeros(1, TOTALS)
    if tiles:
        shape = {"HR_THREADS": threads, "HR_ROWS": rows, "HR_UNROLL": 1, "HR_BLOCKS": 1}
        program = fibers.program("structure/gpu/summarize_plain.cu", {"HR_QUOTED": int(quoted), **shape})
        args = [aligned(data, how.skew), len(data), plain, tallies, totals, None]
        order, seed = how.order
        blocks = max(1, tiles - seed % 3)  # each one or several tiles
        program.launch("summarize_plain", blocks, threads, [*args, tiles], order=order, seed=seed)
    check_returns(data, dialect, int(totals[0]["flags"]))
    totals["flags"] &= ~np.uint32(FindFlag.RETURN)
    entries, found = scanned(data, how, tallies, totals, quoted=quoted, states=None)
    return entries, (*found[:-1], found[-1] & ~FindFlag.BREAK) if b"\r" in data else without_breaks(data, dialect, found)


def with_dfa(data: bytes, dialect: Dialect, how: How) -> Result:
    threads, rows = how.shape
    made = known_dfa_tables(dialect)
    tables, text = np.array([made]), aligned(data, how.skew)
    tiles = tile_count(data, how)
    tallies, totals = np.zeros(tiles + 1, TILE_SUMMARY), np.zeros(1, TOTALS)
    count = made["steps"].shape[1]
    maps = np.zeros((tiles + 1) * (8 if count == 64 else 1), np.uint64)
    before = np.zeros(tiles * threads + 1, np.uint64 if count == 16 else np.uint32)
    states = np.zeros(tiles + 1, np.uint8)
    roles = np.full(2 * (tiles * how.tile // 32), 0xA5, np.uint64)
    program = fibers.program(
        "structure/gpu/summarize_dfa.cu",
        {"HR_STATES": count, "HR_THREADS": threads, "HR_ROWS": rows, "HR_UNROLL": 1, "HR_BLOCKS": 1},
    )
    scan = fibers.program("structure/gpu/scan_summaries.cu", {"HR_THREADS": SCAN_THREADS})
    order, seed = how.order
    marks = np.zeros(tiles * how.tile // 16, np.uint16) if dialect.lenient_quotes else None  # all quotes may open fields
    if tiles:
        program.launch("map_tiles", tiles, threads, [text, len(data), tables, marks, before, maps, None], order=order, seed=seed)
        if count == 64:
            program.launch("chain_maps", 1, threads, [maps, tiles, states, None], order=order, seed=seed)
            args = [text, len(data), tables, marks, before, states, None]
            program.launch("start_chunks", tiles, threads, args, order=order, seed=seed)
        else:
            blocks = tiles // SCAN_THREADS + 1
            memory = np.zeros(2 * (blocks + 1), np.uint64)
            scan.launch("scan_maps", blocks, SCAN_THREADS, [maps, tiles, states, None, memory], order=order, seed=seed)
        args = [text, len(data), tables, marks, before, states, roles, tallies, totals, None]
        program.launch("summarize_dfa", tiles, threads, args, order=order, seed=seed)
        assert np.array_equal(roles, word_roles(data, dialect, len(roles) // 2, how.skew))
    entries, found = scanned(data, how, tallies, totals, quoted=False, states=states)
    return [(*entry[:4], entry[4] in dialect.automaton.quoted, entry[5]) for entry in entries], without_breaks(
        data, dialect, found
    )


def check_masks(data: bytes, dialect: Dialect, how: How) -> None:
    """Check that masks with quotes find the expected structure, or report that they may have misread the text, and only if they
    may.
    """
    found = by_masks(data, dialect, how, quoted=True)
    misplaced = has_misplaced_quotes(data, dialect)
    assert bool(found[1][-1] & FindFlag.STRAY) == misplaced
    assert misplaced or found == expected(data, dialect, how)


@pytest.mark.covering(default=0, long=0)
@pytest.mark.long_except("0", "7")
@pytest.mark.parametrize("skew", [0, 1, 7, 8, 15])
def test_edges(skew: int) -> None:
    """Texts that a tile's edge cuts: line ends of two bytes, doubled quotes, records that are longer than tiles."""
    how = How((32, 2), skew, ("random", skew))
    for shift in (-2, -1, 0, 1):
        head = b"a," + b"x" * (how.tile - skew - 2 + shift)
        for tail in (
            b'\r\n\r\nb,"c\r\n"',
            b"\n\n,\n",
            b',"a""b""",\n"',
            b'"",\r\n',
            b"",
            b"," * how.tile,
            b"\n" * (how.tile + 1),
        ):
            for data in (head + tail, head + b',"' + head + b'"' + tail, b"\n" * (how.tile + shift) + tail, (head + tail) * 3):
                for dialect in (Dialect(), Dialect(skip_blank_lines=False), Dialect(lineterminator="\n")):
                    check_masks(data, dialect, how)
                    if b'"' not in data:
                        assert by_masks(data, dialect, how, quoted=False) == expected(data, dialect, how)


@pytest.mark.covering(long=0)
@pytest.mark.long_except("options1")
def test_bytes_after_quotes_in_every_place_of_a_thread() -> None:
    how = How((32, 8), 0, ORDERS[0])
    for place in range(24, 136):
        for tail, is_malformed in ((b'"y\n', True), (b'",y\n', False), (b'""y"\n', False)):
            _, found = by_masks(b'"' + b"x" * place + tail, Dialect(), how, quoted=True)
            assert bool(found[-1] & FindFlag.STRAY) == is_malformed, (place, tail)


@pytest.mark.parametrize(
    "options", [{"lineterminator": "\r\n"}, {"sep": "||", "comment": "//"}, {"escape_char": "\\", "comment": "#"}]
)
def test_edges_of_the_dfa(options: dict[str, str]) -> None:
    dialect = Dialect(**options)
    sep, end = dialect.sep, dialect.lineterminator or b"\r\n"
    for skew in (0, 5):
        how = How((32, 4), skew, ("random", skew))
        for shift in (-3, -2, -1, 0):
            head = b"a" + sep + b"x" * (how.tile - skew - 2 + shift)
            for tail in (
                end * 2 + b"b" + sep + b'"c' + end + b'"',
                sep * 2 + end,
                (dialect.comment or b"") + end,
                b'"',
                b"\\" + end,
            ):
                for data in (head + tail, (head + tail) * 2, head + end + (dialect.comment or b"") + head + tail):
                    assert with_dfa(data, dialect, how) == expected(data, dialect, how)


@pytest.mark.parametrize("options", [{}, {"double_quote": False}, {"sep": "||"}, {"sep": "||", "escape_char": "\\"}], ids=str)
def test_lenient_quotes_that_are_text(options: dict[str, Any]) -> None:
    """Quotes that seem to close their fields, and bytes that reopen them: in one word, and across words, chunks and tiles."""
    dialect, rng = Dialect(lenient_quotes=True, **options), random.Random(str(options))
    pieces = ['"', '"', '""', dialect.sep.decode(), "|", "\n", "x", "y z", "x" * 29]
    for turn in range(30):
        how = How((32, 4), turn % 16, ORDERS[turn % len(ORDERS)])
        before, after = ("".join(rng.choices(pieces, k=400)).encode() for _ in range(2))
        data = before[: how.tile - how.skew - 4] + b'\n"a"' + after  # the last quote may be the tile's last byte
        with_dfa(data, dialect, how)  # compares the roles of all bytes


@pytest.mark.parametrize(
    "options", [{"lenient_quotes": True}, {"quote_char": None}, {"quote_char": None, "escape_char": "\\"}], ids=str
)
@pytest.mark.parametrize("far", [0, 70], ids=["every tail leads to one state", "one tail does not"])
def test_maps_of_tails(far: int, options: dict[str, Any]) -> None:
    """Tiles all of whose chunks end with 32 bytes that lead every state to one, and a tile with a chunk that does not."""
    dialect = Dialect(**options)
    for skew in (0, 7):
        how = How((32, 4), skew, ("random", skew))
        line = b'12,"a b"\n345,"c \\"d"\n'
        data = line * (3 * how.tile // (2 * len(line))) + b'6,"' + b"x" * far + b'"\n' + line * (2 * how.tile // len(line))
        with_dfa(data, dialect, how)  # compares the roles of all bytes


@pytest.mark.covering(default=0)
@pytest.mark.parametrize("order", [ORDERS[2]])
@pytest.mark.parametrize(
    "options", [{}, {"comment": "#"}, {"escape_char": "\\"}, {"sep": "||", "lineterminator": "\r\n"}], ids=str
)
def test_more_tiles_than_a_block_scans(options: dict[str, str], order: tuple[str, int]) -> None:
    """The prefix of a block is joined before the prefix of a lane, and the joins do not commute.

    A record and a quoted field go over more tiles than a block has.
    """
    dialect, how = Dialect(**options), How(CHUNKS[0], 3, order)
    line = dialect.sep.join([b"a", b'"b', b'c"', b"d"]) + (dialect.lineterminator or b"\n")
    long = b'e,"' + b"x,\n" * (how.tile * (SCAN_THREADS + 9) // 3) + b'",f' + (dialect.lineterminator or b"\n")
    for data in (
        line * (how.tile * (2 * SCAN_THREADS + 5) // len(line)),
        line * 40 + long + line * (how.tile * SCAN_THREADS // len(line)),
    ):
        wanted = expected(data, dialect, how)
        assert with_dfa(data, dialect, how) == wanted
        if not options:
            assert by_masks(data, dialect, How((32, 2), 3, order), quoted=True) == expected(data, dialect, How((32, 2), 3, order))


@pytest.mark.parametrize("seed", range(6))
def test_blocks_of_a_scan_agree_whether_another_variant_reads_the_text(seed: int) -> None:
    """Malformed lenient quotes set `FindFlag.REDO` while other blocks begin, which must not divide their threads."""
    blocks, threads = 12, 64
    tallies, totals = np.zeros(2 * blocks * threads, TILE_SUMMARY), np.zeros(1, TOTALS)
    tallies["flags"] = int(FindFlag.STRAY)
    entries, memory = np.zeros(blocks * threads + 1, TILE_START), np.zeros(10 * (blocks + 1), np.uint64)
    program = fibers.program("structure/gpu/scan_summaries.cu", {"HR_THREADS": threads})
    args = [tallies, 2, None, blocks * threads * 512, 512, 0, entries, totals, None, None, memory]
    program.launch("scan_tiles", blocks, threads, args, order="random", seed=seed)
    assert totals["flags"][0] & FindFlag.REDO


def test_a_variant_runs_only_if_the_preceding_one_requests_it() -> None:
    dialect, how = Dialect(), How((32, 2), 3, ("forward", 0))
    shape = {"HR_THREADS": 32, "HR_ROWS": 2, "HR_UNROLL": 1, "HR_BLOCKS": 1}
    bare = fibers.program("structure/gpu/summarize_plain.cu", {"HR_QUOTED": 0, **shape})
    quoted = fibers.program("structure/gpu/summarize_plain.cu", {"HR_QUOTED": 1, **shape})
    for data in (b"a,b\n" * 500, b"a,b\n" * 400 + b'a,"b"\n' + b"a,b\n" * 100):
        text, tiles = aligned(data, how.skew), tile_count(data, how)
        tallies, totals = np.zeros(2 * tiles, TILE_SUMMARY), np.zeros(1, TOTALS)
        described = plain_dialect(dialect, quoted=False), plain_dialect(dialect, quoted=True)
        bare.launch("summarize_plain", tiles, 32, [text, len(data), described[0], tallies, totals, None, tiles])
        assert bool(totals[0]["flags"] & FindFlag.REDO) == (b'"' in data)
        again, counted = np.zeros_like(tallies), np.zeros_like(totals)
        quoted.launch("summarize_plain", tiles // 2, 32, [text, len(data), described[1], again, counted, totals, tiles])
        assert bool(again["records"].any()) == (b'"' in data)
        if b'"' in data:
            entries, found = scanned(data, how, again, counted, quoted=True, states=None)
            assert (entries, without_breaks(data, dialect, found)) == expected(data, dialect, how)


@given(plain_cases(), hows)
@settings(max_examples=examples(150), deadline=None, derandomize=True)
def test_without_quotes(case: tuple[Dialect, bytes], how: How) -> None:
    dialect, data = case
    data = without(data, dialect)
    assert by_masks(data, dialect, how, quoted=False) == expected(data, dialect, how)


@given(plain_cases(), hows)
@settings(max_examples=examples(150), deadline=None, derandomize=True)
def test_quotes(case: tuple[Dialect, bytes], how: How) -> None:
    dialect, data = case
    if dialect.quote_char is not None:
        check_masks(data, dialect, how)
        data = without(data, dialect)
        assert by_masks(data, dialect, how, quoted=True) == by_masks(data, dialect, how, quoted=False)


@st.composite
def cases_of_steps(draw: st.DrawFn) -> tuple[Dialect, bytes]:
    dialect = draw(dialects().filter(lambda dialect: not dialect.lenient_quotes))
    parts = draw(st.lists(texts(dialect, max_tokens=300), min_size=1, max_size=4))
    return dialect, b"".join(parts) * draw(st.sampled_from([1, 1, 2, 5]))


@given(cases_of_steps() | plain_cases(), hows_of_steps)
@settings(max_examples=examples(150), deadline=None, derandomize=True)
def test_any_dialect(case: tuple[Dialect, bytes], how: How) -> None:
    dialect, data = case
    assert with_dfa(data, dialect, how) == expected(data, dialect, how)
