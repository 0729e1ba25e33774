"""One test for each rule of `read_csv` about headers, names, nulls, words and how a text is written."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from headrace import Context, Table, _native, read_csv
from headrace.api.options.table import ALIASES


def read(data: bytes, **options: Any) -> Table:
    table = read_csv(data, **options)
    table.report.check()
    return table


@pytest.mark.parametrize(
    ("text", "is_header"),
    [
        (b"a,b\n1,2\n", True),
        (b"a,b\n", True),
        (b"a,\n1,2\n", True),
        (b"a,1\nb,2\n", True),
        (b"a,1\nb,2\na,3\n", False),
        (b"1,2\n3,4\n", False),
        (b",\n1,2\n", False),
        (b"a,2024-01-01\nb,c\n", True),
        (b"a,nan\nb,c\n", True),
        (b"007,b\n1,c\n", True),
        (b'"1",b\n2,c\n', True),
        (b'"1",2\n2,3\n', False),
        (b"+1,b\n2,c\n", True),
    ],
)
def test_header_is_inferred_from_the_first_record(text: bytes, is_header: bool) -> None:
    table = read(text)
    records = text.count(b"\n")
    assert (table.num_rows, table.report.skipped.header) == (records - is_header, int(is_header))
    if not is_header:
        assert table.column_names == ["column_1", "column_2"]


def test_header_given() -> None:
    assert read(b"1,2\n3,4\n", header=True).to_pydict() == {"1": [3], "2": [4]}
    assert read(b"a,b\n1,2\n", header=False).to_pydict() == {"column_1": ["a", "1"], "column_2": ["b", "2"]}


def test_names() -> None:
    assert read(b"1,2\n", names=["x", "y"]).to_pydict() == {"x": [1], "y": [2]}
    assert read(b"x,y\n1,2\n", names=["x", "y"]).to_pydict() == {"x": [1], "y": [2]}
    assert read(b"a,b\n1,2\n", names=["x", "y"], header=True).to_pydict() == {"x": [1], "y": [2]}
    assert read(b"a,b\n1,2\n", names=["x", "y"]).to_pydict() == {"x": ["a", "1"], "y": ["b", "2"]}


@pytest.mark.parametrize(
    ("header", "names"),
    [
        (b"a,a", ["a", "a_1"]),
        (b"a,,a", ["a", "column_2", "a_1"]),
        (b"a,a_1,a", ["a", "a_1", "a_2"]),
        (b"a,a,a_1", ["a", "a_2", "a_1"]),
        (b",column_1,", ["column_1_1", "column_1", "column_3"]),
        (b"A,a", ["A", "a"]),
        (b'"a b","a""b"', ["a b", 'a"b']),
        (b'"a\nb",c', ["a\nb", "c"]),
    ],
)
def test_names_are_made_unique_and_reported(header: bytes, names: list[str]) -> None:
    table = read(header + b"\n" + b",".join([b"1"] * len(names)) + b"\n", header=True)
    assert table.column_names == names
    renamed = set(names) - set(header.replace(b'""', b'"').replace(b'"', b"").decode().split(","))
    assert set(table.report.renamed.values()) >= {name for name in renamed if name[0] in "ac" and len(name) > 1 and "_" in name}


def test_schema_and_dtypes() -> None:
    data = b"a,b\n1,2\n"
    assert [str(t) for t in read(data, schema={"b": "int8", "a": str}).schema.values()] == ["string", "int8"]
    assert [str(t) for t in read(data, schema=["float32", "uint8"], header=True).schema.values()] == ["float32", "uint8"]
    assert [str(t) for t in read(data, dtypes={-1: "int16"}).schema.values()] == ["int64", "int16"]
    assert [str(t) for t in read(data, dtypes="string").schema.values()] == ["string", "string"]
    assert read(b"1,2\n", schema={"x": "int8", "y": "int8"}).to_pydict() == {"x": [1], "y": [2]}
    assert [column.inferred for column in read(data, dtypes={"a": int}).report.columns] == [False, True]


def test_types_of_columns_that_long_records_add() -> None:
    text, options = b"a,b\n1,2,3,4\n", {"header": True, "long_records": "widen"}
    for dtypes, types in (
        ("string", ["string"] * 4),
        ({"column_4": "float32", "b": "int8"}, ["int64", "int8", "int64", "float32"]),
        ({-1: "int8"}, ["int64", "int64", "int64", "int8"]),
        ([str, str, int, float], ["string", "string", "int64", "float64"]),
    ):
        assert [str(one) for one in read(text, dtypes=dtypes, **options).schema.values()] == types
        files = [text, b"a,b\n5,6\n"]
        assert [str(one) for one in read(files, dtypes=dtypes, **options).schema.values()] == types
    table = read(text, schema={"a": "int8", "b": "int16"}, **options)
    assert [str(one) for one in table.schema.values()] == ["int8", "int16", "int64", "int64"]
    assert read(text, dtypes=str, header=True, long_records="collect").to_pydict()["extra_fields"] == ["3,4"]


def test_header_of_several_records() -> None:
    data = b"trips\nx,y,y\nkm,s,\n1,2,3\n"
    assert read(data, header=[1, 2]).to_pydict() == {"x_km": [1], "y_s": [2], "y": [3]}
    assert read(data, header=1, skip_rows_after_header=1).to_pydict() == {"x": [1], "y": [2], "y_1": [3]}
    assert read(data, header=[1, 2]).report.skipped.preamble == 1


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_a_line_that_is_skipped_ends_as_records_do(end: bytes) -> None:
    table = read_csv(end.join([b"a title", b"by us", b"n", b"1", b""]), skip_rows=2)
    assert table.to_pydict() == {"n": [1]}
    assert table.report.skipped.preamble == 2


def test_columns_left_out_are_not_converted() -> None:
    data = b"a,b\n1,x\n2,\xff\n"
    types = {"a": "int8", "b": "int8"}
    table = read(data, schema=types, columns=["a"])
    assert (table.to_pydict(), table.rejects.num_rows) == ({"a": [1, 2]}, 0)
    assert read(data, schema=types, on_error="null").rejects["column"].to_pylist() == ["b", "b"]


def test_nulls() -> None:
    data = b'a,b\n,""\nNA,"NA"\nx,y\n'
    assert read(data).to_pydict() == {"a": [None, "NA", "x"], "b": ["", "NA", "y"]}
    assert read(data, null_values="NA").to_pydict() == {"a": ["", None, "x"], "b": ["", "NA", "y"]}
    assert read(data, null_values=["", "NA"], quoted_null=True).to_pydict() == {"a": [None, None, "x"], "b": [None, None, "y"]}
    assert read(data, null_values=()).to_pydict() == {"a": ["", "NA", "x"], "b": ["", "NA", "y"]}
    assert read(b"a,b\n -,1\n-,2\n", null_values="-", skip_initial_space=True)["a"].to_pylist() == [None, None]
    assert read(b"a\ntrue\nfalse\n", null_values="false")["a"].to_pylist() == [True, None]


def test_nulls_by_column() -> None:
    data = b"a,b,c\nNA,NA,\n,-,NA\n1,2,3\n"
    by_name = read(data, null_values={"a": ["NA", ""], "b": "-"})
    assert by_name.to_pydict() == {"a": [None, None, 1], "b": ["NA", None, "2"], "c": [None, "NA", "3"]}
    assert read(data, null_values={0: ("", "NA"), -2: ["-"]}).to_pydict() == by_name.to_pydict()
    assert read(data, null_values={}).to_pydict() == read(data).to_pydict()
    assert read(b"a,b\n0,0\n1,1\n", null_values={"b": "0"}).to_pydict() == {"a": [0, 1], "b": [None, 1]}
    dates = read(b"a,b\n3.1.2024,1\n0.0.0,2\n", null_values={"a": "0.0.0"}, date_format={"a": "%d.%m.%Y"})
    assert dates["a"].to_pylist() == [datetime.date(2024, 1, 3), None]


def test_words_of_booleans() -> None:
    assert read(b"a\nyes\nno\n", true_values="yes", false_values=["no"])["a"].to_pylist() == [True, False]
    assert read(b"a\n1\n0\n", true_values="1", false_values="0")["a"].to_pylist() == [True, False]
    assert read(b"a\n1\n0\n", true_values="1", false_values="0", dtypes={"a": "int8"})["a"].to_pylist() == [1, 0]
    assert read(b"a\nyes\nno\n")["a"].to_pylist() == ["yes", "no"]


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        (b"a;b\n1;2\n", {"sep": ";"}, {"a": [1], "b": [2]}),
        (b"a||b\n1||2\n", {"sep": "||"}, {"a": [1], "b": [2]}),
        ("a→b\n1→2\n".encode(), {"sep": "→"}, {"a": [1], "b": [2]}),
        (b"a,b;1,2;", {"lineterminator": ";"}, {"a": [1], "b": [2]}),
        (b"a,b\r1,2\r\n3,4\n5,6", {}, {"a": [1, 3, 5], "b": [2, 4, 6]}),
        (b"a,b\n'x,y','it''s'\n", {"quote_char": "'"}, {"a": ["x,y"], "b": ["it's"]}),
        (b'a,b\n"x\\"y",z\\,z\n', {"escape_char": "\\"}, {"a": ['x"y'], "b": ["z,z"]}),
        (b'a,b\n"x,2\n', {"quote_char": None}, {"a": ['"x'], "b": [2]}),
        (b'a, b\n 1, "x"\n', {"skip_initial_space": True}, {"a": [1], "b": ["x"]}),
        (b'a , b \n 1 , "x " \n2,  \n', {"strip": True}, {"a": [1, 2], "b": ["x ", None]}),
        (b"a, b\n 1, x\n", {}, {"a": [" 1"], " b": [" x"]}),
        (b"#x\na,b\n#1,2\n3,#4\n", {"comment": "#"}, {"a": [3], "b": ["#4"]}),
        (b'a,b\n"x\n\ny",1\n', {}, {"a": ["x\n\ny"], "b": [1]}),
        (b"a\n\n1\n", {"skip_blank_lines": False}, {"a": [None, 1]}),
    ],
    ids=str,
)
def test_how_a_text_is_written(text: bytes, options: dict[str, Any], expected: dict[str, list[Any]]) -> None:
    for chunk_bytes in (1, 3, 64, None):
        assert read(text, chunk_bytes=chunk_bytes, **options).to_pydict() == expected


@pytest.mark.parametrize(
    ("text", "cells", "repaired"),
    [
        (b'x"y,1\n"p"q",2\n', ['x"y', 'p"q'], [1, 2]),
        (b'"open,1\nz,2\n', ['"open', "z"], [1]),
        (b'the "best" one,1\n"5"" disk",2\n"a" b,3\n', ['the "best" one', '5" disk', '"a" b'], [1, 3]),
        (b'"a\n""b""",1\n"c",2\n', ['a\n"b"', "c"], []),
    ],
)
def test_lenient_quotes(text: bytes, cells: list[str], repaired: list[int]) -> None:
    for chunk_bytes in (1, 3, None):
        table = read(b"a,b\n" + text, lenient_quotes=True, chunk_bytes=chunk_bytes)
        assert table.to_pydict() == {"a": cells, "b": list(range(1, len(cells) + 1))}
        assert table.rejects["record"].to_pylist() == repaired
        assert all(table.rejects["kept"].to_pylist())


def test_types_come_out_as_python_has_them() -> None:
    table = read(b"d,t,u,n\n2024-02-29,2024-02-29 01:02:03.5,2024-02-29T01:02+02:00,2024-02-29 00:00:00.000000001\n")
    assert [column[0] for column in table.columns.values()] == [
        datetime.date(2024, 2, 29),
        datetime.datetime(2024, 2, 29, 1, 2, 3, 500_000),
        datetime.datetime(2024, 2, 28, 23, 2, tzinfo=datetime.UTC),
        1709164800000000001,
    ]


@pytest.mark.parametrize("alias", sorted(ALIASES))
def test_aliases_mean_the_same(alias: str) -> None:
    values: dict[str, Any] = {
        "sep": ";", "header": False, "names": ["x"], "dtypes": "string", "null_values": "1", "quote_char": "'",
        "double_quote": False, "escape_char": "\\", "comment": "#", "lineterminator": ";", "skip_initial_space": True,
        "columns": [0], "skip_rows": 1, "skip_rows_after_header": 1, "n_rows": 1, "skip_footer": 1,
        "include_file_paths": "path",
        "decimal": ",", "thousands": "_", "date_format": "%d/%m/%Y",
        "skip_blank_lines": False, "quoted_null": True, "threads": 1, "chunk_bytes": 1, "max_rejects": 1,
    }  # fmt: skip
    own = ALIASES[alias]
    data = b"a\n1\n 2\n#3\n"
    assert read(data, **{alias: values[own]}).to_pydict() == read(data, **{own: values[own]}).to_pydict()


def test_the_report_shows_what_was_done() -> None:
    table = read(b"a,b\n1,x\n2,y\n", threads=1)
    report = table.report
    assert (report.bytes, report.records, report.rows, report.threads, report.device) == (12, 3, 2, 1, "cpu")
    assert "a: int64 (record 1: '1'; 0 null)" in str(report)
    assert "12 bytes, 3 records = 2 rows + 0 rejected + 1 skipped" in str(report)
    assert {"prepare", "find", "convert", "finish", "total"} <= set(report.seconds)


@pytest.mark.parametrize("isa", _native.isas())
@pytest.mark.parametrize("late", [b"1", b"2020-01-01"])
def test_words_that_look_like_values_are_words_in_every_column(late: bytes, isa: str) -> None:
    """Also after the first records, which determine the first guess and have no such words here."""
    early = b"2021-02-03" if b"-" in late else b"7"
    text = b"a,b\n" + (early + b",0\n") * 60_000 + late + b",1\n"
    table = read(text, true_values=["1", "2020-01-01"], false_values="0", context=Context(isa=isa))
    assert {name: str(kind) for name, kind in table.schema.items()} == {"a": "string", "b": "bool"}
    assert table["a"][-1] == late.decode()
    assert table["b"][-2:].to_pylist() == [False, True]


def test_no_columns() -> None:
    table = read(b"a,b\n1,2\n3,4\n", columns=[])
    assert (table.num_columns, table.report.rows, table.to_pydict()) == (0, 2, {})
