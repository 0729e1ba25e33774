"""Tests texts that a load writes as views, tile by tile, against PyArrow's views and against a plain read."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from headrace import read_csv
from headrace.encode.texts import as_views
from tests.columns.load.stored_texts_cases import rows_that_stay
from tests.tiers import seeds

WORDS = ["", "a", "twelve bytes", "thirteen byte", "é" * 6, "é" * 7, "x" * 31, "y" * 32, "z" * 33, "NA", "no number"]
TILES = [256, 1000, 1 << 18]


def check(text: str, expected: list[str | None], **options: Any) -> None:
    """Compare column `t` of a text: its values with `expected`, and its buffers with the views of a plain read."""
    plain = as_views(read_csv(text.encode(), **options)["t"], 1)
    for chunk_bytes in TILES:
        for threads in (1, 3):
            column = read_csv(text.encode(), strings="view", chunk_bytes=chunk_bytes, threads=threads, **options)["t"]
            assert column.to_pylist() == expected
            array = pa.array(column)
            array.validate(full=True)
            assert array.equals(pa.array(expected, pa.string_view()))
            assert column.null_count == expected.count(None)
            for one, other in [(column.values, plain.values), *zip(column.data, plain.data, strict=True)]:
                assert memoryview(one) == memoryview(other)


@pytest.mark.parametrize("seed", seeds(10))
@pytest.mark.parametrize("on_error", ["null", "reject"])
@pytest.mark.parametrize("nulls", [[""], ["", "NA"]], ids=["copied from the tile", "looked up"])
def test_rows_that_stay(seed: int, on_error: str, nulls: list[str]) -> None:
    text, expected = rows_that_stay(WORDS, seed, on_error, nulls)
    check(text, expected, header=True, dtypes={"n": "int64"}, null_values=nulls, on_error=on_error)


def test_a_column_that_becomes_text_late() -> None:
    values = [str(i) for i in range(60_000)] + ["a text of twenty bytes"] + ["7"] * 100
    check("t\n" + "".join(value + "\n" for value in values), list(values), header=True)


def test_a_column_without_a_value() -> None:
    check("t,n\n" + ",1\n" * 1000, [None] * 1000)


def test_records_without_the_column() -> None:
    text = "n,t\n" + "1,a text of more than twelve bytes\n2\n" * 500
    check(text, ["a text of more than twelve bytes", None] * 500, short_records="null")


def test_invalid_utf_8_is_replaced() -> None:
    text = b"t\n" + b"more than twelve \xff bytes\nshort\xff\n" * 500
    column = read_csv(text, strings="view", encoding_errors="replace", chunk_bytes=300)["t"]
    assert pa.array(column).equals(pa.array(["more than twelve \ufffd bytes", "short\ufffd"] * 500, pa.string_view()))
