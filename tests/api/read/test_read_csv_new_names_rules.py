"""Tests new names of some columns: ``names=`` with a mapping."""

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
