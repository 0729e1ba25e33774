"""Tests bad input and misuse: a clear error or rejects; never a crash, a hang, a wrong row or lost data."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from headrace import EmptyInputError, OptionError, ParseError, SourceError, Table, read_csv

POLICIES = ["raise", "null", "reject"]


def read(source: object, **options: object) -> Table:
    table = read_csv(source, **options)  # type: ignore[arg-type]
    table.report.check()
    return table


@pytest.mark.parametrize("header", [True, "infer"])
@pytest.mark.parametrize("text", [b'"a,b\n1,2\n3,4\n', b'a,"b\n1,2\n', b'"a"x,b\n1,2\n'])
def test_header_with_malformed_quotes_is_not_taken_quietly(text: bytes, header: object) -> None:
    """A header whose quote never closes would swallow all records."""
    with pytest.raises(ParseError, match="quote"):
        read(text, header=header)


@pytest.mark.parametrize(
    "text", [b'a,b\n1,"2\n3,4\n', b'a,b\n1,"2', b'a,b\n1,"', b'a,b\n1,"2""', b'a,b\n1,"\n\n\n', b'a,b\n"1,2']
)
@pytest.mark.parametrize("chunk_bytes", [1, 5, 4096])
def test_truncated_quote(text: bytes, chunk_bytes: int) -> None:
    with pytest.raises(ParseError, match=r"record 1 \(line 2, byte \d+\).*inside quotes.*on_error=") as caught:
        read(text, chunk_bytes=chunk_bytes)
    assert (caught.value.kind, caught.value.byte) == ("unclosed_quote", text.index(b'"'))
    for policy in ("null", "reject"):
        table = read(text, on_error=policy, chunk_bytes=chunk_bytes)
        assert table.num_rows == 0
        assert (table.report.rejected, table.rejects["kind"].to_pylist()) == (1, ["unclosed_quote"])
        assert table.rejects["text"][0] == text[4:].decode()


@pytest.mark.parametrize("escape", ["\\", "~"])
def test_escape_at_the_very_end_is_kept(escape: str) -> None:
    assert read(b"a\nb" + escape.encode(), escape_char=escape).to_pydict() == {"a": ["b" + escape]}


@pytest.mark.parametrize(("text", "options"), [(b'"b"\n', {"lineterminator": "\n\n"}), (b'"b"|', {"sep": "||"})], ids=str)
def test_delimiter_that_breaks_off_behind_quotes_at_the_end(text: bytes, options: dict[str, str]) -> None:
    """The byte after the quotes is part of no delimiter, so it is text after a closing quote."""
    table = read(text, header=False, on_error="null", **options)
    assert (table.num_rows, table.rejects["kind"].to_pylist()) == (0, ["quote"])


@pytest.mark.parametrize("options", [{"escape_char": b"\xc3"}, {"quote_char": b"\xc3"}, {"sep": b"\xc3"}], ids=str)
def test_half_characters_as_options_make_no_text_that_is_not_utf8(options: dict[str, bytes]) -> None:
    try:
        table = read(b"a\nb\xc3\xa9\n\xc3\xa9\n", on_error="null", header=True, **options)
    except OptionError:
        return
    for column in table.columns.values():
        column.to_pylist()


def test_nul_bytes_are_data() -> None:
    assert read(b"a\0,b\n\0,1\n\0\0x\0,2\n").to_pydict() == {"a\0": ["\0", "\0\0x\0"], "b": [1, 2]}
    with pytest.raises(ParseError, match=r"record 1 .*column 'a': expected int64, got '1\\x00'"):
        read(b"a\n1\0\n", dtypes={"a": "int64"})


BAD_UTF8 = [
    b"\x80",
    b"\xff",
    b"\xc3",
    b"\xc3(",
    b"\xe2\x82",
    b"\xe2\x28\xa1",
    b"\xf0\x9f\x98",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xc0\xaf",
]


@pytest.mark.covering(default=2)
@pytest.mark.parametrize("bad", BAD_UTF8)
@pytest.mark.parametrize("before", ["", "x", "é", "x" * 62, "x" * 63, "é" * 32, "😀" * 33])
@pytest.mark.parametrize("quoted", [False, True])
def test_invalid_utf8_is_found_at_its_first_byte(bad: bytes, before: str, quoted: bool) -> None:
    quote = b'"' if quoted else b""
    line = quote + before.encode() + bad + quote + b",1"
    data = b"a,b\nfine,0\n" + line + b"\nfine,2\n"
    at = data.index(bad, 11 + len(quote) + len(before.encode()))
    with pytest.raises(ParseError, match="not UTF-8") as caught:
        read(data)
    assert (caught.value.byte, caught.value.record, caught.value.column) == (at, 2, "a")
    nulled = read(data, on_error="null")
    assert nulled.to_pydict() == {"a": ["fine", None, "fine"], "b": [0, 1, 2]}
    assert nulled.rejects["byte"].to_pylist() == [at]
    rejecting = read(data, on_error="reject")
    assert rejecting.to_pydict() == {"a": ["fine", "fine"], "b": [0, 2]}
    assert "\\x" in rejecting.rejects["text"][0]


@pytest.mark.parametrize("on_error", ["null", "reject"])
def test_malformed_names_of_a_header_stay_as_they_are_written(on_error: str) -> None:
    text = b'c,"a, b"x,"d" ,"e"\n1,2,3,4\n'
    table = read(text, on_error=on_error)
    assert table.to_pydict() == {"c": [1], '"a, b"x': [2], '"d" ': [3], "e": [4]}
    assert table.rejects.select(["record", "kind"]).to_pydict() == {"record": [0], "kind": ["quote"]}


def test_invalid_utf8_in_a_header_is_shown_and_reported() -> None:
    table = read(b"a\xff,b\n1,2\n", on_error="reject")
    assert table.column_names == ["a\\xff", "b"]
    assert any("not UTF-8" in old for old in table.report.renamed)
    assert table.rejects["kind"].to_pylist() == ["encoding"]


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"\x1f\x8b\x08\0rest", "cannot be decompressed as gzip"),
        (b"PAR1\x15\x04\x15\0", "Parquet"),
        (b"PK\x03\x04....", "zip"),
        (b"ARROW1\0\0rest", "Arrow"),
        (b"Obj\x01rest", "Avro"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Office"),
        (b"\x89HDF\r\n\x1a\n", "HDF5"),
        (b"7z\xbc\xaf\x27\x1c", "7z"),
        (b"Rar!\x1a\x07", "rar"),
    ],
)
def test_foreign_files_are_named(data: bytes, what: str) -> None:
    with pytest.raises(SourceError, match=f"<bytes> .*{what}"):
        read(data)


@pytest.mark.parametrize("text", [b"a,b\n1,2\n", b'"a",b\n1,2\n'])
def test_utf8_mark_is_dropped(text: bytes) -> None:
    for chunk_bytes in (1, 2, 3, 4, 64):
        table = read(b"\xef\xbb\xbf" + text, chunk_bytes=chunk_bytes)
        assert table.to_pydict() == {"a": [1], "b": [2]}
        assert table.report.bytes == len(text) + 3


@pytest.mark.parametrize("text", [b"", b"\n", b"\r\n\r\n\n\r", b"\xef\xbb\xbf", b"# x\n#", b"\n\n#y\n\n"])
def test_no_record(text: bytes) -> None:
    with pytest.raises(EmptyInputError, match="no record; pass schema= or names="):
        read(text, comment="#")
    table = read(text, comment="#", schema={"x": "int8", "y": "string"})
    assert (table.num_rows, [str(t) for t in table.schema.values()]) == (0, ["int8", "string"])
    assert table.to_arrow().schema.names == ["x", "y"]
    assert read(text, comment="#", names=["x"]).column_names == ["x"]


@pytest.mark.parametrize("options", [{"schema": {}}, {"schema": []}, {"names": []}], ids=str)
def test_no_record_and_no_column(options: dict[str, object]) -> None:
    """In a process of its own: this has crashed."""
    code = f"import headrace as h\ntry: h.read_csv(b'', **{options!r})\nexcept h.HeadraceError as e: print(type(e).__name__)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout.strip() in ("EmptyInputError", "OptionError")) == (0, True), ended.stderr


@pytest.mark.parametrize("text", [b"a,b", b"a,b\n", b"a,b\r\n\r\n\n", b"\n\na,b\n"])
def test_header_only(text: bytes) -> None:
    table = read(text)
    assert (table.num_rows, table.column_names, table.report.skipped.header) == (0, ["a", "b"], 1)
    assert table.to_arrow().num_rows == 0
    assert read(text, header=False).num_rows == 1


MILLION = """
import resource
import headrace
n = 1_000_000
table = headrace.read_csv((",".join(f"c{i}" for i in range(n)) + "\\n" + ",".join(map(str, range(n))) + "\\n").encode())
table.report.check()
assert (table.num_rows, table.num_columns) == (1, n)
assert all(table[i].to_pylist() == [i] for i in range(0, n, 999))
assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 4_000_000, "kilobytes"
assert resource.getrusage(resource.RUSAGE_SELF).ru_utime < 30, "seconds"
"""


@pytest.mark.long
def test_a_million_columns() -> None:
    subprocess.run([sys.executable, "-c", MILLION], check=True, timeout=300)


@pytest.mark.parametrize("threads", [2, pytest.param(1, marks=pytest.mark.long)])
def test_a_hundred_thousand_columns(threads: int) -> None:
    n = 100_000
    rows = [[f"{row * n + i}" if i % 3 else "x" for i in range(n)] for row in range(3)]
    data = "\n".join(",".join(row) for row in [[f"c{i}" for i in range(n)], *rows]).encode()
    table = read(data, threads=threads)
    assert (table.num_rows, table.num_columns) == (3, n)
    for i in (0, 1, 2, 50_000, n - 1):
        assert table[i].to_pylist() == [row[i] if i % 3 == 0 else int(row[i]) for row in rows]


@pytest.mark.long
def test_more_rows_than_31_bits_count(tmp_path: Path) -> None:
    """Empty records of a sparse file, and a fault in the last of them; some 12 s, 300 MB."""
    rows = 2**31 + 9
    with (tmp_path / "a.csv").open("wb") as file:
        file.seek(rows - 1)
        file.write(b"x")
    options: dict[str, Any] = {"quote_char": None, "lineterminator": "\0", "skip_blank_lines": False, "on_error": "null"}
    table = read(tmp_path / "a.csv", header=False, schema={"a": "null"}, **options)
    assert (len(table), table["a"].null_count, pa.table(table).num_rows) == (rows, rows, rows)
    assert [table.rejects[name].to_pylist() for name in ("record", "byte", "field")] == [[rows], [rows - 1], ["x"]]


@pytest.mark.long
def test_texts_of_more_than_31_bits_count(tmp_path: Path) -> None:
    """Records of 1 MB of a sparse file; some 7 s, 2.2 GB."""
    rows = 2**11 + 1
    with (tmp_path / "a.csv").open("wb") as file:
        for row in range(1, rows + 1):
            file.seek(row * 2**20 - 5)
            file.write(b"%04d\n" % row)
    table = read(tmp_path / "a.csv", header=False, names=["a"])
    assert (str(table["a"].type), len(table)) == ("large_string", rows)
    for row in (1, 2047, 2048, 2049):
        assert table["a"][row - 1] == "\0" * (2**20 - 5) + f"{row:04}"


@pytest.mark.covering(default=0)
@pytest.mark.parametrize("quoted", [False, True])
def test_a_field_of_50_mb(quoted: bool) -> None:
    field = b"0123456789" * 5_000_000
    written = b'"' + field.replace(b"9", b"\n") + b'"' if quoted else field
    expected = field.replace(b"9", b"\n") if quoted else field
    table = read(b"a,b\n1," + written + b"\n2,x\n")
    assert table["a"].to_pylist() == [1, 2]
    assert table["b"][1] == "x"
    assert table["b"][0].encode() == expected
    with pytest.raises(ParseError) as caught:
        read(b"a,b\n1," + written + b"\n", dtypes={"b": "int64"})
    assert len(str(caught.value)) < 1000
