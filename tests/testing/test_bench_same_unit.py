"""The benchmarks' comparison of tables sees every byte of every column, the last string included."""

from __future__ import annotations

from typing import Any

import pytest

import headrace
from bench.read.same import difference


def table(rows: list[bytes], **options: Any) -> headrace.Table:
    schema = options.pop("schema", ["int64", "string", "bool"])
    return headrace.read_csv(b"\n".join(rows) + b"\n", header=False, schema=schema, **options)


def rows_of(count: int) -> list[bytes]:
    return [b"%d,text of %d,%s" % (i, i, b"true" if i % 3 else b"") for i in range(count)]


@pytest.mark.parametrize("place", [0, 1_999, 2_000, 4_999])
@pytest.mark.parametrize(
    ("row", "told"),
    [
        (b"-1,text of %d,true", "column column_1: values"),
        (b"%d,text 0f %d,true", "column column_2: values"),
        (b"%d,,true", "column column_2: 5000 rows, 1 null, not 5000 rows, 0 null"),
        (b"%d,text of %d,false", "column column_3: values"),
    ],
)
def test_one_value_that_differs_is_told(place: int, row: bytes, told: str) -> None:
    rows = rows_of(5_000)
    rows[place] = b"%d,text of %d,true" % (place, place)
    expected = table(rows)
    assert difference(table(rows), expected) == ""
    rows[place] = row % ((place,) * row.count(b"%d"))
    assert difference(table(rows), expected) == told


def test_nulls_that_change_places_are_told() -> None:
    rows = [b"1,a,true"] * 100
    one, other = list(rows), list(rows)
    one[98], other[99] = b",a,true", b",a,true"
    assert difference(table(one), table(other)) in {"column column_1: validity", "column column_1: values"}


@pytest.mark.parametrize("form", ["string_view", "dictionary"])
def test_other_forms_of_text(form: str) -> None:
    rows = rows_of(3_000)
    expected = table(rows, schema=["int64", form, "bool"])
    assert difference(table(rows, schema=["int64", form, "bool"]), expected) == ""
    rows[2_999] = b"2999,text of 2998,true"
    assert difference(table(rows, schema=["int64", form, "bool"]), expected).startswith("column column_2")


def test_schemas_and_lengths_are_compared_first() -> None:
    rows = rows_of(10)
    assert difference(table(rows[:9]), table(rows)).startswith("column column_1: 9 rows")
    assert difference(table(rows, schema=["int32", "string", "bool"]), table(rows)).startswith("schema")
