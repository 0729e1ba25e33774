"""Tests that quotes are removed from a text and its parts joined, at any place and with every instruction set."""

from __future__ import annotations

import pytest

from headrace import Context, _native, read_csv

pytestmark = pytest.mark.isas

ISAS = _native.isas()
SIZES = [0, 1, 2, 3, 15, 16, 17, 61, 62, 63, 64, 65, 66, 127, 128, 129]


def read(fields: list[bytes], isa: str, **options: object) -> list[str | None]:
    data = b"".join(field + b",end\n" for field in fields)
    table = read_csv(data, header=False, schema=["string", "string"], context=Context(isa=isa), **options)  # type: ignore[arg-type]
    assert table["column_2"].to_pylist() == ["end"] * len(fields)
    return list(table["column_1"].to_pylist())


def texts() -> list[str]:
    found = []
    for size in SIZES:
        for quotes in ('"', '""', '"""'):
            found += [quotes + "x" * size, "x" * size + quotes, "x" * size + quotes + "y", "x" * size + quotes + "yz" + quotes]
    return found


@pytest.mark.parametrize("isa", ISAS)
def test_doubled_quotes(isa: str) -> None:
    wanted = texts()
    assert read([b'"' + text.replace('"', '""').encode() + b'"' for text in wanted], isa) == wanted


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("quoted", [False, True])
def test_escapes(quoted: bool, isa: str) -> None:
    wanted = texts()
    quote = b'"' if quoted else b""
    fields = [quote + text.replace('"', '\\"').encode() + quote for text in wanted]
    assert read(fields, isa, escape_char="\\", double_quote=False) == wanted


@pytest.mark.parametrize("isa", ISAS)
def test_an_escape_at_the_end_of_the_input_is_text(isa: str) -> None:
    for size in (0, 1, 62, 63, 64, 127):
        data = b"a,b\n1," + b"x" * size + b"\\"
        table = read_csv(data, schema=["string", "string"], escape_char="\\", context=Context(isa=isa))
        assert table["b"].to_pylist() == ["x" * size + "\\"]


@pytest.mark.parametrize("isa", ISAS)
def test_texts_of_a_quote_or_two(isa: str) -> None:
    """An empty quoted field is an empty text; a quoted quote is one."""
    assert read([b'""', b'""""', b'""""""', b'" "', b"a", b""], isa, null_values=[]) == ["", '"', '""', " ", "a", ""]
    assert read([b'""', b'""""'], isa) == ["", '"']


@pytest.mark.parametrize("isa", ISAS)
def test_lenient_quotes_are_put_together_as_strict_ones_are(isa: str) -> None:
    wanted = texts()
    assert read([b'"' + text.replace('"', '""').encode() + b'"' for text in wanted], isa, lenient_quotes=True) == wanted
    # A single quote inside is text, beside doubled ones.
    assert read([b'"a"b"', b'"a""b"c"', b'"x"" y"z"'], isa, lenient_quotes=True) == ['a"b', 'a"b"c', 'x" y"z']
