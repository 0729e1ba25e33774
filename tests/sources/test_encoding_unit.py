"""Tests encodings by name and by mark, replacement, other codecs, and files of DuckDB's tests against Python's codecs."""

from __future__ import annotations

import csv
import encodings.aliases
import io
import sys
from pathlib import Path

import pytest

import headrace
from headrace import Context, MemoryLimitError, OptionError, ParseError
from headrace.sources.encoding.encoding import TextEncoding, code_page

REAL = Path(__file__).parents[1] / "data/duckdb-csv/encodings"
TEXT = "a,b\n1,é\n2,x\n"
TABLE = {"a": [1, 2], "b": ["é", "x"]}


@pytest.mark.parametrize(
    ("encoding", "codec"),
    [
        (None, "utf-8"),
        ("utf8", "utf-8"),
        ("UTF-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf_16_le", "utf-16-le"),
        ("UTF-16BE", "utf-16-be"),
        ("utf-16", f"utf-16-{'le' if sys.byteorder == 'little' else 'be'}"),
        ("L1", "latin-1"),
        ("windows-1252", "cp1252"),
        ("cp037", "cp037"),
        ("utf-32-le", "utf-32-le"),
        ("gb18030", "gb18030"),
        ("iso2022_jp", "iso2022_jp"),
        ("utf-7", "utf-7"),
    ],
)
def test_names(encoding: str | None, codec: str) -> None:
    text = TEXT if codec != "iso2022_jp" else TEXT.replace("é", "日")
    table = headrace.read_csv(text.encode(codec), encoding=encoding)
    assert table.to_pydict() == (TABLE if codec != "iso2022_jp" else {"a": [1, 2], "b": ["日", "x"]})


@pytest.mark.parametrize("encoding", ["utf-9", "hex", "rot13", "", "a\0b", "undefined", 5, b"utf-8"])
def test_no_encoding(encoding: object) -> None:
    with pytest.raises(OptionError, match="encoding"):
        headrace.read_csv(TEXT.encode(), encoding=encoding)  # type: ignore[arg-type]


def test_the_nearest_name_is_named() -> None:
    with pytest.raises(OptionError, match="did you mean 'utf-16-le'"):
        headrace.read_csv(TEXT.encode(), encoding="utf-16-lee")
    with pytest.raises(OptionError, match="strict"):
        headrace.read_csv(TEXT.encode(), encoding_errors="ignore")  # type: ignore[arg-type]


@pytest.mark.parametrize("codec", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("encoding", [None, "utf-8", "same", "family"])
def test_marks(codec: str, encoding: str | None) -> None:
    """A mark determines the encoding if none is given, and is not part of the text if one is."""
    named = {"same": codec, "family": codec[:6].rstrip("-") if codec != "utf-8" else "utf-8"}.get(encoding or "", encoding)
    assert headrace.read_csv(("\ufeff" + TEXT).encode(codec), encoding=named).to_pydict() == TABLE
    assert headrace.read_csv(("\ufeff" + TEXT).encode(codec), encoding=named).column_names == ["a", "b"]


def test_a_mark_is_text_in_another_encoding() -> None:
    assert headrace.read_csv(b"\xff\xfea,b\n1,2\n", encoding="latin-1").column_names == ["ÿþa", "b"]


def test_a_nul_behind_the_mark_of_utf16() -> None:
    data = b"\xff\xfe" + "\0a\n1\n".encode("utf-16-le")
    assert headrace.read_csv(data, encoding="utf-16").column_names == ["\0a"]


def test_text_of_a_file_object_is_not_decoded_again() -> None:
    assert headrace.read_csv(io.StringIO(TEXT), encoding="utf-16").to_pydict() == TABLE


def test_every_code_page_of_python() -> None:
    """The table of each codec contains its text of each byte; multi-byte codecs have no table."""
    pages = 0
    for codec in sorted({*encodings.aliases.aliases.values()} - {"mbcs", "oem", "tactis"}):
        try:
            TextEncoding.parse(codec, "strict")
        except OptionError:
            continue  # of bytes, such as hex
        page = code_page(codec)
        if page is None:
            assert codec.startswith(("utf", "big5", "cp9", "euc", "gb", "hz", "iso2022", "johab", "shift")), codec
            continue
        pages += 1
        for byte in range(256):
            try:
                assert page[byte] == bytes([byte]).decode(codec).encode()
            except UnicodeDecodeError:
                assert page[byte] == b"\xff"
    assert pages > 50
    assert code_page("punycode") is None
    assert code_page("unicode_escape") is None


def test_other_codecs_mark_what_they_cannot_decode() -> None:
    data = "a,b\n1,日本\n".encode("shift_jis") + b"2,\x81\n"
    with pytest.raises(ParseError, match="encoding="):
        headrace.read_csv(data, encoding="shift_jis")
    nulled = headrace.read_csv(data, encoding="shift_jis", on_error="null")
    assert nulled.to_pydict() == {"a": [1, 2], "b": ["日本", None]}
    mended = headrace.read_csv(data, encoding="shift_jis", encoding_errors="replace")
    assert mended.to_pydict() == {"a": [1, 2], "b": ["日本", "\ufffd"]}


def test_other_codecs_count_against_the_memory_limit() -> None:
    data = b"a\n" + "日本\n".encode("shift_jis") * 100_000
    with pytest.raises(MemoryLimitError, match="decoded from shift_jis"):
        headrace.read_csv(data, encoding="shift_jis", context=Context(memory_limit=100_000))


def test_replaced_strings_are_counted() -> None:
    data = b"a,b,c\n\xff,\xe2\x82,1\nx,\xe2\x82\xac,2\n\xf0\x9f\x98,\xc3,3\n"
    table = headrace.read_csv(data, encoding="utf8-lossy")
    assert table.to_pydict() == {"a": ["\ufffd", "x", "\ufffd"], "b": ["\ufffd", "€", "\ufffd"], "c": [1, 2, 3]}
    assert table.report.replaced == 4
    assert "strings with U+FFFD for undecodable bytes: 4" in str(table.report)
    assert headrace.read_csv(TEXT.encode(), encoding_errors="replace").report.replaced == 0


def test_replacing_triples_the_text() -> None:
    """Every byte of a long field becomes three bytes of the result."""
    for size in (1, 63, 64, 65, 100_000):
        for field in (b"\xff" * size, b'"' + b"\xff" * size + b'"'):
            table = headrace.read_csv(b"a,b\n" + field + b"," + field + b"\n", encoding="utf8-lossy")
            assert table.to_pydict() == {"a": ["\ufffd" * size], "b": ["\ufffd" * size]}


def test_numbers_are_not_mended() -> None:
    table = headrace.read_csv(b"a\n1\xff\n", dtypes="int8", encoding="utf8-lossy", on_error="null")
    assert (table.to_pydict(), table.rejects["kind"].to_pylist()) == ({"a": [None]}, ["type"])


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("all_latin1.csv", "latin-1"),
        ("latin1.csv", "latin-1"),
        ("only_latin1.csv", "latin-1"),
        ("all_utf16.csv", "utf-16"),
        ("only_utf16.csv", "utf-16"),
        ("utf16.csv", "utf-16"),
        ("shift_jis.csv", "shift_jis"),
        ("latin1.csv.gz", "latin-1"),
        ("utf16.csv.gz", None),
    ],
)
def test_files_of_duckdb(name: str, encoding: str | None) -> None:
    """Cells against Python's own codec and csv; both all_ files have a line for each character, quoted where it must be."""
    plain = (REAL / name.removesuffix(".gz")).read_bytes().decode(encoding or "utf-16")
    columns = len(next(csv.reader([plain.splitlines()[0]])))
    table = headrace.read_csv(REAL / name, encoding=encoding, header=False, infer_schema=False, null_values=(), on_error="reject")
    found = list(zip(*(column.to_pylist() for column in table.columns.values()), strict=True))
    same = headrace.read_csv(
        plain.encode(), encoding="utf-8", header=False, infer_schema=False, null_values=(), on_error="reject"
    )
    assert found == list(zip(*(column.to_pylist() for column in same.columns.values()), strict=True))
    assert table.report.rejected == same.report.rejected
    if not name.startswith("all_"):
        assert found == [tuple(row) for row in csv.reader(io.StringIO(plain, newline=""), strict=True)]
        assert len(table.columns) == columns
