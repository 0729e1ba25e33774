"""Every short text across the border of two blocks, of 64 bytes each, and of two tiles, against the sequential oracle."""

from __future__ import annotations

from functools import cache
from itertools import product

import pytest

from headrace import Dialect
from headrace.structure.find import Structure
from tests.isas import EACH_ISA
from tests.structure.cpu.find_cases import BLOCK, expected, found

pytestmark = pytest.mark.isas


def long(dialect: Dialect) -> object:
    """Return a parameter whose tests are long."""
    return pytest.param(dialect, marks=pytest.mark.long)


TOKENS = [b"x", b",", b'"', b"\r", b"\n"]
ESCAPE = b"\\"
"""Replaces CR in the texts of dialects that have it."""
FRONTS = [b"x" * 62, b'"' + b"x" * 61, b"a,b\n" + b"x" * 57 + b"\n", b'a,"b\n' + b"\n" * 57]
"""Kinds of the first 62 bytes: in a field, in quotes, after a line end, and lines that are quoted."""
DIALECTS = [
    Dialect(),
    Dialect(double_quote=False),
    long(Dialect(skip_blank_lines=False)),
    long(Dialect(quote_char=None)),
    Dialect(lineterminator="\n"),
    Dialect(escape_char=ESCAPE),
    long(Dialect(escape_char=ESCAPE, double_quote=False)),
    long(Dialect(escape_char=ESCAPE, quote_char=None)),
]


@cache
def texts_of(dialect: Dialect) -> list[tuple[bytes, Structure]]:
    """Return all texts, and the oracle's structure of each."""
    tokens_of = TOKENS if dialect.escape_char is None else [ESCAPE if token == b"\r" else token for token in TOKENS]
    texts = [front + b"".join(tokens) + b'y,"z"\n' for front, tokens in product(FRONTS, product(tokens_of, repeat=4))]
    return [(data, expected(data, dialect)) for data in texts]


@pytest.mark.covering(default=0, long=0)
@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: repr(dialect)[:80])
def test_all_texts_of_four_bytes_across_a_border(dialect: Dialect, isa: str) -> None:
    for data, wanted in texts_of(dialect):
        for tile, masks in ((4096, True), (BLOCK, True), (BLOCK, False)):
            assert found(data, dialect, tile=tile, isa=isa, masks=masks) == wanted, (data[60:], tile, masks)


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("masks", [True, False])
def test_text_behind_a_closing_quote_is_a_stray_wherever_it_stands(masks: bool, isa: str) -> None:
    """The byte after a closing quote is the stray, also if the quote is the last byte of its block."""
    for size in range(BLOCK - 6, BLOCK + 3):
        text = b'"' + b"a" * size + b'"b,c\n'
        assert found(text, Dialect(), isa=isa, tile=4096, masks=masks).strays == [size + 2]
        sound = b'"' + b"a" * size + b'",c\n'
        assert found(sound, Dialect(), isa=isa, tile=4096, masks=masks).strays == []


@pytest.mark.parametrize("isa", EACH_ISA)
def test_the_last_bytes_of_a_text(isa: str) -> None:
    """Nothing is read from after the text's end, where zeros lie."""
    for size in range(BLOCK - 3, BLOCK + 3):
        for end in (b"", b",", b'"', b'""', b"\r", b"\n", b"\n\n", b'"x"', b',"'):
            data = b"x" * size + b"\n" + end
            assert found(data, Dialect(), isa=isa, tile=4096) == expected(data, Dialect()), (size, end)


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize(
    "dialect", [Dialect(), Dialect(escape_char=ESCAPE), Dialect(lineterminator="\n"), Dialect(lenient_quotes=True)]
)
def test_blocks_within_long_fields(dialect: Dialect, isa: str) -> None:
    """Blocks without delimiters and quotes between two short texts, at the borders of blocks."""
    tokens = [b",", b"\n", b"\r", b"\r\n", b'"', b'",', b',"', b"\\"]
    for one, other in product(tokens, tokens):
        for gap in (BLOCK - 1, 2 * BLOCK, 3 * BLOCK + 1):
            data = b"a" * (BLOCK - 1) + one + b"x" * gap + other + b"y" * BLOCK + b'"z",1\n'
            assert found(data, dialect, isa=isa, tile=4096) == expected(data, dialect), (one, gap, other)
