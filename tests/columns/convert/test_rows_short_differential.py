"""Tests short records that are filled with nulls, by rows, under the fiber harness against `read_csv` on the CPU."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.columns.convert.rows_cases import shape
from tests.columns.load.load_gpu_cases import check

pytestmark = pytest.mark.fibers

TYPES = ["int32", "string", "float64", "bool", "date32", "string", "decimal128(12, 2)", "timestamp[us]", "int8", "time64[us]"]
VALUES = [
    ["1", "-20", "123456789", ""],
    ["", "a", "words of a text", "z" * 40, '"q"'],
    ["1.5", "-2", "1e3", "", "12345678.25"],
    ["true", "false", ""],
    ["2024-02-29", "", "1999-01-01"],
    ["b", "", "another"],
    ["1.25", "-7", ""],
    ["2024-01-01T10:00:00", "2024-01-01 10:00", ""],
    ["1", "-1", ""],
    ["10:00:00", "10:00:00.5", ""],
]


def records(rng: random.Random, columns: list[int], share: float) -> list[str]:
    """Return lines, of which that share has fewer fields."""
    lines = []
    for _ in range(300):
        count = rng.randrange(1, len(columns) + 1) if rng.random() < share else len(columns)
        lines.append(",".join(rng.choice(VALUES[column]) for column in columns[:count]))
    return [line or VALUES[columns[0]][1] for line in lines]


@pytest.mark.long_except("[01]-*", "*-{}")
@pytest.mark.parametrize("options", [{}, {"comment": "#"}, {"columns": [1, 3, 4]}, {"columns": [0]}], ids=str)
@pytest.mark.parametrize("seed", range(8))
def test_missing_fields_are_null(left, seed, options: dict[str, Any]):
    """Rows read them without the general conversion, and count these records, whichever column is the first to be missing."""
    rng = random.Random(seed)
    columns = rng.sample(range(len(TYPES)), rng.randrange(5, len(TYPES) + 1))
    given = {"header": False, "on_error": "null", "short_records": "null", "schema": [TYPES[column] for column in columns]}
    line_end = "\r\n" if seed % 3 == 1 else "\n"
    lines = records(rng, columns, rng.choice([0.05, 0.5]))
    lines.insert(rng.randrange(200), "#1" if "comment" in options else lines[7])
    data = line_end.join(lines) + line_end * (seed % 2)
    if seed % 4 == 3:
        data = data.replace(",a,", ',"a,b",')
    check(data.encode(), **given, **options, skew=seed % 16, seed=seed, shape=shape(only_dfa=seed == 6))
    marked, tiles = left[-1]
    assert marked <= tiles // 4


def test_records_of_declined_tiles_are_counted_once(left):
    """A tile is converted again for a later one, which has a record with too many fields that began in the tile."""
    lines = [f"{i},x" + ",2" * (i % 3 != 0) for i in range(300)]
    lines[150] = "1,yyy,2,3," + "z" * 2500
    options = {"header": False, "on_error": "null", "short_records": "null", "long_records": "reject"}
    check("\n".join(lines).encode(), schema=["int32", "string", "int8"], shape=shape(), **options)
    assert 0 < left[0][0] < left[0][1]


def test_columns_without_a_value_in_the_sample(left):
    """The general conversion reads their tiles again, which does not count the short records again."""
    lines = [f"{i},x" + ",2" * (i % 3 != 0) + "," * (i % 4 == 1) for i in range(3000)]
    lines[2800] = "5,x,2,late"
    check("\n".join(lines).encode(), header=False, on_error="null", short_records="null", shape=shape())
