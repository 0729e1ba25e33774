"""Compares conditions on texts and on lists of values with Python's: sizes around a word, equal prefixes, ends of buffers."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from headrace import Table, col

PREFIX = "prefix of"
TEXTS = [PREFIX[:size] for size in range(9)] + [
    PREFIX[:7] + "ä",
    PREFIX[:8] + "f",
    PREFIX[:8] + "g",
    PREFIX + " more",
    "\0",
    "\0\0",
]
TEXTS += [PREFIX + " a text that is longer than a view has room for" + end for end in ("", "\0", "x", "y")]
FORMS = {
    "string": pa.string(),
    "large_string": pa.large_string(),
    "string_view": pa.string_view(),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
}


def column_of(texts: list[str | None], form: str) -> Table:
    kind = FORMS[form]
    array = pa.array(texts, pa.string()).dictionary_encode() if form == "dictionary" else pa.array(texts, kind)
    return Table.from_arrow(pa.table({"x": array, "row": pa.array(range(len(texts)))}))


def rows(table: Table, condition: Any) -> list[int]:
    return table.filter(condition)["row"].to_pylist()


@pytest.mark.parametrize("form", FORMS)
def test_equality_of_texts(form: str) -> None:
    rng = random.Random(3)
    texts = [*TEXTS, None, *rng.choices([*TEXTS, None], k=2200), *TEXTS]
    table = column_of(texts, form)
    for literal in [*TEXTS, "absent", PREFIX + "!"]:
        assert rows(table, col("x") == literal) == [row for row, text in enumerate(texts) if text == literal]
        unequal = [row for row, text in enumerate(texts) if text is not None and text != literal]
        assert rows(table, col("x") != literal) == unequal


@pytest.mark.parametrize("form", FORMS)
def test_the_last_texts_of_a_buffer(form: str) -> None:
    for text in TEXTS:
        for count in (0, 1, 9):
            table = column_of([*[""] * count, text, *[""] * count], form)
            expected = [row for row in range(2 * count + 1) if text == "" or row == count]
            assert rows(table, col("x") == text) == expected
            assert rows(table, col("x").is_in([text, "absent"])) == expected


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("count", [0, 1, 2, 5, 40, 5000])
def test_lists_of_texts(form: str, count: int) -> None:
    rng = random.Random(count)
    listed = [*rng.sample(TEXTS, min(count, 9)), *(f"{PREFIX[:8]}{number}" for number in range(count - 9))]
    texts = rng.choices([*TEXTS, *listed, None], k=1500)
    expected = [row for row, text in enumerate(texts) if text in set(listed)]
    assert rows(column_of(texts, form), col("x").is_in(listed)) == expected


@pytest.mark.parametrize("kind", ["int8", "uint16", "int64", "uint64", "float32", "float64"])
@pytest.mark.parametrize("count", [0, 1, 7, 300, 5000])
def test_lists_of_numbers(kind: str, count: int) -> None:
    rng = np.random.default_rng(count)
    numbers = rng.integers(0, 120, 1500).astype(kind)
    if kind.startswith("float"):
        numbers[::7] = [-0.0, 0.5, np.nan, np.inf, 1e30][count % 5]
    table = Table.from_arrow(pa.table({"x": numbers, "row": np.arange(len(numbers))}))
    listed = rng.integers(0, 9000, count).tolist() + ([0.5, float("inf"), -0.0] if kind.startswith("float") and count else [])
    assert (
        rows(table, col("x").is_in(listed))
        == np.flatnonzero(np.isin(numbers, np.array(listed, numbers.dtype if kind[0] == "f" else "i8"))).tolist()
    )


def test_two_lists_and_columns_of_nulls() -> None:
    table = Table.from_arrow(pa.table({"x": ["a", "b", None], "n": [1, 2, 3], "row": [0, 1, 2]}))
    assert rows(table, col("x").is_in(["a"]) | col("n").is_in([3, 2])) == [0, 1, 2]
    assert rows(table, ~col("x").is_in(["a"]) & col("n").is_in([3, 2])) == [1]
    nulls = column_of([None] * 5, "dictionary")
    for condition in (col("x") == "a", col("x") != "a", col("x").is_in(["a"])):
        assert rows(nulls, condition) == []
