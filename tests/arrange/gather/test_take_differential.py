"""Tests the gather of items by row numbers on the CPU against NumPy, and its errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.arrange.gather.take import take, take_rows
from headrace.core.context import Context
from headrace.core.errors import OptionError
from tests.arrange.columns_cases import table_of
from tests.arrange.multisplit.multisplit_cases import odd_columns_of


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "i8", "longdouble", "?"])
@pytest.mark.parametrize("places", ["i4", "u4", "i8", "u8"])
def test_take(dtype: str, places: str) -> None:
    items = (np.arange(5000) % 120).astype(dtype)
    for count in (0, 1, 40_000):
        rows = np.random.default_rng(count).integers(0, 5000, count).astype(places)
        for threads in (1, 3):
            found = take(items, rows, context=Context(threads=threads))
            assert found.dtype == items.dtype
            np.testing.assert_array_equal(found, items[rows.astype("i8")])


def test_items_of_any_width() -> None:
    rows = np.random.default_rng(3).integers(0, 700, 3000)
    for items in odd_columns_of(700):
        for threads in (1, 3):
            found = take(items, rows, context=Context(threads=threads))
            assert found.dtype == items.dtype and found.tobytes() == items[rows].tobytes()


@given(st.data(), st.integers(1, 60), st.integers(1, 3))
def test_rows_of_any_slice(data: st.DataObject, length: int, threads: int) -> None:
    begin = data.draw(st.integers(0, 100))
    part = table_of("plain")[begin : begin + length]
    rows = data.draw(st.lists(st.integers(0, length - 1), max_size=70))
    for name, column in part.columns.items():
        values = column.to_pylist()
        found = take_rows(column, np.array(rows, "i8"), threads)
        assert found.to_pylist() == [values[row] for row in rows], name
        assert found.null_count == sum(values[row] is None for row in rows)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: take(np.arange(3), np.array([3])), "1 row number is outside of the 3 items"),
        (lambda: take(np.arange(3), np.array([-5, 0, 7])), "2 row numbers are outside"),
        (lambda: take(np.arange(3), np.array([-4], "i4")), "1 row number is outside"),
        (lambda: take(np.arange(3), np.array([0.0])), "row numbers are integers"),
        (lambda: take({1, 2}, np.array([0])), "must be an array"),
        (lambda: take(np.arange(3), [0], axis=1), "axis must be an integer from -1 to 0"),
    ],
)
def test_misuse(call, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        call()


@pytest.mark.parametrize("form", ["plain", "view", "dictionary"])
def test_more_rows_than_the_column_has(form: str) -> None:
    rows = np.array([8, 0, 8] * 90)
    for name, column in table_of(form, 9).columns.items():
        values = column.to_pylist()
        assert take_rows(column, rows).to_pylist() == [values[row] for row in rows.tolist()], name
