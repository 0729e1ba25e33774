"""Compares the minimum and the maximum of columns with Python's, for every type, with nulls, NaN and slices."""

from __future__ import annotations

import math
from typing import Any

import pytest

from headrace import Column, Table, read_csv
from headrace.arrange.filter.value_range import value_range
from tests.arrange.filter.filter_cases import TYPES, random_table

TABLE = Table.from_arrow(random_table(2500, seed=5))


def expected(values: list[Any]) -> tuple[Any, Any] | None:
    ordered = [value for value in values if value is not None and not (isinstance(value, float) and math.isnan(value))]
    return (min(ordered), max(ordered)) if ordered else None


def ranges(column: Column) -> list[tuple[int, int]]:
    """Rows that begin and end at the edges of blocks of 1,024 rows and of bytes of bits."""
    length = len(column)
    return [(0, length), (0, 0), (0, 1), (1, 2), (3, length), (5, 1029), (1023, 1025), (1024, 2048), (length - 1, length)]


@pytest.mark.parametrize("name", TYPES)
def test_range_is_that_of_python(name: str) -> None:
    column = TABLE[name]
    values = column.to_pylist()
    for begin, end in ranges(column):
        assert value_range(column[begin:end]) == expected(values[begin:end])


def test_columns_of_nulls_and_of_nan_have_no_range() -> None:
    table = read_csv(b"a,b,c\n,,nan\n,,\n", dtypes=["null", "int64", "float64"], null_values="")
    assert [value_range(column) for _, column in table.items()] == [None, None, None]
    assert value_range(Table({"x": table["b"][:0]})["x"]) is None


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_nan_among_numbers(kind: str) -> None:
    column = read_csv(b"x\n" + b"nan\n2.5\n-1.5\nnan\n" * 700, dtypes=kind)["x"]
    for begin, end in ranges(column):
        assert value_range(column[begin:end]) == expected(column.to_pylist()[begin:end])


def test_texts_are_ordered_by_their_bytes() -> None:
    texts = ["b", "a", "a\0", "\U0001f600", "￿", "", "zz"]
    table = read_csv(("x\n" + "".join(f'"{text}"\n' for text in texts)).encode(), null_values=())
    assert value_range(table["x"]) == ("", "\U0001f600")
    for strings in ("view", "dictionary"):
        same = read_csv(("x\n" + "".join(f'"{text}"\n' for text in texts)).encode(), null_values=(), strings=strings)
        assert value_range(same["x"][1:4]) == ("a", "\U0001f600")
