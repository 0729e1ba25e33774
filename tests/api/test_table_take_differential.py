"""`Table.take`: rows by their numbers, against PyArrow, on both devices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import headrace
from headrace import Context
from headrace.arrange.gather.take_gpu import PlacedRows, take_columns_placed, take_columns_with
from headrace.core.errors import OptionError, OutOfRangeError
from headrace.testing.fibers.launcher import FiberLauncher
from tests.arrange.columns_cases import check_same, fetched, on_fibers, table_of

TABLE = headrace.read_csv(b"city,n\nRome,1\nOslo,\nLima,3\n")


@pytest.mark.parametrize("form", ["plain", "view", "dictionary"])
@pytest.mark.parametrize("threads", [1, 3])
def test_rows_are_those_of_pyarrow(form: str, threads: int) -> None:
    table = table_of(form)
    for part in (table, table[13:901]):
        for count in (0, 1, 63, 64, 65, 1000):
            rows = np.random.default_rng(count).integers(0, len(part), count)
            found = part.take(rows, context=Context(threads=threads))
            expected = pa.Table.from_batches([part.to_arrow().combine_chunks().to_batches()[0].take(pa.array(rows))])
            assert found.to_arrow().to_pydict() == expected.to_pydict()


@pytest.mark.fibers
@pytest.mark.parametrize("form", ["plain", "view", "dictionary"])
def test_rows_on_a_gpu(form: str) -> None:
    table, launcher = table_of(form), FiberLauncher("random", 5)
    rows = np.random.default_rng(1).integers(0, len(table), 600).astype("u8")
    placed = {name: on_fibers(launcher, column) for name, column in table.columns.items()}
    found = take_columns_with(launcher, placed, rows, threads=64)
    expected = table.take(rows)
    for name in table.column_names:
        check_same(fetched(found[name]), expected[name])


@pytest.mark.fibers
@pytest.mark.parametrize("typestr", ["<i4", "<u4", "<i8", "<u8"])
def test_rows_at_numbers_on_a_gpu(typestr: str) -> None:
    table, launcher = table_of("plain"), FiberLauncher("random", 7)
    placed = {name: on_fibers(launcher, column) for name, column in table.columns.items()}
    for count in (0, 1, 511, 513, 2 * len(table) + 1):
        rows = np.random.default_rng(count).integers(0, len(table), count).astype(typestr)
        at = PlacedRows(launcher.put(rows), typestr)
        found, expected = take_columns_placed(launcher, placed, at, len(table), threads=64), table.take(rows)
        for name in table.column_names:
            check_same(fetched(found[name]), expected[name])
    for wrong in (len(table), -1):
        at = PlacedRows(launcher.put(np.array([0, 1, wrong, wrong], "i8").astype(typestr)), typestr)
        with pytest.raises(OutOfRangeError, match=r"rows\[2\] is "):
            take_columns_placed(launcher, placed, at, len(table), threads=64)


@pytest.mark.parametrize(
    "rows",
    [
        *([2, 0, 2], (2, 0, 2), np.array([2, 0, 2], "u1"), np.array([2, 9, 0, 9, 2])[::2], np.array([2, 0, 2], ">i4")),
        *(pa.array([2, 0, 2]), pa.chunked_array([[2], [0, 2]]), pl.Series([2, 0, 2]), pd.Series([2, 0, 2], index=[7, 8, 9])),
        *(headrace.read_csv(b"i\n2\n0\n2\n")["i"], np.array([2, 0, 2], "u8")),
    ],
    ids=lambda rows: type(rows).__name__,
)
def test_numbers_of_any_library(rows: Any) -> None:
    assert TABLE.take(rows).to_pylist() == [{"city": "Lima", "n": 3}, {"city": "Rome", "n": 1}, {"city": "Lima", "n": 3}]


def test_no_rows_have_the_types() -> None:
    for rows in ([], range(0), np.array([], "i8"), pd.Series([]), pl.Series([]), pa.array([]), pd.Series([], dtype="float64")):
        assert TABLE.take(rows).schema == TABLE.schema
        assert TABLE.take(rows).shape == (0, 2)
    assert TABLE[:0].take([]).shape == (0, 2)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([0, -1], r"rows\[1\] is -1, and the table has the rows 0 to 2"),
        ([0, 1, 3, 4], r"rows\[2\] is 3, and the table has the rows 0 to 2"),
        (np.array([2**64 - 1], "u8"), r"rows\[0\] is 18446744073709551615"),
    ],
)
def test_numbers_out_of_range_are_named(rows: Any, said: str) -> None:
    with pytest.raises(OutOfRangeError, match=said) as error:
        TABLE.take(rows)
    assert isinstance(error.value, IndexError)
    with pytest.raises(OutOfRangeError, match="no rows"):
        TABLE[:0].take([0])


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([True, False, True], "rows are bools; pass numpy.flatnonzero"),
        ([0, None], "rows has nulls"),
        (pa.array([0, None]), "rows has nulls"),
        ([0.0], "row numbers are integers"),
        ("a", "must be an array"),
        ([[0], [1]], "one dimension"),
        (1, "one dimension"),
    ],
    ids=str,
)
def test_values_that_are_no_row_numbers(rows: Any, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        TABLE.take(rows)
