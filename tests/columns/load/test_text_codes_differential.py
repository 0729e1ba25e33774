"""Tests dictionaries that a load encodes tile by tile against PyArrow's and against the dictionary of a plain read."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

from headrace import Context, read_csv
from headrace.encode.texts import as_dictionary
from tests.columns.load.stored_texts_cases import rows_that_stay
from tests.tiers import seeds

WORDS = ["", "a", "b", "sixteen bytes ...", "é" * 8, "x" * 31, "y" * 32, "y" * 33, "z" * 33, "NA", "no number"]
TILES = [256, 5000, 1 << 18]


def check(text: bytes, expected: list[str | None], **options: Any) -> None:
    """Compare column `t` of a text: its values with `expected`, and its buffers with the dictionary of a plain read."""
    plain = as_dictionary(read_csv(text, **options)["t"], 1)
    assert plain.dictionary is not None
    for chunk_bytes in TILES:
        for threads in (1, 3):
            column = read_csv(text, strings="dictionary", chunk_bytes=chunk_bytes, threads=threads, **options)["t"]
            array = pa.array(column)
            array.validate(full=True)
            assert array.equals(pa.array(expected, pa.string()).dictionary_encode())
            assert column.null_count == expected.count(None)
            assert column.dictionary is not None
            assert column.dictionary.length == plain.dictionary.length
            assert column.dictionary.offsets is not None
            assert plain.dictionary.offsets is not None
            pairs = [(column.values, plain.values), (column.dictionary.values, plain.dictionary.values)]
            for one, other in [*pairs, (column.dictionary.offsets, plain.dictionary.offsets)]:
                assert memoryview(one) == memoryview(other)


@pytest.mark.parametrize("seed", seeds(10))
@pytest.mark.parametrize("on_error", ["null", "reject"])
@pytest.mark.parametrize("nulls", [[""], ["", "NA"]], ids=["found in the tile", "converted"])
def test_rows_that_stay(seed: int, on_error: str, nulls: list[str]) -> None:
    text, expected = rows_that_stay(WORDS, seed, on_error, nulls)
    check(text.encode(), expected, header=True, dtypes={"n": "int64"}, null_values=nulls, on_error=on_error)


@pytest.mark.parametrize("distinct", [1, 40, 1500, 3000, 1_000_000])
def test_numbers_of_texts(distinct: int) -> None:
    rng = random.Random(distinct)
    values = [f"text {rng.randrange(distinct)}" for _ in range(20_000)]
    check(("t\n" + "".join(value + "\n" for value in values)).encode(), list(values), header=True)


def test_few_texts_before_many() -> None:
    values = ["red", "green"] * 2000 + [f"a text of more than sixteen bytes {i}" for i in range(20_000)] + ["green"]
    check(("t\n" + "".join(value + "\n" for value in values)).encode(), list(values), header=True)


@pytest.mark.parametrize("on_error", ["null", "reject"])
def test_codes_become_texts_again_if_there_are_many(on_error: str) -> None:
    rng = random.Random(7)
    few = [rng.choice(["red", "", "a text of more than sixteen bytes", "y" * 33]) for _ in range(5000)]
    values = few + [f"a text of more than sixteen bytes {i}" if i % 3 else str(i) for i in range(9000)] + few
    numbers = [rng.choice(["1", "1", "x"]) for _ in values]
    text = "t,n\n" + "".join(f"{value},{number}\n" for value, number in zip(values, numbers, strict=True))
    rows = [value or None for value, number in zip(values, numbers, strict=True) if on_error == "null" or number == "1"]
    check(text.encode(), rows, dtypes={"n": "int64"}, on_error=on_error)


def test_many_texts_before_few() -> None:
    values = [f"text {i}" for i in range(3000)] + ["red", "green"] * 5000
    check(("t\n" + "".join(value + "\n" for value in values)).encode(), list(values), header=True)


def test_a_column_that_becomes_text_late() -> None:
    values = [str(i % 100) for i in range(60_000)] + ["a text of twenty bytes"] + ["7"] * 100
    check(("t\n" + "".join(value + "\n" for value in values)).encode(), list(values), header=True)


def test_columns_do_not_share_texts() -> None:
    text = ("s,t\n" + "red,red\ngreen,blue\nblue,green\nred,\n" * 3000).encode()
    check(text, ["red", "blue", "green", None] * 3000)


def test_a_column_without_a_value() -> None:
    check(b"t,n\n" + b",1\n" * 1000, [None] * 1000)


def test_records_without_the_column() -> None:
    check(b"n,t\n" + b"1,a text of some bytes\n2\n" * 500, ["a text of some bytes", None] * 500, short_records="null")


def test_invalid_utf_8_is_replaced() -> None:
    text = b"t\n" + b"some \xff bytes\nshort\xff\n" * 500
    check(text, ["some \ufffd bytes", "short\ufffd"] * 500, encoding_errors="replace")
    assert read_csv(text, strings="dictionary", encoding_errors="replace").report.replaced == 1000


def test_a_memory_limit() -> None:
    text = b"t\n" + b"red\ngreen\n" * 5000
    column = read_csv(text, strings="dictionary", context=Context(memory_limit=100 << 20), chunk_bytes=5000)["t"]
    assert column.to_pylist() == ["red", "green"] * 5000
