"""Tests the order of columns against Python's sorted: types, nulls first and last, slices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import headrace
from headrace.core.errors import OptionError

TEXT = (
    b"i,u,f,b,d,t,m,s\n"
    b"3,7,2.5,true,2020-02-03,12:30:00,2020-01-01T00:00:01Z,x\n"
    b",7,,,,,,y\n"
    b"-5,1,-1e9,false,1950-01-01,00:00:01,1969-01-01T00:00:01Z,z\n"
    b"9,,0.25,true,2020-02-02,23:59:59,2021-01-01T00:00:00Z,\n"
    b",3,,false,,,,w\n"
    b"3,200,7,,2020-02-03,12:30:00,2020-01-01T00:00:01Z,v\n"
)
DTYPES = {"i": "int16", "u": "uint8", "f": "float32", "b": "bool", "d": "date32", "t": "time64[us]", "m": "timestamp[us, UTC]"}


@pytest.fixture(scope="module")
def table() -> headrace.Table:
    return headrace.read_csv(TEXT, dtypes=DTYPES)


def expected(values: list[Any], descending: bool, nulls: str) -> list[int]:
    there = [row for row, value in enumerate(values) if value is not None]
    none = [row for row, value in enumerate(values) if value is None]
    there.sort(key=lambda row: values[row], reverse=False)
    if descending:
        there = sorted((row for row, value in enumerate(values) if value is not None), key=lambda row: values[row], reverse=True)
    return there + none if nulls == "last" else none + there


@pytest.mark.parametrize("name", list(DTYPES))
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("nulls", ["first", "last"])
@pytest.mark.parametrize("part", [slice(None), slice(1, 5), slice(2, 2)])
def test_columns(table: headrace.Table, name: str, descending: bool, nulls: str, part: slice) -> None:
    column = table[name][part]
    values = column.to_pylist()
    order = expected(values, descending, nulls)
    found = headrace.sort(column, descending=descending, nulls=nulls)
    assert found.type == column.type
    assert found.null_count == values.count(None)
    assert found.to_pylist() == [values[row] for row in order]
    assert headrace.argsort(column, descending=descending, nulls=nulls).tolist() == order
    assert headrace.is_sorted(found, descending=descending, nulls=nulls)
    assert headrace.is_sorted(column, descending=descending, nulls=nulls) == (found.to_pylist() == values)
    rows = np.arange(len(values))
    pairs = headrace.sort_pairs(column, [rows, table["s"][part]], descending=descending, nulls=nulls)
    assert pairs.keys.to_pylist() == found.to_pylist()
    assert pairs.values[0].tolist() == order
    texts = table["s"][part].to_pylist()
    assert pairs.values[1].to_pylist() == [texts[row] for row in order]


def test_columns_go_with_arrays(table: headrace.Table) -> None:
    found = headrace.sort_pairs(np.array([2, 1, 0, 5, 4, 3]), table["s"])
    assert found.keys.tolist() == [0, 1, 2, 3, 4, 5]
    assert found.values.to_pylist() == ["z", "y", "x", "v", "w", None]


def test_the_first_of_a_column() -> None:
    column = headrace.read_csv(b"a\n3\n9\n1\n9\n")["a"]
    top = headrace.top_k(column, 3)
    assert top.keys.to_pylist() == [9, 9, 3]
    assert top.indices.tolist() == [1, 3, 0]


def test_nan_of_a_column_is_no_null() -> None:
    column = headrace.read_csv(b"a,b\nnan,1\n2.5,1\n,1\n-1,1\n", dtypes={"a": "float64"})["a"]
    found = headrace.sort(column).to_pylist()
    assert found[:2] == [-1.0, 2.5]
    assert math.isnan(found[2])
    assert found[3] is None
    assert headrace.sort(column, nulls="first").to_pylist()[:3] == [None, -1.0, 2.5]


def test_sorted_columns_are_arrow(table: headrace.Table) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    compute = pytest.importorskip("pyarrow.compute")
    column = pyarrow.array(table["d"])
    wanted = compute.take(column, compute.array_sort_indices(column, null_placement="at_end"))
    assert pyarrow.array(headrace.sort(table["d"])).equals(wanted)


def test_what_columns_cannot_do(table: headrace.Table) -> None:
    for call in (headrace.sort, headrace.argsort, headrace.is_sorted):
        with pytest.raises(OptionError, match="keys are of type string; columns of numbers, bools, dates and times"):
            call(table["s"])
    with pytest.raises(OptionError, match="keys has 2 nulls"):
        headrace.top_k(table["i"], 1)
    with pytest.raises(OptionError, match="out is for arrays"):
        headrace.sort(table["i"], out=np.empty(6))
    with pytest.raises(OptionError, match="values has 2 items for 6 keys"):
        headrace.sort_pairs(table["i"], np.arange(2))
    with pytest.raises(OptionError, match="unknown nulls"):
        headrace.sort(table["i"], nulls="middle")
