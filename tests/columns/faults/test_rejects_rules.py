"""Tests faults: their kinds, their places, the treatment of their records, and that nothing goes missing."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from headrace import Context, ParseError, _native, read_csv
from headrace.testing.compare import assert_same_table
from headrace.testing.reference import ReferenceOptions
from headrace.testing.reference import read as read_reference
from headrace.testing.values import Words
from tests.columns.faults.rejects_cases import read

COLUMNS = ["record", "kept", "line", "line_byte", "byte", "column", "kind", "expected", "field", "text"]


def rejects(data: bytes, **options: object) -> list[tuple[Any, ...]]:
    columns = read(data, **options).rejects.to_pydict()
    assert list(columns) == COLUMNS
    return list(zip(*columns.values(), strict=True))


def test_no_fault_no_row() -> None:
    table = read(b"a\n1\n")
    assert (len(table.rejects), table.rejects.column_names) == (0, COLUMNS)
    assert [str(type_) for type_ in table.rejects.schema.values()] == [
        "uint64", "bool", "uint64", "uint64", "uint64", *["large_string"] * 5,
    ]  # fmt: skip
    assert table.rejects.to_arrow().num_rows == 0


@pytest.mark.parametrize(
    ("record", "byte", "kind"),
    [
        (b"1", 1, "too_few_fields"),
        (b"1,2,3", 4, "too_many_fields"),
        (b"1,2,", 4, "too_many_fields"),
        (b"1,2,3,4,5", 4, "too_many_fields"),
        (b'"1"2,3', 3, "quote"),
        (b'"1"2,3"4"', 3, "quote"),
        (b'"1"2', 3, "quote"),
        (b'"1"2,3,4', 3, "quote"),
    ],
)
def test_structure(record: bytes, byte: int, kind: str) -> None:
    """A record of the wrong structure is rejected whole by both policies, with one fault."""
    data = b"a,b\n7,8\n" + record + b"\n9,10\n"
    for policy in ("null", "reject"):
        table = read(data, on_error=policy)
        assert table.to_pydict() == {"a": [7, 9], "b": [8, 10]}
        assert rejects(data, on_error=policy) == [(2, False, 3, 8, 8 + byte, None, kind, None, None, record.decode())]
        assert (table.report.records, table.report.rows, table.report.rejected) == (4, 2, 1)


@pytest.mark.parametrize(
    ("type_name", "text", "kind"),
    [
        ("int8", "x", "type"),
        ("int8", "128", "overflow"),
        ("int8", "1.0", "type"),
        ("uint8", "-1", "overflow"),
        ("float32", "1e39", "overflow"),
        ("float64", "1e309", "overflow"),
        ("float64", "1.5.", "type"),
        ("bool", "yes", "type"),
        ("date32", "2023-02-29", "type"),
        ("date32", "2023-02-28 00:00", "type"),
        ("timestamp[s]", "2023-02-28 00:00:00.5", "overflow"),
        ("timestamp[us]", "2023-02-28 00:00:00Z", "type"),
        ("timestamp[ns]", "2263-01-01", "overflow"),
    ],
)
def test_values(type_name: str, text: str, kind: str) -> None:
    data = f"a,b\nx,\ny,{text}\nz,\n".encode()
    at = data.index(f"{text}\nz".encode())
    fault = (2, 3, 7, at, "b", kind, type_name, text, f"y,{text}")
    nulled = read(data, dtypes={"b": type_name}, on_error="null")
    assert nulled["b"].to_pylist() == [None, None, None]
    assert (nulled.report.rows, nulled.report.rejected) == (3, 0)
    assert rejects(data, dtypes={"b": type_name}, on_error="null") == [(fault[0], True, *fault[1:])]
    rejected = read(data, dtypes={"b": type_name}, on_error="reject")
    assert rejected["a"].to_pylist() == ["x", "z"]
    assert rejects(data, dtypes={"b": type_name}, on_error="reject") == [(fault[0], False, *fault[1:])]
    with pytest.raises(ParseError) as caught:
        read(data, dtypes={"b": type_name})
    error = caught.value
    assert (error.record, error.line, error.byte, error.column, error.kind, error.expected, error.text) == (
        2, 3, at, "b", kind, type_name, text,
    )  # fmt: skip
    assert f"record 2 (line 3, byte {at}), column 'b'" in str(error)
    assert "pass on_error='null' or 'reject'" in str(error)


def test_an_error_travels_between_processes() -> None:
    with pytest.raises(ParseError) as caught:
        read(b"a\nx\n", dtypes={"a": "int8"})
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), vars(copy)) == (str(caught.value), vars(caught.value))


def test_several_faults_of_a_record() -> None:
    """One row each; a rejected record counts once."""
    data = b"a,b,c\nx,1,y\n1,2,3\n4,z,5\n"
    types = dict.fromkeys("abc", "int8")
    assert [row[:7] for row in rejects(data, dtypes=types, on_error="reject")] == [
        (1, False, 2, 6, 6, "a", "type"),
        (1, False, 2, 6, 10, "c", "type"),
        (3, False, 4, 18, 20, "b", "type"),
    ]
    table = read(data, dtypes=types, on_error="reject")
    assert table.to_pydict() == {"a": [1], "b": [2], "c": [3]}
    assert (table.report.rejected, table.report.faults) == (2, 3)
    nulled = read(data, dtypes=types, on_error="null")
    assert nulled.to_pydict() == {"a": [None, 1, 4], "b": [1, 2, None], "c": [None, 3, 5]}
    assert (nulled.report.rejected, nulled.report.faults) == (0, 3)


def test_lines_count_inside_quotes_too() -> None:
    """LF, CR LF and CR each end a line, wherever they are; a record has the number of the line it begins in."""
    data = b'a,b\r\n"1\n2\r3\r\n4",5\r\r\n\n6,x\n"7\n",y\n'
    assert [(row[0], row[2]) for row in rejects(data, dtypes={"b": "int64"}, on_error="null")] == [(2, 8), (3, 9)]
    with pytest.raises(ParseError, match=r"record 2 \(line 8, "):
        read(data, dtypes={"b": "int64"})


@pytest.mark.parametrize("where", ["memory", "file", "utf-16-le"])
def test_lines_beyond_a_megabyte(where: str, tmp_path: Path) -> None:
    """A CR LF may lie across the border of a counted part. No byte of a file after the border is there by chance."""
    for shift in range(-2, 3):
        border = (1 << 19) if where.startswith("utf") else (1 << 20)
        front = b"a\n" + b"1" * (border - 3 + shift) + b"\r\n"
        data: Any = front + b"x\r\n" + b"1\r\n" * 400_000 + b"y\r\n"
        options: dict[str, Any] = {"encoding": where} if where.startswith("utf") else {}
        if where.startswith("utf"):
            data = data.decode().encode(where)
        if where != "memory":
            (tmp_path / "lines.csv").write_bytes(data)
            data = str(tmp_path / "lines.csv")
        found = rejects(data, dtypes={"a": "float64"}, on_error="null", threads=2, **options)
        assert [row[0] for row in found[-2:]] == [2, 400_003]
        assert [row[2] for row in found[-2:]] == [3, 400_004]


@pytest.mark.parametrize(
    "end", [b"\n", b"\r", b"\r\n", b"1\n", b"12345678\r\n", b"1" * 15 + b"\n", b"1" * 14 + b"\r\n", b"1" * 16 + b"\n"]
)
@pytest.mark.parametrize("ends", [255, 256, 257, 5000, 20_000])
def test_lines_are_counted_however_many_end_in_one_lane(end: bytes, ends: int) -> None:
    """Sixteen bytes are read at once, and each of the sixteen counters goes up to 255: all lines may end in the same of them."""
    for front in (b"a\n", b"aaaa\n"):
        data = front + end * ends + b"x\n"
        (fault,) = rejects(data, dtypes="float64", on_error="null")
        assert (fault[2], fault[3]) == (ends + 2, len(data) - 2)


def test_comments_blank_lines_and_header_are_no_data_records() -> None:
    data = b"\n#c\na\n\n1\n#d\nx\n\n"
    table = read(data, comment="#", dtypes={"a": "int64"}, on_error="reject")
    skipped = table.report.skipped
    assert (skipped.header, skipped.blank, skipped.comment, skipped.total) == (1, 3, 2, 6)
    assert (table.report.records, table.report.rows, table.report.rejected) == (8, 1, 1)
    assert rejects(data, comment="#", dtypes={"a": "int64"}, on_error="null")[0][:5] == (2, True, 7, 12, 12)


def test_raw_text_is_shown_as_it_stands() -> None:
    data = b'a,b\n"x""y",\xff\xe2\x82\n'
    rows = rejects(data, on_error="null", dtypes={"a": "int8"})
    assert [row[-2:] for row in rows] == [('"x""y"', '"x""y",\\xFF\\xE2\\x82'), ("\\xFF\\xE2\\x82", '"x""y",\\xFF\\xE2\\x82')]


@pytest.mark.parametrize("isa", _native.isas())
@pytest.mark.parametrize("policy", ["null", "reject"])
def test_rejects_at_every_place(policy: str, isa: str) -> None:
    """Rows leave any column type from any place, also around the borders of words of 64 bits and of tiles."""
    types = ["int8", "float64", "bool", "string", "date32", "timestamp[us]", "large_string"]
    good = [b"1", b"2.5", b"true", b"text", b"2024-01-01", b"2024-01-01 00:00:00", b"more"]
    header = b",".join(b"c%d" % i for i in range(len(types)))
    for rows, bad in (
        (1, {0}),
        (3, {0, 2}),
        (70, {0, 63, 64, 69}),
        (200, set(range(0, 200, 3))),
        (130, set(range(130))),
        (129, {128}),
    ):
        lines = [header]
        for row in range(rows):
            cells = [b"" if (row + i) % 5 == 0 else cell for i, cell in enumerate(good)]
            if row in bad:
                cells[row % 3] = b"?"
            if row % 7 == 6:
                cells.pop()
            lines.append(b",".join(cells))
        data = b"\n".join(lines)
        expected = read_reference(
            data, ReferenceOptions(header=True, types=dict(enumerate(types)), on_error=policy, words=Words(null=(b"",)))
        )
        for chunk_bytes, threads in ((1, 2), (100, 4), (1 << 20, 1)):
            table = read(
                data,
                header=True,
                schema=types,
                on_error=policy,
                context=Context(isa=isa),
                chunk_bytes=chunk_bytes,
                threads=threads,
            )
            assert_same_table(table, expected)


def test_all_records_rejected() -> None:
    table = read(b"a,b\nx,1\ny,2\n", dtypes={"a": "int64"}, on_error="reject")
    assert (table.num_rows, table.report.rejected) == (0, 2)
    assert table.to_pydict() == {"a": [], "b": []}
    assert table.to_arrow().num_rows == 0


@pytest.mark.parametrize("chunk_bytes", [4096, 256 << 10, 1 << 20])
@pytest.mark.parametrize(("last", "column"), [(b"x\xff,1\n1,y\n", "a"), (b"x\xff,y\n", "a")])
def test_the_first_fault_is_raised_whatever_the_chunk_size(last: bytes, column: str, chunk_bytes: int) -> None:
    """Column a turns out to be text after the sample, so its fault is found in a second pass, b's in the first."""
    data = b"a,b\n" + b"1,1\n" * 70_000 + last
    with pytest.raises(ParseError) as caught:
        read(data, dtypes={"b": "int64"}, chunk_bytes=chunk_bytes, threads=2)
    assert (caught.value.record, caught.value.column, caught.value.kind) == (70_001, column, "encoding")


def test_many_faults() -> None:
    data = b"a,b\n" + b"x,1\n" * 300_000
    table = read(data, dtypes={"a": "int64"}, on_error="null", threads=2)
    assert (table.num_rows, len(table.rejects)) == (300_000, 300_000)
    assert table.rejects["record"].to_pylist() == list(range(1, 300_001))
    assert table.rejects["byte"].to_pylist() == list(range(4, 4 + 4 * 300_000, 4))


def test_bits_after_the_retained_rows_are_zero() -> None:
    data = b"a,b\ntrue,1\ntrue,x\ntrue,2\n"
    table = read(data, dtypes={"a": bool, "b": int}, on_error="reject")
    assert table["a"].to_pylist() == [True, True]
    assert bytes(memoryview(table["a"].values)) == b"\x03"


@pytest.mark.parametrize("isa", _native.isas())
@pytest.mark.parametrize("on_error", ["null", "reject"])
@pytest.mark.parametrize("rows", [1, 7, 8, 9, 63, 64, 65, 127, 129])
def test_validity_is_zero_after_the_last_row(rows: int, on_error: str, isa: str) -> None:
    """Null marks become validity a word at a time. Marks of the word after the last row must not become a value."""
    lines = [b"" if row % 5 == 0 else b"1" for row in range(rows)]
    data = b"a,b,c\n" + b"".join(b"%s,%s,%s\n" % (b"x" if row % 3 == 2 else one, one, one) for row, one in enumerate(lines))
    table = read(data, schema=["int64", "string", "bool"], on_error=on_error, context=Context(isa=isa))
    for name, column in table.columns.items():
        wanted = [value is not None for value in column.to_pylist()]
        bits = int.from_bytes(bytes(memoryview(column.validity)), "little")
        assert bits == sum(1 << place for place, valid in enumerate(wanted) if valid), name
        assert len(memoryview(column.validity)) == -(-len(wanted) // 8)


def test_two_faults_of_a_record_are_in_the_order_of_their_places() -> None:
    data = b"x,y\n" + b'a"b,c,d\n' * 40
    table = read(data, lenient_quotes=True, on_error="reject")
    assert table.rejects["kind"].to_pylist() == ["quote", "too_many_fields"] * 40
    assert table.rejects["kept"].to_pylist() == [False] * 80


@pytest.mark.parametrize(
    ("text", "options", "kept"),
    [
        (b"a\nx,2\n", {"long_records": "truncate"}, [False, False]),
        (b"a\n1,2\nx,2\n", {"long_records": "truncate"}, [True, False, False]),
        (b'a\nx"\n', {"lenient_quotes": True}, [False, False]),
        (b'a\n1,"2"3\n', {"lenient_quotes": True, "long_records": "reject"}, [False, False]),
        (b'a\n"1"2,3\n', {"lenient_quotes": True, "long_records": "reject"}, [False, False]),
    ],
)
def test_every_fault_of_a_rejected_record_is_marked_as_rejected(text: bytes, options: dict, kept: list[bool]) -> None:
    table = read_csv(text, dtypes="int64", on_error="reject", header=True, **options)
    table.report.check()
    assert table.rejects["kept"].to_pylist() == kept
    assert table.report.rejected == len({r for r, k in zip(table.rejects["record"], kept, strict=True) if not k})


def test_rows_are_numbered_beside_records_with_two_faults() -> None:
    text = b'a\n1\n1,2,"2"3\n"4"5,6\n7\n'
    table = read_csv(text, header=True, lenient_quotes=True, long_records="reject", row_index_name="i", on_error="reject")
    assert table["i"].to_pylist() == [0, 3]


def test_rejected_rows_are_not_counted_as_filled() -> None:
    text = b"a,b\nx\n1\n2,3\ny\n"
    table = read_csv(text, dtypes="int64", on_error="reject", short_records="null")
    assert (table.report.filled, table["a"].to_pylist(), table["b"].to_pylist()) == (1, [1, 2], [None, 3])
    wide = read_csv(b"a,b,c\nx,y\n1,2\n", dtypes="int64", on_error="reject", short_records="null")
    assert wide.report.filled == 1
    assert read_csv(text, dtypes="int64", on_error="null", short_records="null").report.filled == 3


@pytest.mark.parametrize("chunk_bytes", [4, None])
@pytest.mark.parametrize("options", [{"dtypes": "dictionary"}, {"strings": "dictionary"}])
def test_a_dictionary_column_expects_texts_however_they_are_coded(options: dict[str, Any], chunk_bytes: int | None) -> None:
    """Texts that the conversion codes at once are int32 in memory, and texts in the message."""
    table = read_csv(b"a\nx\nx\xff\nx\n", header=True, on_error="null", chunk_bytes=chunk_bytes, **options)
    assert table.rejects["expected"].to_pylist() == ["string"]
    assert table.to_pydict() == {"a": ["x", None, "x"]}
