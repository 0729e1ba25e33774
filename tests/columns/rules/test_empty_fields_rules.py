"""Empty fields are null in columns of values, and in columns of text if `null_values` holds the empty text."""

from __future__ import annotations

import datetime
from random import Random
from typing import Any

import pytest

from headrace import Context, Table, _native, read_csv, scan_csv
from headrace.testing.compare import assert_same_table
from headrace.testing.reference import ReferenceOptions
from headrace.testing.reference import read as read_reference
from headrace.testing.values import Words

TYPED = b"n,d,b,f,t,s\n1,2024-01-01,true,0.5,12:30:15,x\n,,,,,\nNA,NA,NA,NA,NA,NA\n2,2024-01-02,false,1.5,12:30:16,\n"
EXPECTED: dict[str, list[Any]] = {
    "n": [1, None, None, 2],
    "d": [datetime.date(2024, 1, 1), None, None, datetime.date(2024, 1, 2)],
    "b": [True, None, None, False],
    "f": [0.5, None, None, 1.5],
    "s": ["x", "", None, ""],
}


def checked(data: bytes, **options: Any) -> Table:
    """A table, the same from every way to read it."""
    table = read_csv(data, **options)
    table.report.check()
    lines = data.splitlines(keepends=True)
    for chunk in 1, 64:
        assert_equal(read_csv(data, chunk_bytes=chunk, **options), table)
    for batch in 1, 40:
        assert_equal(scan_csv(data, batch_bytes=batch, **options).read(), table)
    for cut in range(1, len(lines) + 1):
        assert_equal(read_csv([b"".join(lines[:cut]), lines[0] + b"".join(lines[cut:])], **options), table)
    return table


def assert_equal(found: Table, expected: Table) -> None:
    assert (found.schema, found.to_pydict()) == (expected.schema, expected.to_pydict())


@pytest.mark.parametrize("option", ["null_values", "na_values"])
def test_other_texts_leave_empty_fields_null(option: str) -> None:
    table = checked(TYPED, **{option: ["NA"]})
    assert [str(kind) for kind in table.schema.values()] == ["int64", "date32", "bool", "float64", "time64[us]", "string"]
    assert {name: table[name].to_pylist() for name in EXPECTED} == EXPECTED


def test_given_types_too() -> None:
    types = {"n": "int8", "d": "date32", "b": "bool", "f": "decimal128(4, 1)"}
    table = checked(TYPED, null_values="NA", dtypes=types)
    assert [table[name].null_count for name in types] == [2, 2, 2, 2]
    assert table["s"].to_pylist() == EXPECTED["s"]


def test_by_column() -> None:
    table = checked(b"a,b\n1,1\n,\n-,2\n", null_values={"a": "-"})
    assert table.to_pydict() == {"a": [1, None, None], "b": ["1", None, "2"]} or table["b"].to_pylist() == [1, None, 2]


def test_no_text_means_null() -> None:
    assert checked(b"a,b\n1,x\n,y\n", null_values=()).to_pydict() == {"a": ["1", ""], "b": ["x", "y"]}
    assert checked(b"a,b\n1,x\n,y\n", null_values={"a": []}).to_pydict() == {"a": ["1", ""], "b": ["x", "y"]}


def test_quoted_empty_fields_are_values_unless_they_may_be_null() -> None:
    text = b'a,b\n1,x\n"",y\n'
    assert checked(text, null_values="NA").to_pydict() == {"a": ["1", ""], "b": ["x", "y"]}
    assert checked(text, null_values="NA", quoted_null=True).to_pydict() == {"a": [1, None], "b": ["x", "y"]}


def test_columns_without_a_value_are_text() -> None:
    table = checked(b"a,b\n,1\nNA,2\n,3\n", null_values="NA")
    assert table.to_pydict() == {"a": ["", None, ""], "b": [1, 2, 3]}
    assert str(table.schema["a"]) == "string"
    assert checked(b"a,b\n,1\n,2\n", null_values="NA", dtypes={"a": "null"})["a"].null_count == 2
    assert checked(b"a,b\n,1\n,2\n")["a"].to_pylist() == [None, None]


def test_values_behind_the_sample() -> None:
    blank = b",\n" * (200 << 10)
    assert read_csv(b"a,b\n" + blank + b"7,8\n", null_values="NA")["a"].null_count == 200 << 10
    table = read_csv(b"a,b\n" + blank + b"x,8\n", null_values="NA")
    assert (table["a"].null_count, table["b"].null_count) == (0, 200 << 10)


@pytest.mark.parametrize("nulls", [(b"NA",), (b"NA", b""), (b"",), ()])
@pytest.mark.parametrize("quoted", [False, True])
def test_agrees_with_the_reference(nulls: tuple[bytes, ...], quoted: bool) -> None:
    for data in (TYPED, b'a,b,c\n,NA,1\n"","NA",2\n,,\n', b"a,b\n,1\n,x\nNA,\n"):
        words = Words(null=nulls, quoted_null=quoted)
        expected = read_reference(data, ReferenceOptions(words=words))
        for chunk in 1, 16, 1 << 20:
            options: dict[str, Any] = {"null_values": list(nulls), "quoted_null": quoted, "chunk_bytes": chunk}
            assert_same_table(read_csv(data, context=Context(threads=2), **options), expected)


@pytest.mark.parametrize("options", [{}, {"null_values": ["NA", ""]}, {"skip_initial_space": True}], ids=str)
@pytest.mark.parametrize("rows", [1, 63, 64, 65, 130])
def test_columns_with_few_and_with_many_empty_fields(rows: int, options: dict[str, Any]) -> None:
    """Nulls are found for 64 rows at a time."""
    values = {"int64": 7, "float64": 1.5, "bool": True, "uint8": 255, "date32": datetime.date(2024, 1, 2)}
    texts = ["7", "1.5", "true", "255", "2024-01-02"]
    random = Random(rows)
    for share in (0.0, 0.02, 0.5, 0.97, 1.0):
        is_empty = [[random.random() < share for _ in texts] for _ in range(rows)]
        lines = [",".join("" if empty else text for text, empty in zip(texts, row, strict=True)) for row in is_empty]
        data = "\n".join([",".join(values), *lines, ""]).encode()
        table = read_csv(data, schema={name: name for name in values}, chunk_bytes=random.choice([1, 100, 1 << 20]), **options)
        for column, (name, value) in enumerate(values.items()):
            assert table[name].to_pylist() == [None if row[column] else value for row in is_empty], (share, name)


@pytest.mark.isas
@pytest.mark.parametrize("isa", _native.isas())
@pytest.mark.parametrize("word", ["", "NA", "none-of-them"])
def test_values_of_null_rows_are_zero(isa: str, word: str) -> None:
    """A vector that holds values of several rows stores none for the null ones."""
    values = {
        "int64": "-7",
        "uint8": "255",
        "float64": "-1.5",
        "float32": "0.25",
        "date32": "2024-01-02",
        "timestamp[us]": "2024-01-02 03:04:05",
        "time64[us]": "03:04:05",
        "decimal128(9, 2)": "12.50",
    }
    random = Random(word)
    rows = [[word if random.random() < 0.3 else text for text in values.values()] for _ in range(200)]
    data = "\n".join(["\t".join(map(str, range(len(values)))), *map("\t".join, rows), ""]).encode()
    options: dict[str, Any] = {"sep": "\t", "dtypes": dict(enumerate(values)), "null_values": ["", word]}
    table = read_csv(data, context=Context(isa=isa), **options)
    for position, column in enumerate(table.columns.values()):
        stored, size = bytes(memoryview(column.values)), column.type.bits // 8
        for at, row in enumerate(rows):
            assert (row[position] == word) == (stored[at * size : (at + 1) * size] == bytes(size)), (column.type, at)


@pytest.mark.parametrize("nulls", [["", "NA"], ["NA"], ["NA", "none"]], ids=str)
def test_null_words_of_columns_of_text(nulls: list[str]) -> None:
    found = checked(b"a,b\n1,x\n2,NA\n3,\n", null_values=nulls, dtypes={"b": str})["b"].to_pylist()
    assert found == ["x", None, None if "" in nulls else ""]


@pytest.mark.parametrize("nulls", [[""], ["", "NA"], ["NA"]], ids=str)
def test_quoted_fields_after_spaces_are_no_nulls(nulls: list[str]) -> None:
    data = b'a,b\n1, ""\n2, "NA"\n3, NA\n4, \n'
    options: dict[str, Any] = {"skip_initial_space": True, "null_values": nulls}
    found = checked(data, dtypes={"b": str}, **options)["b"].to_pylist()
    assert found == ["", "NA", None if "NA" in nulls else "NA", None if "" in nulls else ""]
    kept = checked(data, dtypes={"b": int}, on_error="reject", **options)["a"].to_pylist()
    assert kept == [row for row, word in ((3, "NA"), (4, "")) if word in nulls or word == ""]


@pytest.mark.parametrize("nulls", [[], ["NA"]], ids=str)
def test_fields_that_a_record_lacks_are_null_beside_empty_ones(nulls: list[str]) -> None:
    """The empty text is no null here: only the field that is missing is."""
    options: dict[str, Any] = {"short_records": "null", "null_values": nulls}
    assert checked(b"a,b\n1,\n2\n", dtypes={"b": str}, **options)["b"].to_pylist() == ["", None]
    assert checked(b"a,b\n1,5\n2\n", dtypes={"b": int}, **options)["b"].to_pylist() == [5, None]
