"""Tests the native search for structure against the sequential oracle: any dialect, tile size, thread count, instruction set."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from headrace import Dialect, _native
from headrace.testing.strategies import dialects, lenient_dialects, texts
from tests.examples import examples
from tests.isas import EACH_ISA
from tests.structure.cpu.find_cases import BLOCK, expected, found

pytestmark = pytest.mark.isas

ISAS = _native.isas()
TILES = [1, 2, 3, 5, 31, 63, 64, 65, 127, 128, 4096]


@st.composite
def dialects_and_texts(draw: st.DrawFn) -> tuple[Dialect, bytes]:
    dialect = draw(dialects())
    return dialect, draw(texts(dialect))


@st.composite
def plain_dialects_and_texts(draw: st.DrawFn) -> tuple[Dialect, bytes]:
    dialect = Dialect(
        sep=draw(st.sampled_from([",", "\t", "|"])),
        quote_char=draw(st.sampled_from(['"', "'", None])),
        double_quote=draw(st.booleans()),
        escape_char=draw(st.sampled_from([None, "\\"])),
        lineterminator=draw(st.sampled_from([None, "\n", "\r", ";"])),
        skip_blank_lines=draw(st.booleans()),
        strict_quotes=draw(st.booleans()),
    )
    return dialect, draw(texts(dialect, max_tokens=200))


@given(dialects_and_texts(), st.sampled_from(TILES), st.sampled_from([1, 2, 4]), st.sampled_from(ISAS))
@settings(max_examples=examples(1500), deadline=None, derandomize=True)
def test_any_dialect(case: tuple[Dialect, bytes], tile: int, threads: int, isa: str) -> None:
    dialect, data = case
    assert found(data, dialect, tile=tile, threads=threads, isa=isa) == expected(data, dialect)


@st.composite
def lenient_dialects_and_texts(draw: st.DrawFn) -> tuple[Dialect, bytes]:
    dialect = draw(lenient_dialects())
    if draw(st.booleans()):
        kept = {"double_quote": dialect.double_quote, "skip_blank_lines": dialect.skip_blank_lines}
        dialect = Dialect(sep=draw(st.sampled_from([",", "|"])), lenient_quotes=True, **kept)
    return dialect, draw(texts(dialect, max_tokens=draw(st.sampled_from([10, 60, 300]))))


@given(lenient_dialects_and_texts(), st.sampled_from(TILES), st.sampled_from([1, 2, 4]), st.sampled_from(ISAS))
@settings(max_examples=examples(700), deadline=None, derandomize=True)
def test_lenient_quotes(case: tuple[Dialect, bytes], tile: int, threads: int, isa: str) -> None:
    dialect, data = case
    structure = found(data, dialect, tile=tile, threads=threads, isa=isa)
    assert structure == expected(data, dialect)
    assert not structure.unclosed_quote


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("data", [b'a""",,"\naaa""', b'a,"\nbcd"e\n', b'a,"\nbcd""\n"e', b',"\nab"', b',"\n"""""\n'])
def test_lenient_quotes_at_the_end_of_a_tile(data: bytes, isa: str) -> None:
    """The byte after a quote shows its effect, and that byte is the next tile's: at each place once."""
    dialect = Dialect(lenient_quotes=True)
    for tile in range(1, len(data) + 1):
        assert found(data, dialect, tile=tile, isa=isa) == expected(data, dialect), tile


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("before", [b",", b"\n"])
def test_a_tile_of_malformed_quotes_begins_with_a_field(before: bytes, isa: str) -> None:
    data = b"a" * 15 + before + b'"x\ny",e"f\n1,"2"\n'
    dialect = Dialect(lenient_quotes=True)
    assert found(data, dialect, tile=16, isa=isa) == expected(data, dialect)


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("count", [1, 2, 3, 16, 17, 31, 32, 33, 64, 65])
def test_bytes_before_a_lenient_quote(count: int, isa: str) -> None:
    """Pairs of escapes leave it a quote, and up to 16 skipped spaces leave it at its field's start."""
    escapes = Dialect(lenient_quotes=True, escape_char="\\"), b'"q"r",1\n1,"a' + b"\\" * count + b'",2\n'
    spaces = Dialect(lenient_quotes=True, skip_initial_space=True), b'"abc, d\n1,' + b" " * count + b'"x",2\n'
    for dialect, data in (escapes, spaces):
        assert found(data, dialect, isa=isa) == expected(data, dialect)


@given(dialects_and_texts())
@settings(max_examples=examples(400), deadline=None, derandomize=True)
def test_lenient_quotes_read_well_formed_text_as_strict_ones_do(case: tuple[Dialect, bytes]) -> None:
    dialect, data = case
    dialect = replace(dialect, strip=False, lenient_quotes=False)
    strict = expected(data, replace(dialect, strict_quotes=True))
    assume(dialect.quote_char is not None and not strict.strays and not strict.unclosed_quote)
    assert expected(data, replace(dialect, strict_quotes=False, lenient_quotes=True)) == strict


@given(plain_dialects_and_texts(), st.sampled_from(TILES), st.sampled_from(ISAS))
@settings(max_examples=examples(1500), deadline=None, derandomize=True)
def test_masks_and_automaton_find_the_same(case: tuple[Dialect, bytes], tile: int, isa: str) -> None:
    dialect, data = case
    by_masks = found(data, dialect, tile=tile, isa=isa)
    assert by_masks == found(data, dialect, tile=tile, isa=isa, masks=False)
    assert by_masks == expected(data, dialect)


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("marker", [b",", b"\n", b"\r\n", b'"', b'""', b'"\n', b",,", b"\n\n", b"\\,", b"\\\\\n"])
def test_every_place_in_a_block(marker: bytes, isa: str) -> None:
    """Each special text at each place around the border of two blocks."""
    dialect = Dialect(escape_char="\\" if b"\\" in marker else None)
    for place in range(BLOCK - 4, BLOCK + 4):
        data = b"x" * place + marker + b"y,z\n" + b"w" * BLOCK
        for tile, masks in product((1, BLOCK - 1, BLOCK, BLOCK + 1, 4096), (True, False)):
            assert found(data, dialect, tile=tile, isa=isa, masks=masks) == expected(data, dialect), (place, tile, masks)


@pytest.mark.parametrize("isa", EACH_ISA)
def test_a_quote_after_an_escaped_separator(isa: str) -> None:
    """The quote is text, also as the first byte of a block, whose state map goes by the byte before."""
    dialect = Dialect(escape_char="\\")
    for place in range(BLOCK - 4, BLOCK + 4):
        data = b"x" * place + b'\\,"' + b"y" * BLOCK + b',z\na,"b"\n'
        assert found(data, dialect, tile=2 * BLOCK, isa=isa) == expected(data, dialect), place


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("masks", [True, False])
@pytest.mark.parametrize("escape", [None, "\\"])
def test_state_maps_are_the_automatons(escape: str | None, isa: str, masks: bool) -> None:
    """Summaries compose from the left to the right and not the other way round: the operator is not commutative."""
    dialect = Dialect(escape_char=escape)
    native = _native.Dialect.make(dialect, masks)
    lines = b'a,"b""c",d\r\n' * 12 if escape is None else b'a\\,"b\\"",\\\\\n' * 12
    texts_of_all_lengths = [lines[start : start + size] for start in range(12) for size in range(0, 140, 7)]
    for text in texts_of_all_lengths:
        assert _native.state_map(native, text, isa) == dialect.automaton.state_map(text)
    opened, closed = _native.state_map(native, b'"', isa), _native.state_map(native, b"\n", isa)
    assert bytes(closed[s] for s in opened) != bytes(opened[s] for s in closed)


@pytest.mark.parametrize("isa", EACH_ISA)
def test_runs_of_escapes(isa: str) -> None:
    """A run of escapes, at each place of a block and a tile, escapes the byte after it if the run is odd."""
    dialect = Dialect(escape_char="\\", double_quote=False)
    assert _native.Dialect.make(dialect).plain
    for place, run in product((0, 1, 62, 63), (1, 2, 3, 63, 64, 65, 128)):
        for after in (b",", b'"', b"\n"):
            data = b"x" * place + b"\\" * run + after + b'y,"z' + b"\\" * run + b'"",z\n"w"\n'
            for tile in (1, BLOCK, 4096):
                assert found(data, dialect, tile=tile, isa=isa) == expected(data, dialect), (place, run, after, tile)


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_records_longer_than_many_tiles(threads: int, isa: str) -> None:
    long = b'"' + b"x,\n" * 20_000 + b'"'
    data = b"a,b\n" + long + b"," + long + b"\nc,d\n"
    for tile in (100, 1000, 1 << 20):
        assert found(data, Dialect(), tile=tile, threads=threads, isa=isa) == expected(data, Dialect())


@pytest.mark.parametrize("isa", EACH_ISA)
def test_records_across_the_ends_of_tiles(isa: str) -> None:
    """A tile begins inside a record, and its own last record ends in the next tile. The last tile has one byte, a record."""
    for size, last in product((3, 50, 63, 65), (b"", b"y")):
        data = (b"x" * (size - 1) + b"\n") * 5 + last
        for tile in (2, BLOCK, len(data) - 1):
            assert found(data, Dialect(), tile=tile, isa=isa) == expected(data, Dialect()), (size, last, tile)
