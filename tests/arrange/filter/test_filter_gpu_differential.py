"""Compares filters of tables in a GPU's memory with filters of the same tables on the CPU."""

from __future__ import annotations

import datetime
import random

import pytest

import headrace
from headrace import ColumnExpression, col
from tests.arrange.filter.filter_cases import random_condition

pytestmark = pytest.mark.gpu

DTYPES = {
    "i8": "int8",
    "i64": "int64",
    "f32": "float32",
    "f64": "float64",
    "flag": "bool",
    "day": "date32",
    "moment": "timestamp[us]",
    "text": "string",
    "word": "category",
}
WORDS = ["", "ab", "abc", "b", "a longer text than twelve bytes", "a longer text than twelve", "\u00e9"]


def text_of(rows: int) -> bytes:
    rng = random.Random(rows)
    records = [",".join(DTYPES)]
    for _ in range(rows):
        fields = [
            str(rng.randint(-5, 5)),
            str(rng.choice([-(2**63), 2**63 - 1, 0, 7])),
            str(rng.choice([0.5, -1.25, 1e30])),
            str(rng.choice([0.1, -1e300, 3.0])),
            rng.choice(["true", "false"]),
            f"2024-01-{rng.randint(1, 31):02}",
            f"2024-01-01 {rng.randint(0, 23):02}:00:00.000001",
            '"' + rng.choice(WORDS) + '"',
            '"' + rng.choice(WORDS) + '"',
        ]
        records.append(",".join("" if rng.random() < 0.2 else field for field in fields))
    return ("\n".join(records) + "\n").encode()


def conditions() -> list[ColumnExpression]:
    leaves: list[ColumnExpression] = [
        col("i8") < 1,
        col("i8") + 3 == 4,
        col("i64") >= 7,
        col("i64") > col("i8"),
        col("f32") < 0.5,
        col("f64") * 2 > 0.2,
        col("flag"),
        col("day") <= datetime.date(2024, 1, 15),
        col("text") == "ab",
        col("text") < "abc",
        col("text").is_in(["b", "a longer text than twelve"]),
        col("word") != "ab",
        col("text").is_null(),
        col("f64").is_null(),
    ]
    rng = random.Random(1)
    return [*leaves, *(random_condition(rng, leaves, 3) for _ in range(10))]


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 1025, 20_000])
def test_filters_of_a_gpu(rows: int) -> None:
    text = text_of(rows)
    on_gpu = headrace.read_csv(text, dtypes=DTYPES, device="cuda")
    on_cpu = headrace.read_csv(text, dtypes=DTYPES, device="cpu")
    for condition in conditions():
        expected = on_cpu.filter(condition)
        assert on_gpu.filter(condition).to_arrow().equals(expected.to_arrow()), condition
