"""Measures the encoding of columns by sorted dictionaries, and their decoding, beside pandas, PyArrow and Polars.

usage: python -m bench.store.encode [--rows LOG2] [--threads N] [--kinds NAME,...] [--cpu-time] [--out FILE]

Columns have types of numbers, dates and texts, and 1 % to 100 % of the rows as distinct values. The dictionaries of headrace are
sorted, and so is that of `pandas.factorize(sort=True)`. PyArrow, `pandas.factorize` and Polars keep the order of first rows.
Polars casts texts to categories, and has none of numbers. Every answer is checked before it is timed. The calls of a row
alternate. The ratio is to the fastest peer that does not sort.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa

import headrace
from bench.machine import description_line
from bench.store.measure import NUMBERS, TEXTS, column_of, in_turns_of_calls, values_of
from bench.tables import Page
from headrace import Context, dictionary

UNIQUES = (1, 10, 100)
"""Distinct values in percent of the rows."""
_PEERS = ("PyArrow", "pandas", "Polars", "pandas, sorted")


def calls_of(column: Any, given: Any, context: Context) -> dict[str, Callable[[], Any]]:
    """Return the calls that encode a column, by name. `given`: it as an array of PyArrow."""
    plain = given.to_numpy(zero_copy_only=False)
    if plain.dtype.kind == "M":
        plain = plain.astype("datetime64[s]")  # pandas has no days
    calls: dict[str, Callable[[], Any]] = {
        "headrace": partial(dictionary.encode, column, context=context),
        "PyArrow": given.dictionary_encode,
        "pandas": partial(pd.factorize, plain),
        "pandas, sorted": partial(pd.factorize, plain, sort=True),
    }
    if pa.types.is_string(given.type):
        calls["Polars"] = partial(pl.from_arrow(given).cast, pl.Categorical)
    return calls


def check(calls: dict[str, Callable[[], Any]], column: Any, given: Any, context: Context) -> None:
    """Raise AssertionError if an answer is wrong."""
    found = calls["headrace"]()
    words = pa.array(dictionary.unpack(found.words, found.bits, len(found)))
    assert arrow_of(found.dictionary).equals(given.unique().sort())
    assert arrow_of(found.dictionary).take(words).equals(given)
    assert arrow_of(dictionary.decode(found, context=context)).equals(given)
    assert calls["PyArrow"]().dictionary_decode().equals(given)
    for name in ("pandas", "pandas, sorted"):
        codes, values = calls[name]()
        assert pa.array(values[codes]).cast(given.type).equals(given)
    if "Polars" in calls:
        assert calls["Polars"]().cast(pl.String).to_arrow().cast(given.type).equals(given)


def arrow_of(column: Any) -> Any:
    """Return a column as an array of PyArrow."""
    return pa.table(headrace.Table({"x": column}))["x"].combine_chunks()


def encoding(page: Page, kind: str, rows: int, context: Context, *, cpu_time: bool) -> None:
    """Add the rows of a kind of values."""
    for share in UNIQUES:
        given = column_of(values_of(kind, max(rows * share // 100, 1)), rows, share)
        column = headrace.Table.from_arrow(pa.table({"x": given}))["x"]
        calls = calls_of(column, given, context)
        check(calls, column, given, context)
        found, encoded = in_turns_of_calls(calls, cpu_time=cpu_time), calls["headrace"]()
        peer = min(found[name] for name in ("PyArrow", "pandas", "Polars") if name in found)
        arrow = calls["PyArrow"]()
        decodes = {"headrace": partial(dictionary.decode, encoded, context=context), "PyArrow": arrow.dictionary_decode}
        back = in_turns_of_calls(decodes, cpu_time=cpu_time)
        rates = {name: rows / found[name] / 1e6 for name in found}
        cells = [f"{rates[name]:,.1f}" if name in rates else "" for name in ("headrace", *_PEERS)]
        decoded = [f"{rows / back[name] / 1e6:,.0f}" for name in ("headrace", "PyArrow")]
        page.say(
            f"| {kind}, {share} % distinct | {' | '.join(cells)} | **{peer / found['headrace']:.2f}** | {' | '.join(decoded)} |"
        )
        page.figure(kind=kind, uniques=share, encode=found, decode=back)


def main() -> int:
    """Run the kinds of the command line and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--kinds", default=",".join((*NUMBERS, *TEXTS)))
    parser.add_argument("--cpu-time", action="store_true")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    page, context = Page(), Context(threads=given.threads)
    page.say("# Encoding of columns by dictionaries\n")
    page.say(description_line())
    columns = ["headrace", *_PEERS, "ratio", "decode", "decode, PyArrow"]
    page.head("Rates", "Million rows a second. Columns of texts have a quarter of the rows.", columns)
    for kind in given.kinds.split(","):
        encoding(page, kind, 1 << given.rows - (2 if kind in TEXTS else 0), context, cpu_time=given.cpu_time)
    page.keep(given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
