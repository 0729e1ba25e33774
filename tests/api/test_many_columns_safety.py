"""Tables of many columns: the time that names, types and plans take grows with the columns, not with their square."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

import headrace
from headrace.columns.date_format import date_options
from headrace.columns.header import FieldKinds
from headrace.columns.plan.value_forms import FormOptions
from headrace.columns.schema import FirstRecord, SchemaOptions, plan_columns

FEW, MANY = 1000, 8000
MOST = 3 * MANY / FEW
"""Limit of the times' ratio: 8 if time grows with the columns, 64 if it grows with their square."""


def seconds(work: Callable[[], object]) -> float:
    """Return the least processor time of several runs."""
    found = []
    for _ in range(5):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return min(found)


def names(count: int) -> list[str]:
    return [f"c{i}" for i in range(count)]


def first(fields: list[str]) -> FirstRecord:
    return FirstRecord(0, tuple(field.encode() for field in fields))


WORK: dict[str, Callable[[int], object]] = {
    "equal names": lambda n: plan_columns(first(["a"] * n), SchemaOptions(header=True)),
    "equal names that are taken": lambda n: plan_columns(first([*names(n), *["c"] * n]), SchemaOptions(header=True)),
    "no names": lambda n: plan_columns(first([""] * n), SchemaOptions(header=True)),
    "names": lambda n: plan_columns(first(["1"] * n), SchemaOptions(header=False, names=names(n))),
    "columns": lambda n: plan_columns(first(names(n)), SchemaOptions(header=True, columns=names(n))),
    "dtypes": lambda n: plan_columns(first(names(n)), SchemaOptions(header=True, dtypes=dict.fromkeys(names(n), "int8"))),
    "schema": lambda n: plan_columns(first(names(n)), SchemaOptions(header=True, schema=dict.fromkeys(names(n), "int8"))),
    "null_values": lambda n: FormOptions(null_texts_of=dict.fromkeys(names(n), (b"-",))).plan(tuple(names(n))),
    "date_format": lambda n: plan_columns(
        first(names(n)),
        SchemaOptions(kinds=FieldKinds(dates=date_options(dict.fromkeys(names(n), "%Y-%m-%d"), False).any_of_them)),
    ),
}


@pytest.mark.parametrize("work", WORK.values(), ids=WORK)
def test_time_grows_with_the_columns(work: Callable[[int], object]) -> None:
    work(10)
    assert seconds(lambda: work(MANY)) < MOST * seconds(lambda: work(FEW)) + 0.02


def test_plans_of_several_files() -> None:
    def plan(count: int) -> float:
        text = ",".join(names(count)).encode() + b"\n" + b",".join([b"1"] * count) + b"\n"
        with headrace.scan_csv([text, text], dtypes="int8") as scan:
            plans = scan._started().plans
            with plans.files[0].opened() as opened:
                return seconds(lambda: plans.plan(0, opened, 0))

    assert plan(MANY) < MOST * plan(FEW) + 0.02


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("a,a,a", ["a", "a_1", "a_2"]),
        ("a,a_1,a,a", ["a", "a_1", "a_2", "a_3"]),
        ("a,a,a_2,a,a_2", ["a", "a_1", "a_2", "a_3", "a_2_1"]),
        (",column_1,,column_1", ["column_1_1", "column_1", "column_3", "column_1_2"]),
    ],
)
def test_equal_names_become_unique(header: str, expected: list[str]) -> None:
    text = header.encode() + b"\n" + b",".join([b"1"] * len(expected)) + b"\n"
    assert headrace.read_csv(text, header=True).column_names == expected
