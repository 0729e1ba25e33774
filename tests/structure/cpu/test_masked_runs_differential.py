"""Dialects that are read by masks except for comments, escapes and malformed quotes, against the sequential oracle."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from headrace import Dialect, _native
from tests.isas import EACH_ISA
from tests.structure.cpu.find_cases import BLOCK, expected, found

pytestmark = pytest.mark.isas

DIALECTS = [
    Dialect(sep="//"),
    Dialect(sep="aab", quote_char=None),
    Dialect(sep="//", double_quote=False, comment="#", skip_blank_lines=False),
    Dialect(sep="||", lenient_quotes=True),
    Dialect(sep="|-|-|-|-", escape_char="\\", lineterminator="\n"),
    Dialect(comment="#"),
    Dialect(comment="#!", lineterminator=";"),
    Dialect(comment="#", escape_char="\\", lenient_quotes=True),
    Dialect(skip_initial_space=True, strict_quotes=True),
    Dialect(strip=True, comment="%"),
    Dialect(sep=",", lineterminator="\r\n", comment="#"),
]
EACH_DIALECT = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: repr(dialect)[:90])
STRICT_DIALECTS = [dialect for dialect in DIALECTS if not dialect.lenient_quotes]


def tokens_of(dialect: Dialect) -> list[bytes]:
    """Return texts of which a dialect makes something, and parts of them."""
    line_ends = [dialect.lineterminator] if dialect.lineterminator else [b"\n", b"\r\n", b"\r"]
    parts = [dialect.sep, dialect.sep * 2, dialect.sep[:1], dialect.sep[:-1], dialect.sep + dialect.sep[:1], b" ", b"   "]
    comment = dialect.comment or b"#"
    lines = [end + start for end in line_ends for start in (b"", end, comment, comment + b"x" + dialect.sep, comment[:1], b" ")]
    return [*parts, *lines]


def random_text(dialect: Dialect, random: Random, quoting: float) -> bytes:
    """Return a text of some blocks, where a share of the tokens has quotes or escapes."""
    tokens = tokens_of(dialect)
    loud = [
        b'"',
        b'""',
        b'"x"',
        b'x"',
        dialect.sep + b'"',
        b'"' + dialect.sep,
        b'"\n',
        (dialect.escape_char or b'"') + dialect.sep,
    ]
    parts = []
    for _ in range(random.randrange(20, 160)):
        parts.append(random.choice(loud if random.random() < quoting else tokens))
        if random.random() < 0.5:
            parts.append(b"x" * random.choice([1, 1, 2, 3, 5, 8, 40, 130]))
    return b"".join(parts)


@EACH_DIALECT
@pytest.mark.parametrize("isa", EACH_ISA)
def test_random_texts(dialect: Dialect, isa: str) -> None:
    random = Random(repr(dialect))
    for quoting in (0.0, 0.01, 0.05, 0.3) * 4:
        data = random_text(dialect, random, quoting)
        wanted = expected(data, dialect)
        for tile in (1, random.randrange(2, BLOCK), BLOCK, random.randrange(BLOCK, 3 * BLOCK), 4096):
            threads = random.choice([1, 2, 5])
            assert found(data, dialect, tile=tile, threads=threads, isa=isa) == wanted, (data, tile)


@pytest.mark.parametrize("dialect", STRICT_DIALECTS, ids=lambda dialect: repr(dialect)[:90])
@pytest.mark.parametrize("isa", EACH_ISA)
def test_state_maps_of_random_texts(dialect: Dialect, isa: str) -> None:
    """Summaries step over lines without quotes; every start state ends where the automaton does."""
    random = Random(repr(dialect))
    native = _native.Dialect.make(dialect)
    for quoting in (0.0, 0.01, 0.05, 0.3) * 3:
        data = random_text(dialect, random, quoting)
        assert _native.state_map(native, data, isa) == dialect.automaton.state_map(data), data


def quoted_text(dialect: Dialect, random: Random, malformed: float) -> bytes:
    """Return records of quoted fields as a writer makes them, except for a share of the fields."""
    sep, spaces = dialect.sep, [b"", b"", b" ", b"   "] if dialect.skip_initial_space else [b""]
    line_ends = [dialect.lineterminator] if dialect.lineterminator else [b"\n", b"\r\n", b"\r"]
    content = [b"x", b"y" * 50, sep, b"\n", b'""' if dialect.double_quote else b"", b" ", b"#", b"\r\n", sep[:1]]
    odd = [b'"', b'"x', b'x"', b'"a" b', b'"a" ', b"#", sep[:1], b'"a"' + sep[:1], b'"a""b', b"\\" + sep]

    def field() -> bytes:
        if random.random() < malformed:
            return random.choice(odd)
        text = b"".join(random.choices(content, k=random.randrange(4)))
        return random.choice(spaces) + b'"' + text + b'"' + (random.choice(spaces) if dialect.strip else b"")

    records = [sep.join(field() for _ in range(random.randrange(1, 5))) for _ in range(random.randrange(1, 30))]
    if dialect.comment and random.random() < 0.5:
        records[random.randrange(len(records))] = dialect.comment + b' a"' + sep + b'"b'
    return random.choice(line_ends).join(records) + random.choice([b"", *line_ends])


@EACH_DIALECT
@pytest.mark.parametrize("isa", EACH_ISA)
def test_quoted_fields(dialect: Dialect, isa: str) -> None:
    random = Random(repr(dialect))
    native = _native.Dialect.make(dialect)
    for malformed in (0.0, 0.0, 0.02, 0.2) * 5:
        data = quoted_text(dialect, random, malformed)
        wanted = expected(data, dialect)
        for tile in (random.randrange(1, BLOCK), random.randrange(BLOCK, 3 * BLOCK), 4096):
            assert found(data, dialect, tile=tile, threads=random.choice([1, 3]), isa=isa) == wanted, (data, tile)
        if not dialect.lenient_quotes:
            assert _native.state_map(native, data, isa) == dialect.automaton.state_map(data), data


@EACH_DIALECT
@pytest.mark.parametrize("isa", EACH_ISA)
def test_pairs_of_tokens_at_each_place_of_a_border(dialect: Dialect, isa: str) -> None:
    """The block before has no quotes, so masks read up to the border, and a quote after it ends their run."""
    tokens = tokens_of(dialect)
    random = Random(repr(dialect))
    pairs = list(product(tokens, tokens))
    for place in range(BLOCK - 9, BLOCK + 2):
        for one, other in random.sample(pairs, 5):
            for after in (b"y", b'"y"'):
                data = b"x" * BLOCK + b"w" * place + one + other + after + dialect.sep + b"z\n" + b"v" * BLOCK
                for tile in (BLOCK, 4096):
                    assert found(data, dialect, tile=tile, isa=isa) == expected(data, dialect), (data[BLOCK:], tile)
