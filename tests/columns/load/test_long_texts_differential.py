"""Tests texts of 64 KB and more, which a load copies from the tile's text to the result, beside short ones and PyArrow."""

from __future__ import annotations

import pyarrow as pa
import pytest

from headrace import read_csv

LONG = 70_000


@pytest.mark.parametrize("type_", ["string", "large_string", "binary"])
@pytest.mark.parametrize("on_error", ["null", "reject"])
def test_rows_that_stay(type_: str, on_error: str) -> None:
    texts = ["a" * LONG, "b" * (LONG + 1), "", "short", "c" * 3 * LONG, "é" * LONG, '"in ""quotes"""', "d" * LONG]
    numbers = ["1", "x", "3", "4", "x", "6", "7", ""]
    rows = [(text, number) for _ in range(3) for text, number in zip(texts, numbers, strict=True)]
    text = "t,n\n" + "".join(f"{text},{number}\n" for text, number in rows)
    kept = [text for text, number in rows if on_error == "null" or number != "x"]
    written = [None if text == "" else text.replace('"in ""quotes"""', 'in "quotes"') for text in kept]
    expected = pa.array(written, pa.string()).cast(getattr(pa, type_)())
    for chunk_bytes in (4096, 1 << 18, 1 << 22):
        for threads in (1, 3):
            dtypes = {"t": type_, "n": "int64"}
            table = read_csv(text.encode(), dtypes=dtypes, on_error=on_error, chunk_bytes=chunk_bytes, threads=threads)
            array = pa.array(table["t"])
            array.validate(full=True)
            assert array.equals(expected)
