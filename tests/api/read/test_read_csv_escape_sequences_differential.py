r"""Letters after the escape that stand for other bytes, as `\n` for a line feed, in reads, scans and options."""

from __future__ import annotations

import random
from typing import Any

import pytest

import headrace
from headrace import Context
from headrace.structure.dialect import ESCAPE_LETTERS, Dialect
from headrace.testing.compare import assert_same_table
from headrace.testing.reference import ReferenceOptions, read
from tests.isas import EACH_ISA

MEANINGS = {b"0": b"\x00", b"b": b"\x08", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r", b"Z": b"\x1a"}
OPTIONS: dict[str, Any] = {"escape_char": "\\", "escape_sequences": True, "header": False}
COPY: dict[str, Any] = {"sep": "\t", "quote_char": None, "lineterminator": "\n", "null_values": ["\\N"], **OPTIONS}
"""The options of a file of PostgreSQL's COPY in text format, and of MySQL's OUTFILE."""


def test_each_byte_after_an_escape() -> None:
    """The table of letters is the one here, and every other byte stands for itself."""
    assert set(ESCAPE_LETTERS) == set(b"".join(MEANINGS))
    for number in range(128):
        byte = bytes([number])
        options: dict[str, Any] = {**COPY, "sep": ";", "null_values": (), "schema": ["binary"]}
        table = headrace.read_csv(b"x\\" + byte + b"y", **options)
        assert table["column_1"].to_pylist() == [b"x" + MEANINGS.get(byte, byte) + b"y"], byte


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize(
    "given", [{}, {"quote_char": None}, {"double_quote": False}, {"lenient_quotes": True}, {"skip_initial_space": True}], ids=str
)
def test_every_chunk_reads_as_the_reference(given: dict[str, Any], isa: str) -> None:
    """Escapes and their letters cross the blocks of 64 bytes that are copied at once, and the ends of chunks."""
    rng = random.Random(repr(given))
    parts = [*(f"\\{letter}" for letter in "0bfnrtvZNx\\"), "\\,", "n", "é", "y" * 61, "z" * 63]
    for rows in (1, 60):
        lines = [",".join("".join(rng.choices(parts, k=rng.choice((0, 1, 5, 30)))) for _ in range(2)) for _ in range(rows)]
        if given.get("quote_char", '"') and not given.get("lenient_quotes"):
            lines = [f'{line},"{line[:-1]}' + ("" if line.endswith("\\") else "x") + '"' for line in lines]
        data = "\n".join(["a,b,c,d", *lines, ""]).encode()
        dialect = Dialect(escape_char="\\", escape_sequences=True, **given)
        expected = read(data, ReferenceOptions(dialect=dialect, header=True, on_error="null"))
        for chunk_bytes in (1, 64, 65, 4096):
            table = headrace.read_csv(
                data, chunk_bytes=chunk_bytes, on_error="null", context=Context(isa=isa, threads=2),
                **OPTIONS | {"header": True} | given,
            )  # fmt: skip
            assert_same_table(table, expected)


def test_a_null_is_none_of_the_sequences() -> None:
    table = headrace.read_csv(b"1\t\\N\n2\tN\n3\t\\\\N\n4\t\\n\n5\t\n", **COPY)
    assert table.to_pydict() == {"column_1": [1, 2, 3, 4, 5], "column_2": [None, "N", "\\N", "\n", ""]}


def test_codes_are_texts() -> None:
    r"""MySQL writes a zero byte and the digit 1 as `\01`; neither MySQL nor PostgreSQL writes octal or hexadecimal codes."""
    table = headrace.read_csv(b"\\101\t\\x41\t\\01\n", **COPY, schema=["string"] * 3)
    assert list(table.iter_rows()) == [("101", "x41", "\x001")]


def test_names_and_values() -> None:
    data = b"a\\tb,c\n1\\0,\\n\n2,\\Z2\n"
    table = headrace.read_csv(data, **OPTIONS | {"header": True})
    assert table.to_pydict() == {"a\tb": ["1\0", "2"], "c": ["\n", "\x1a2"]}
    table = headrace.read_csv(data, **OPTIONS | {"header": True}, dtypes={"c": "int64"}, on_error="reject")
    assert table.num_rows == 0
    assert table.rejects["field"].to_pylist() == ["\\n", "\\Z2"]  # as it is written


@pytest.mark.parametrize("batch_bytes", [64, 100, 4096])
def test_scans(batch_bytes: int) -> None:
    rng = random.Random(batch_bytes)
    rows = [f"{number}\t" + "".join(rng.choices(["\\n", "\\\\", "\\t", "n", "x" * 30], k=5)) for number in range(200)]
    data = "\n".join([*rows, ""]).encode()
    whole = headrace.read_csv(data, **COPY)
    assert headrace.scan_csv(data, batch_bytes=batch_bytes, **COPY).read().equals(whole)


def test_a_proposed_dialect_keeps_the_option() -> None:
    """Nothing in a text shows what its letters mean, so the option is kept as it was given."""
    data = b"id\ttext\n" + b"".join(b"%d\ta\\tb\n" % number for number in range(20))
    table = headrace.read_csv(data, dialect="auto", escape_char="\\", escape_sequences=True)
    assert table["text"].to_pylist() == ["a\tb"] * 20
    assert table.report.sniffed is not None
    assert table.report.sniffed.options["escape_sequences"] is True
    assert headrace.read_csv(data, **table.report.sniffed.options).equals(table)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"escape_char": None}, "escape_sequences=True needs an escape_char"),
        ({"sep": "t"}, "with escape_sequences=True, sep may not contain b't', which is a letter of them"),
        ({"comment": "//n"}, "with escape_sequences=True, comment may not contain b'n'"),
        ({"null_values": ["\\n"]}, r"the null text '\\n' has an escape sequence; give the text itself"),
        ({"null_values": {"a": ["x", "\\\\\\t"]}}, "has an escape sequence; give the text itself"),
        ({"escape_sequences": "yes"}, "escape_sequences must be True or False"),
    ],
    ids=str,
)
def test_options_that_contradict_it(given: dict[str, Any], message: str) -> None:
    with pytest.raises(headrace.OptionError) as caught:
        headrace.read_csv(b"a,b\n", **OPTIONS | given)
    assert message in str(caught.value)


def test_null_texts_with_an_escape_of_other_bytes() -> None:
    r"""In `\\n` the escape is escaped, so the letter is itself."""
    table = headrace.read_csv(b"\\\\n,1\n\\n,2\n", **OPTIONS, null_values=["\\\\n"])
    assert table["column_1"].to_pylist() == [None, "\n"]
