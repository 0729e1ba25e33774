"""Tests that the fast conversion reads numbers of which negative ones are null, under the fiber harness against the CPU."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.columns.load.load_gpu_cases import LARGER_SHAPE, check

pytestmark = pytest.mark.fibers

INTEGERS = ["7", "123456", "-999", "-99", "-9990", "-1", "-0", "0", "-12345678", "-12345678901", ""]
REALS = [*INTEGERS, "1.5", "-1.5", "-999.0", "-999.00", "-1e2", "-.5", "12345678.25"]
NULLS = [["-999"], ["-999", "", "-1.5"], ["-12345678901", "-"], ["-1e2", "-999.0"], ["-0", "-x"]]


def text_of(rng: random.Random, rows: int, quotes: bool) -> bytes:
    def field(texts: list[str]) -> str:
        text = rng.choice(texts)
        return f'"{text}"' if quotes and rng.random() < 0.2 else text

    return "".join(f"{field(INTEGERS)},{field(REALS)},{field(INTEGERS[:7])}\n" for _ in range(rows)).encode()


@pytest.mark.parametrize("nulls", NULLS, ids=str)
@pytest.mark.parametrize("types", [None, ["int64", "float64", "int32"], ["int64", "float32", "int16"]])
def test_negative_null_texts(nulls, types, left):
    data = text_of(random.Random(str(nulls)), 400, quotes=False)
    options: dict[str, Any] = {} if types is None else {"schema": types, "on_error": "null"}
    check(data, header=False, null_values=nulls, shape=LARGER_SHAPE, **options)
    assert left
    assert types != ["int64", "float64", "int32"] or all(marked == 0 for marked, _ in left)


@pytest.mark.parametrize("quoted_null", [False, True])
def test_negative_null_texts_in_quotes(quoted_null, left):
    data = text_of(random.Random(quoted_null), 300, quotes=True)
    for types in (None, ["int64", "float64", "int32"]):
        options: dict[str, Any] = {} if types is None else {"schema": types, "on_error": "null"}
        check(data, header=False, null_values=["-999", "-1.5"], quoted_null=quoted_null, **options)
    assert left


@pytest.mark.parametrize("nulls", [["999"], ["-999", "7"], ["-1", "1e2"], ["-999", "NA"]], ids=str)
def test_other_null_texts(nulls):
    data = text_of(random.Random(str(nulls)), 200, quotes=False)
    check(data, header=False, null_values=nulls)
    check(data, header=False, null_values=nulls, schema=["int64", "float64", "int32"], on_error="null")


def test_words_for_bools_that_look_like_values():
    """Inference takes -1 for true, also in a column of numbers."""
    data = text_of(random.Random(8), 200, quotes=False)
    check(data, header=False, null_values=["-999"], true_values=["-1"], false_values=["0"])
    check("-1\n0\n-999\n".encode() * 50, header=False, null_values=["-999"], true_values=["-1"], false_values=["0"])
