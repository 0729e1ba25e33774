"""Tests nan and inf among the floats of a column against Python's float, on each instruction set."""

from __future__ import annotations

import math
import random

import pytest

from headrace import Context, read_csv
from tests.isas import EACH_ISA

pytestmark = pytest.mark.isas
WORDS = ["nan", "NaN", "-nan", "inf", "-inf", "INF", "-Inf", "infinity", "-Infinity", "1.5", "-2.25", "0.125", "1e300", "7.0"]


def bits(value: float | None) -> tuple[str, float] | None:
    """Return the sign and the value, with 0 for nan, which equals nothing."""
    return None if value is None else (math.copysign(1, value).hex(), 0.0 if math.isnan(value) else value)


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("given", [False, True], ids=["inferred", "given"])
@pytest.mark.parametrize("write", ["{}", '"{}"'], ids=["bare", "quoted"])
@pytest.mark.parametrize("nulls", [[""], ["", "NaN", "-inf"]], ids=["", "null words"])
def test_floats_with_words(isa: str, given: bool, write: str, nulls: list[str]) -> None:
    rng = random.Random(len(write) + len(nulls))
    words = ["1.5", *rng.choices(WORDS, k=1000)]
    text = "x\n" + "".join(write.format(word) + "\n" for word in words)
    dtypes = {"x": "float64"} if given else {}
    column = read_csv(text.encode(), header=True, dtypes=dtypes, null_values=nulls, context=Context(isa=isa))["x"]
    assert str(column.type) == "float64"
    quoted = write != "{}"
    expected = [None if word in nulls and not quoted else float(word) for word in words]
    assert [bits(value) for value in column.to_pylist()] == [bits(value) for value in expected]


@pytest.mark.parametrize("isa", EACH_ISA)
def test_words_with_a_plus_and_payloads(isa: str) -> None:
    text = b"x\n1.5\n+inf\n+nan\n-nan(0x1)\nsnan\n"
    column = read_csv(text, header=True, dtypes={"x": "float64"}, on_error="null", context=Context(isa=isa))["x"]
    assert [bits(value) for value in column.to_pylist()] == [bits(v) for v in [1.5, math.inf, math.nan, -math.nan, None]]


@pytest.mark.parametrize("isa", EACH_ISA)
def test_a_word_for_false(isa: str) -> None:
    text = b"x\n" + b"1.5\n2.5\nnan\n" * 40
    table = read_csv(text, header=True, true_values=["inf"], false_values=["nan"], context=Context(isa=isa))
    assert str(table["x"].type) == "string"
