r"""Texts as databases write them: files of PostgreSQL, and those of a writer by MySQL's rules; `write_csv` writes them back."""

from __future__ import annotations

import datetime
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import headrace

FOLDER = Path(__file__).parents[2] / "data" / "databases"
FORM: dict[str, Any] = {"sep": "\t", "quote_char": None, "escape_char": "\\", "escape_sequences": True}
READ: dict[str, Any] = {**FORM, "lineterminator": "\n", "null_values": ["\\N"], "header": False}
OTHERS = [None, "", "\\N", "N", "é\t\\n\n", "\\.", "\\\\"]
"""Texts of the rows after the 127 of one ASCII character each."""


def test_copy_of_postgres() -> None:
    """All ASCII characters but NUL, nulls, an empty text, and texts that look like nulls and ends."""
    table = headrace.read_csv(FOLDER / "postgres-copy.txt", names=["id", "text", "bytes", "at", "flag"], **READ)
    assert table["id"].to_pylist() == list(range(1, 135))
    assert table["text"].to_pylist() == [*(f"{chr(number)}x{chr(number)}" for number in range(1, 128)), *OTHERS]
    assert table["bytes"].to_pylist() == [*(f"\\x{number:02x}" for number in range(1, 128)), None, "\\x", *[None] * 5]
    start = datetime.datetime(2024, 1, 31, 12, 30, 15, 250000)
    assert table["at"].to_pylist()[:127] == [start + datetime.timedelta(days=number) for number in range(1, 128)]
    assert table["flag"].to_pylist()[:2] == ["f", "t"]


def test_copy_of_postgres_with_options() -> None:
    r"""``DELIMITER '|', NULL '', HEADER``: the bar is escaped, and an empty field is null or an empty text."""
    table = headrace.read_csv(FOLDER / "postgres-copy-bar.txt", **READ | {"sep": "|", "header": True, "null_values": [""]})
    assert table["a"].to_pylist() == [*(f"{chr(number)}x{chr(number)}" for number in range(1, 128)), None, None, *OTHERS[2:]]


def test_written_as_postgres_writes_it() -> None:
    """Except for control characters that need no escape: PostgreSQL writes letters for the backspace and two more."""
    options = {**READ, "names": ["id", "text", "bytes", "at", "flag"], "dtypes": {"at": "string"}}
    data = (FOLDER / "postgres-copy.txt").read_bytes()
    table = headrace.read_csv(data, **options)
    written = headrace.write_csv(table, **FORM, null="\\N", header=False)
    for letter, byte in ((b"b", b"\b"), (b"v", b"\v"), (b"f", b"\f")):
        data = data.replace(b"\\" + letter + b"x\\" + letter + b"\t", byte + b"x" + byte + b"\t")
    assert written == data


def outfile_field(value: object) -> bytes:
    r"""Return a field of ``SELECT ... INTO OUTFILE`` (MySQL 8.4, 15.2.13.1): specials follow a backslash; NUL is ``\0``."""
    if value is None:
        return b"\\N"
    data = str(value).encode().replace(b"\\", b"\\\\").replace(b"\t", b"\\\t").replace(b"\n", b"\\\n")
    return data.replace(b"\0", b"\\0")


@pytest.mark.parametrize("chunk_bytes", [64, 4096])
def test_outfile_of_mysql(chunk_bytes: int) -> None:
    rng = random.Random(chunk_bytes)
    parts = ["\t", "\n", "\\", "\0", "\r", "N", "n", "0", "é", "x" * 40, '"', "'", ","]
    texts = [None if rng.random() < 0.2 else "".join(rng.choices(parts, k=rng.choice((0, 1, 6)))) for _ in range(400)]
    rows = [(number, text, "end") for number, text in enumerate(texts)]
    data = b"".join(b"\t".join(map(outfile_field, row)) + b"\n" for row in rows)
    table = headrace.read_csv(data, names=["id", "text", "end"], chunk_bytes=chunk_bytes, **READ)
    assert list(table.iter_rows()) == rows


@pytest.mark.parametrize("sequences", [False, True])
@pytest.mark.parametrize("sep", ["\t", "||", ","])
def test_written_texts_come_back(sep: str, sequences: bool) -> None:
    rng = random.Random(sep)
    parts = ["\t", "\n", "\r", "\\", "|", ",", "\0", "\b", "\x1a", "n", "N", "é", " ", "#", "long " * 20]
    texts = [None if rng.random() < 0.1 else "".join(rng.choices(parts, k=rng.choice((0, 1, 2, 9)))) for _ in range(500)]
    table = pa.table({"#a\tb": texts, "c": texts[::-1], "d": range(500)})
    form: dict[str, Any] = {"sep": sep, "quote_char": None, "escape_char": "\\", "escape_sequences": sequences, "comment": "#"}
    for threads in (1, 3):
        data = headrace.write_csv(table, null="\\N", threads=threads, **form)
        dtypes = {0: "string", 1: "string"}
        back = headrace.read_csv(data, null_values=["\\N"], lineterminator="\n", header=True, dtypes=dtypes, **form)
        assert back.to_pydict() == table.to_pydict()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"escape_char": "\\"}, "escape_char needs quoting='none'"),
        ({"quote_char": None, "escape_sequences": True}, "escape_sequences=True needs an escape_char"),
        ({"quote_char": None, "escape_char": "\t", "sep": "\t"}, "sep and escape_char share the byte"),
        ({"quote_char": None, "escape_char": "\\", "null": "\\"}, "null='\\\\' has an escape that has another meaning"),
        ({"quote_char": None, "escape_char": "\\", "null": "\\\\N"}, "has an escape that has another meaning"),
        ({"quote_char": None, "escape_char": "\\", "null": "\\n", "escape_sequences": True}, "has an escape that has another"),
        ({"quote_char": None, "escape_char": "\\", "null": "NA"}, "row 0 of column 'a' cannot be written without quotes"),
        ({"quote_char": None, "escape_char": "\\"}, "row 1 of column 'a' cannot be written without quotes"),
    ],
    ids=str,
)
def test_what_escapes_cannot_write(options: dict[str, Any], message: str) -> None:
    table = headrace.read_csv(b'a,b\nNA,1\n"",2\n')
    with pytest.raises(headrace.OptionError) as caught:
        headrace.write_csv(table, **options)
    assert message in str(caught.value)


def test_the_quote_as_escape_doubles_it() -> None:
    """DuckDB's default: the escape is the quote."""
    table = headrace.read_csv(b'a,b\n"x""y",1\n')
    assert headrace.write_csv(table, escape='"') == b'a,b\n"x""y",1\n'
