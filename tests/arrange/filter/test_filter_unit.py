"""Tests the errors and the representation of conditions, and filters of tables without rows or columns."""

from __future__ import annotations

import datetime
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import headrace
from headrace import OptionError, Table, UnknownColumnError, col, read_csv
from headrace.core.expressions.column_expression import ColumnExpression

TABLE = read_csv(b"a,b,s,d,t\n1,1.5,x,2024-01-01,2024-01-01T10:00:00\n2,,yx,2024-02-01,\n,3.5,,,2025-01-01T00:00:00\n")


_ONE = ColumnExpression("literal", (), 1)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (lambda: ColumnExpression.combined("==", "x", "x"), "'x' == 'x' has no column; an operator takes at least one"),
        (lambda: ColumnExpression.combined("<", 1, 2), "1 < 2 has no column"),
        (lambda: ColumnExpression.combined("+", 1, 2) == col("a"), "1 \\+ 2 has no column"),
        (lambda: _ONE.is_null() & (col("a") > 1), "1.is_null\\(\\) has no column"),
        (lambda: _ONE.is_in([1]), "1.is_in\\(\\[1\\]\\) has no column"),
        (lambda: col("a"), "takes conditions, such as col\\('price'\\) > 3, not values of int64"),
        (lambda: col("a") > "x", "'x' is compared with a column of int64; compare it with a number"),
        (lambda: col("a") > True, "True is compared with a column of int64"),
        (lambda: col("s") > 1, "1 is compared with a column of string; compare it with str"),
        (lambda: col("s") == b"x", "compare it with str"),
        (lambda: col("d") > 3, "compare it with a date, e.g. '2024-01-31'"),
        (lambda: col("d") > "soon", "compare it with a date"),
        (lambda: col("t") > datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC), "a datetime without an offset"),
        (lambda: col("a") & col("b"), "& takes conditions"),
        (lambda: (col("a") > 1) & True, "& takes conditions on columns, not True"),
        (lambda: col("s") + 1, "\\+ takes integers and floats, not values of string"),
        (lambda: col("a") // 2.5 > 1, "// takes a column of integers and a positive integer"),
        (lambda: col("a") % 0 > 1, "% takes a column of integers and a positive integer"),
        (lambda: col("a") + 2**63 > 1, "takes integers from"),
        (lambda: col("a") == col("s"), "values of int64 and string cannot be compared"),
        (lambda: col("a").str.contains("x"), "str.contains takes texts, not values of int64"),
        (lambda: col("a") == None, "None is compared by is_null"),  # noqa: E711
        (lambda: col("t") == pd.NaT, "the missing value NaT is compared by is_null"),
        (lambda: col("t") == np.datetime64("NaT"), "the missing value NaT is compared by is_null"),
        (lambda: col("a") == np.ma.masked, "the missing value -- is compared by is_null"),
        (lambda: col("a") == [1, 2], "use is_in\\(\\) for several"),
        (lambda: col("a") == np.array([1, 2]), "use is_in\\(\\) for several"),
        (lambda: col("a") == np.datetime64("1970-01-01", "ns"), "compare it with a number"),
        (lambda: col("a").is_in([1, None]), "a null is found by is_null"),
        (lambda: col("a").is_in(np.ma.array([1, 0], mask=[False, True])), "a null is found by is_null"),
        (lambda: col("a").is_in(np.array(1)), "several values, such as a list"),
        (lambda: col("s").is_in("xy"), "several values, such as a list"),
        (lambda: col("a") > headrace.key, "headrace.key is for keys of arrays"),
        (lambda: 0 < col("a") < 3, "neither true nor false"),
        (lambda: col("a").between(1, 2, "all"), "closed"),
        (lambda: col(3), "the name of a column"),
        (lambda: "a > 3", "a condition on columns"),
        (lambda: (col("a") > 1) < (col("a") > 2), "conditions are compared by == and !="),
    ],
)  # fmt: skip
def test_errors_say_what_to_use(condition: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        TABLE.filter(condition())


def test_unknown_columns_are_named() -> None:
    with pytest.raises(UnknownColumnError, match="unknown column 'q'; valid: a, b, s, d, t"):
        TABLE.filter(col("q") > 1)


def test_a_condition_nests_at_most_a_hundred_operators() -> None:
    condition = col("a") > 0
    for _ in range(99):
        condition = ~condition
    assert TABLE.filter(condition).num_rows == 0
    with pytest.raises(OptionError, match="at most 100 operators"):
        _ = ~condition


def test_representation_and_pickling() -> None:
    condition = ((col("a") * 2 > 3) | col("s").is_in(["x"])) & ~col("s").str.ends_with("y") & col("d").is_not_null()
    text = "((((col('a') * 2) > 3) | col('s').is_in(['x'])) & (~(col('s').str.ends_with('y')))) & (~col('d').is_null())"
    assert repr(condition) == text
    assert repr(pickle.loads(pickle.dumps(condition))) == text
    assert condition.column_names() == ("a", "s", "d")


def test_a_table_without_rows_and_one_whose_rows_are_all_kept() -> None:
    assert TABLE[:0].filter(col("a") > 1).shape == (0, 5)
    kept = TABLE.filter(col("b").is_null() | col("b").is_not_null())
    assert kept["s"] is TABLE["s"]


def test_numpy_scalars_are_literals() -> None:
    assert TABLE.filter(col("a") > np.int8(1))["a"].to_pylist() == [2]
    assert TABLE.filter(col("b") >= np.float32(3.5))["b"].to_pylist() == [3.5]
    assert TABLE.filter(col("d") > np.datetime64("2024-01-15"))["a"].to_pylist() == [2]


def test_nanoseconds_of_pandas_and_numpy_are_not_dropped() -> None:
    table = read_csv(b"t,u\n2024-01-01 00:00:00,1 days 00:00:00\n")
    for text, nanosecond in (("2024-01-01T00:00:00.000000001", 1), ("2024-01-01T00:00:00", 0)):
        for moment in (pd.Timestamp(text), np.datetime64(text, "ns")):
            assert table.filter(col("t") == moment).num_rows == (nanosecond == 0)
            assert table.filter(col("t") < moment).num_rows == nanosecond
        span = 86_400 * 10**9 + nanosecond
        for duration in (pd.Timedelta(span, "ns"), np.timedelta64(span, "ns")):
            assert table.filter(col("u") == duration).num_rows == (nanosecond == 0)
            assert table.filter(col("u") < duration).num_rows == nanosecond
            assert table.filter(col("u") > -duration).num_rows == 1


def test_a_table_is_no_array_and_the_error_says_what_to_use() -> None:
    for convert in (np.asarray, pd.DataFrame):
        with pytest.raises(OptionError, match="to_pandas\\(\\) returns a data frame"):
            convert(TABLE)
    assert Table({}).shape == (0, 0)


@pytest.mark.parametrize("type_", ["float32", "float64"])
def test_numbers_beyond_floats_are_compared_exactly(type_: str) -> None:
    greatest = float(np.finfo(type_).max)
    held = [-np.inf, -greatest, 0.0, greatest, np.inf, np.nan]
    table = Table.from_arrow(pa.table({"x": pa.array(held, pa.from_numpy_dtype(type_))}))
    beyond = 10**400 if type_ == "float64" else 1e300

    def kept(condition: ColumnExpression) -> list[float]:
        return [value for value in table.filter(condition)["x"].to_pylist() if not np.isnan(value)]

    assert kept(col("x") < beyond) == kept(col("x") <= beyond) == held[:4]
    assert kept(col("x") > beyond) == kept(col("x") >= beyond) == [np.inf]
    assert kept(col("x") > -beyond) == kept(col("x") >= -beyond) == held[1:5]
    assert kept(col("x") < -beyond) == kept(col("x") <= -beyond) == [-np.inf]
    assert kept(col("x") == beyond) == kept(col("x").is_in([beyond, -beyond])) == []
    assert len(table.filter(col("x") != beyond)) == 6
    assert kept(col("x") == np.inf) == [np.inf]
    with pytest.raises(OptionError, match=rf"\* of {type_} does not take .*, an infinity in its type"):
        table.filter(col("x") * beyond > 0)
