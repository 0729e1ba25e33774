"""Compares filters with a row-by-row oracle in Python, with Polars and with PyArrow."""

from __future__ import annotations

import datetime
import math
import operator
import random
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import headrace
from headrace import ColumnExpression, Context, Table, col
from tests.arrange.filter.filter_cases import TYPES, random_condition, random_table

EDGES = [0, 1, 7, 8, 9, 63, 64, 65, 1023, 1024, 1025]
COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}
NOON = datetime.datetime(2024, 1, 1, 12)
LITERALS: dict[str, list[Any]] = {
    **{name: [0, 3, -1, 2.5, 300, 2**70, -(2**70), Decimal("0.5"), math.inf, math.nan] for name in TYPES if name[0] in "iu"},
    "f32": [0, 0.5, 3, 2**70, math.inf, math.nan],
    "f64": [0, 0.1, 3, 2**70, -math.inf, math.nan],
    "price": [0, 1, Decimal("1.05"), Decimal("1.051"), Decimal("-1e30"), 10**16],
    "date": [NOON.date(), NOON],
    "moment": [NOON, NOON.date(), NOON + datetime.timedelta(microseconds=1)],
    "second": [NOON, NOON + datetime.timedelta(microseconds=1)],
    "instant": [NOON.replace(tzinfo=datetime.UTC)],
    "time": [datetime.time(12), datetime.time(12, 0, 0, 1)],
    "span": [datetime.timedelta(0), datetime.timedelta(microseconds=1500)],
    **{key: ["", "ab", "é", "a longer text than twelve", "zz"] for key in ("text", "large", "view", "word")},
    "bytes": [b"", b"ab", "é".encode()],
}
LITERALS = {name: found for name, found in LITERALS.items() if name in TYPES}


def comparable(value: Any) -> Any:
    """Return a value that Python compares with other values of its kind exactly."""
    if isinstance(value, datetime.datetime):
        return value
    if isinstance(value, datetime.date):
        return datetime.datetime.combine(value, datetime.time())
    if isinstance(value, int | float | Decimal) and math.isfinite(value):
        return Fraction(value)
    return float(value) if isinstance(value, Decimal) else value


def kept(table: Table, expression: ColumnExpression, **context: Any) -> list[int]:
    """Return the numbers of the rows that a filter keeps."""
    numbered = Table({**table.columns, "row": headrace.Table.from_arrow(pa.table({"row": range(len(table))}))["row"]})
    rows: list[int] = numbered.filter(expression, context=Context(**context))["row"].to_pylist()
    return rows


def rows_where(column: list[Any], function: Callable[[Any], Any]) -> list[int]:
    return [row for row, value in enumerate(column) if value is not None and function(value)]


TABLE = random_table(300, seed=1)
OURS = Table.from_arrow(TABLE)


@pytest.mark.parametrize("name", LITERALS)
def test_comparisons_with_literals_are_those_of_python(name: str) -> None:
    values = [None if value is None else comparable(value) for value in TABLE[name].to_pylist()]
    for literal in LITERALS[name]:
        other = comparable(literal)
        for symbol, function in COMPARISONS.items():
            expected = rows_where(values, lambda value, f=function, o=other: f(value, o))  # type: ignore[misc]
            assert kept(OURS, function(col(name), literal)) == expected, f"{name} {symbol} {literal!r}"
            flipped = rows_where(values, lambda value, f=function, o=other: f(o, value))  # type: ignore[misc]
            assert kept(OURS, function(literal, col(name))) == flipped, f"{literal!r} {symbol} {name}"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("i8", "i64"), ("i64", "u64"), ("u64", "u8"), ("i16", "f64"), ("f32", "f64"), ("date", "moment"), ("moment", "second"),
        ("text", "view"), ("word", "large"), ("price", "i64"), ("bool", "bool"), ("bytes", "bytes"), ("price", "price"),
    ],
)  # fmt: skip
def test_columns_are_compared_by_value(left: str, right: str) -> None:
    pairs = list(zip(TABLE[left].to_pylist(), TABLE[right].to_pylist()[::-1], strict=True))
    turned = pa.table({right: pa.array([two for _, two in pairs], TABLE[right].type)})
    other = Table({"left": OURS[left], "right": Table.from_arrow(turned)[right]})
    for symbol in ("==", "!=") if left == "bool" else COMPARISONS:
        function = COMPARISONS[symbol]
        expected = [
            row
            for row, (one, two) in enumerate(pairs)
            if one is not None and two is not None and function(comparable(one), comparable(two))
        ]
        assert kept(other, function(col("left"), col("right"))) == expected, symbol


def test_values_in_a_list() -> None:
    for name, literals in LITERALS.items():
        if name == "price":
            continue
        values = [None if value is None else comparable(value) for value in TABLE[name].to_pylist()]
        for chosen in (literals, literals[:1], []):
            among = [comparable(literal) for literal in chosen]
            expected = rows_where(values, lambda value, among=among: any(value == one for one in among))  # type: ignore[misc]
            assert kept(OURS, col(name).is_in(chosen)) == expected, (name, chosen)


@pytest.mark.parametrize("name", ["text", "large", "view", "word"])
def test_parts_of_texts(name: str) -> None:
    texts = TABLE[name].to_pylist()
    for part in ["", "a", "b", "ab", "twelve", "é", "\U0001f600", "not there"]:
        assert kept(OURS, col(name).str.contains(part)) == rows_where(texts, lambda text, p=part: p in text)  # type: ignore[misc]
        assert kept(OURS, col(name).str.starts_with(part)) == rows_where(texts, lambda text, p=part: text.startswith(p))  # type: ignore[misc]
        assert kept(OURS, col(name).str.ends_with(part)) == rows_where(texts, lambda text, p=part: text.endswith(p))  # type: ignore[misc]


def test_arithmetic_is_that_of_python() -> None:
    small = Table.from_arrow(pa.table({"a": [1, -7, None, 12, 0], "b": [2.5, None, 1.0, -3.0, 0.5]}))
    rows = list(small.iter_rows())
    cases: list[Callable[[Any, Any], Any]] = [
        lambda a, b: a * 2 + 1 > 3,
        lambda a, b: 10 - a >= 10,
        lambda a, b: a // 5 == -2,
        lambda a, b: a % 5 == 3,
        lambda a, b: a / 2 < 0.6,
        lambda a, b: a + b > 3.4,
        lambda a, b: 1 / b == 2,
        lambda a, b: (a * a) * 0.5 <= 24.5,
    ]
    for case in cases:
        expression = case(col("a"), col("b"))
        uses = [{"a": 0, "b": 1}[name] for name in expression.column_names()]
        expected = [row for row, values in enumerate(rows) if None not in [values[at] for at in uses] and case(*values)]
        assert kept(small, expression) == expected, expression


LEAVES: list[Callable[[Any], Any]] = [
    lambda c: c("i8") > 2,
    lambda c: c("u64") <= 5,
    lambda c: c("f64") < 0.5,
    lambda c: c("text") == "ab",
    lambda c: c("i32").is_null(),
    lambda c: c("word").is_null(),
    lambda c: c("i16").is_in([1, 2, 3]),
    lambda c: c("bool"),
    lambda c: c("date") >= datetime.date(2024, 1, 1),
    lambda c: c("i64") + c("i32") * 2 > 3,
]


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("rows", EDGES)
@pytest.mark.parametrize("start", [0, 3])
def test_combinations_are_those_of_polars(rows: int, start: int) -> None:
    table = random_table(rows + start, seed=rows).drop_columns(["nothing", "view"])
    ours, theirs = Table.from_arrow(table)[start:], pl.DataFrame(table)[start:]
    for seed in range(4):
        found = random_condition(random.Random(seed), [leaf(col) for leaf in LEAVES], 4)
        same = random_condition(random.Random(seed), [leaf(pl.col) for leaf in LEAVES], 4)
        expected = theirs.filter(same)
        assert ours.filter(found).to_pydict() == expected.to_dict(as_series=False), found


def test_every_type_is_gathered_as_pyarrow_does() -> None:
    table = random_table(2100, seed=5)
    ours = Table.from_arrow(table)
    for expression, mask in [
        (col("i8") > 2, [value is not None and value > 2 for value in table["i8"].to_pylist()]),
        (col("i8") > 500, [False] * 2100),
        (col("nothing").is_null(), [True] * 2100),
    ]:
        found = ours.filter(expression)
        for name in table.column_names:
            expected = [value for value, keep in zip(table[name].to_pylist(), mask, strict=True) if keep]
            assert found[name].to_pylist() == expected, name
            assert found[name].null_count == expected.count(None), name
            assert found[name].type == ours[name].type


def test_threads_and_instruction_sets_keep_the_same_rows() -> None:
    rng = random.Random(7)
    count = 3 * 65_536 + 5
    table = Table.from_arrow(pa.table({"a": [rng.randint(0, 99) for _ in range(count)]}))
    expected = [row for row, value in enumerate(table["a"].to_pylist()) if value % 7 == 3]
    for threads in (1, 2, 4):
        assert kept(table, col("a") % 7 == 3, threads=threads) == expected
    for isa in ("scalar", "avx2"):
        assert kept(table[1:], col("a") * 3 > 200, isa=isa) == kept(table[1:], col("a") * 3 > 200)


def test_null_conditions_are_those_of_sql() -> None:
    table = Table.from_arrow(pa.table({"t": pa.array([True, True, True, False, False, False, None, None, None]),
                                       "u": pa.array([True, False, None] * 3), "n": pa.nulls(9)}))  # fmt: skip
    t, u, n = col("t"), col("u"), col("n")
    assert kept(table, t & u) == [0]
    assert kept(table, t | u) == [0, 1, 2, 3, 6]
    assert kept(table, t ^ u) == [1, 3]
    assert kept(table, ~(t & u)) == [1, 3, 4, 5, 7]
    assert kept(table, ~(t | u)) == [4]
    assert kept(table, (t & u).is_null()) == [2, 6, 8]
    assert kept(table, (t == u) & t.is_not_null()) == [0, 4]
    assert kept(table, t == False) == [3, 4, 5]  # noqa: E712
    assert kept(table, n > 3) == kept(table, n) == kept(table, ~(n == "x")) == []
    assert kept(table, n.is_in([1]) | t) == [0, 1, 2]
    assert kept(table, (n + 1).is_null()) == list(range(9))
