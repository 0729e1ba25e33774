"""Tests columns by name: new names of some columns, and columns that the text lacks."""

from __future__ import annotations

import pytest

from headrace import OptionError, UnknownColumnError, read_csv, scan_csv

TEXT = b"a,b,c\n1,2,3\n4,5,6\n"


@pytest.mark.parametrize(
    ("new_names", "expected"),
    [({}, "abc"), ({"a": "x"}, "xbc"), ({-1: "x", 0: "y"}, "ybx"), ({"a": "b", "b": "a"}, "bac"), ({"c": "c"}, "abc")],
)
def test_columns_keep_their_values_under_new_names(new_names, expected):
    values = dict(zip(expected, ([1, 4], [2, 5], [3, 6]), strict=True))
    assert read_csv(TEXT, names=new_names).to_pydict() == values
    assert scan_csv(TEXT, names=new_names).read().to_pydict() == values
    assert read_csv([TEXT, TEXT], names=new_names).to_pydict() == {name: 2 * its for name, its in values.items()}


def test_other_options_use_the_new_names():
    table = read_csv(TEXT, names={"a": "x"}, dtypes={"x": "float64"}, columns=["c", "x"])
    assert table.schema == {"c": "int64", "x": "float64"}


def test_columns_without_a_header_are_renamed_by_position():
    assert read_csv(b"1,2\n", header=False, names={1: "x"}).to_pydict() == {"column_1": [1], "x": [2]}


def test_report_has_the_new_name_of_a_repeated_name():
    table = read_csv(b"a,a\n1,2\n", header=True, names={"a_1": "x"})
    assert list(table.schema) == ["a", "x"] and list(table.report.renamed.values()) == ["x"]


@pytest.mark.parametrize(
    ("new_names", "message"),
    [
        ({"a": "b"}, "two columns the name 'b'"),
        ({"a": "x", 0: "y"}, "'a' more than once"),
        ({"a": 1}, "new name 1, which is not a text"),
        ({3: "x"}, "no column 3"),
    ],
)
def test_new_names_that_cannot_be_are_refused(new_names, message):
    with pytest.raises(OptionError, match=message):
        read_csv(TEXT, names=new_names)


def test_name_that_the_text_lacks_is_unknown():
    with pytest.raises(UnknownColumnError, match="unknown column in names 'z'"):
        read_csv(TEXT, names={"z": "x"})
    with pytest.raises(OptionError, match="names and a schema"):
        read_csv(TEXT, names={"a": "x"}, schema={"x": "int64", "b": "int64", "c": "int64"})


ABSENT = {"columns": ["z", "a"], "dtypes": {"z": "decimal128(5, 2)"}, "include_missing_columns": True}


def test_a_column_that_the_text_lacks_has_nulls():
    table = read_csv(TEXT, **ABSENT)
    assert table.schema == {"z": "decimal128(5, 2)", "a": "int64"}
    assert table.to_pydict() == {"z": [None, None], "a": [1, 4]}
    assert table.report.columns[0].nulls == 2
    table.report.check()
    assert read_csv(TEXT, columns="z", include_missing_columns=True).schema == {"z": "string"}


@pytest.mark.parametrize("batch_bytes", [1, 4, 100])
def test_batches_have_the_absent_column(batch_bytes):
    scan = scan_csv(TEXT, batch_bytes=batch_bytes, **ABSENT)
    assert scan.read().equals(read_csv(TEXT, **ABSENT))


def test_absent_columns_follow_those_of_the_text():
    schema = {"z": "int8", "a": "int8", "b": "int8", "c": "int8"}
    table = read_csv(TEXT, schema=schema, include_missing_columns=True)
    assert table.schema == {"a": "int8", "b": "int8", "c": "int8", "z": "int8"}
    assert table["z"].to_pylist() == [None, None]
    long = read_csv(TEXT + b"7,8,9,10\n", dtypes={"z": "int8"}, include_missing_columns=True, long_records="truncate")
    assert long["z"].to_pylist() == [None] * 3  # a field beyond the columns of the text is not one of z


def test_the_column_of_further_fields_is_not_absent():
    options = {"columns": ["a", "extra_fields", "z"], "include_missing_columns": True}
    table = read_csv(TEXT + b"7,8,9,10\n", long_records="collect", **options)
    assert table.to_pydict() == {"a": [1, 4, 7], "extra_fields": [None, None, "10"], "z": [None] * 3}


def test_files_that_lack_different_columns():
    schema = {"a": "int8", "b": "string", "c": "date32", "d": "bool"}
    files = [b"a,b\n1,x\n", b"c,a\n2024-01-31,2\n"]
    table = read_csv(files, schema=schema, union_by_name=True, include_missing_columns=True)
    assert table.schema == {"a": "int8", "b": "string", "c": "date32", "d": "bool"}
    assert table["b"].to_pylist() == ["x", None]
    assert table["d"].to_pylist() == [None, None]


def test_a_column_of_the_paths_is_not_absent(tmp_path):
    (tmp_path / "year=2024").mkdir()
    (tmp_path / "year=2024" / "a.csv").write_bytes(TEXT)
    table = read_csv(tmp_path, hive_partitioning=True, dtypes={"year": "int16", "z": "int8"}, include_missing_columns=True)
    assert table.schema == {"a": "int64", "b": "int64", "c": "int64", "z": "int8", "year": "int16"}
    assert table["year"].to_pylist() == [2024, 2024]


def test_without_the_option_an_absent_column_is_an_error():
    with pytest.raises(UnknownColumnError, match="unknown column in columns 'z'"):
        read_csv(TEXT, columns=["z"])
    with pytest.raises(UnknownColumnError, match="schema lacks column 'b'"):
        read_csv(TEXT, schema={"a": "int8", "z": "int8"}, include_missing_columns=True)
