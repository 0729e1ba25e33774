"""Tests the kernels that filter columns in the fiber harness against the CPU, to the bit."""

from __future__ import annotations

import random
from decimal import Decimal

import pytest

from headrace import Table
from headrace.arrange.filter.filter_gpu import filter_with
from headrace.arrange.filter.program import compiled
from headrace.core.expressions.column_expression import ColumnExpression, col
from headrace.testing.fibers.launcher import FiberLauncher
from tests.arrange.columns_cases import check_same, fetched, on_fibers
from tests.arrange.filter.filter_cases import random_condition, random_table

pytestmark = pytest.mark.fibers

CONDITIONS = {
    "integers": (col("i8") * 3 - col("i32") > 2) & (col("u16") <= 5.5) | (col("u64") < col("i64")) & (7 - col("i16") % 3 == 5),
    "unsigned": (col("u64") // 2 * 3 + 1 >= col("u64")) | (col("u8") < col("u32")) & (col("u64") > 2**63),
    "floats": (col("f32") / 2 < col("f64")) | (col("i16") + 0.5 == 3.5) | (col("f32") * col("f32") - 1 > 3),
    "lists": col("i64").is_in([1, 2, 2**63 - 1])
    | col("f32").is_in([0.5, 3])
    | col("f64").is_in([0.1])
    | col("u64").is_in([3, 9]),
    "times": (col("date") <= col("moment")) & (col("second") != col("moment")) | (col("time") > "12:00") | col("span").is_null(),
    "decimals": (col("price") > col("i64")) | (col("price") == 0) | ~(col("bool") ^ (col("price") <= Decimal("1.05"))),
    "texts": (col("text") < col("view")) & col("word").is_in(["", "ab", "é"]) | (col("large") >= "abc") | (col("bytes") == b"b"),
    "parts": col("text").str.contains("b") ^ col("view").str.starts_with("a longer text than twelve b")
    | col("word").str.ends_with(""),
    "nulls": (col("nothing") > 3) | ~col("bool") | col("nothing").is_null() & col("i8").is_not_null(),
    "none": col("i8") > 1000,
    "all": col("nothing").is_null(),
}


def check(launcher: FiberLauncher, table: Table, condition: ColumnExpression) -> None:
    """Compare the kernels' result with the CPU's."""
    columns = {name: on_fibers(launcher, column) for name, column in table.columns.items()}
    found = filter_with(launcher, columns, compiled(condition, table.schema), threads=32)
    for name, column in table.filter(condition).columns.items():
        if column is not table[name]:
            check_same(fetched(found[name]), column)
        assert fetched(found[name]).to_pylist() == column.to_pylist()


@pytest.mark.long_except("integers", "texts")
@pytest.mark.parametrize("name", CONDITIONS)
def test_conditions(name: str) -> None:
    table = Table.from_arrow(random_table(330, seed=3))
    for part in (table[5:305], table[:1], table[7:7]):
        check(FiberLauncher("random", 3), part, CONDITIONS[name])


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_random_combinations(seed: int) -> None:
    table = Table.from_arrow(random_table(259, seed))
    rng = random.Random(seed)
    check(FiberLauncher("random", seed), table, random_condition(rng, list(CONDITIONS.values()), 4))


def test_a_deep_condition() -> None:
    table = Table.from_arrow(random_table(40, seed=9))
    condition = col("i8") > 0
    for number in range(40):
        condition = (col("i16") == number) | condition
    check(FiberLauncher("forward", 1), table, condition)
