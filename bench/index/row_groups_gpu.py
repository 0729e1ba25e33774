"""Measures the search for equal rows of tables on a GPU: unique, value_counts and lookup, beside the dictionary encoder.

usage: python -m bench.index.row_groups_gpu [--log N] [--repeat N] [--out FILE]

Columns are of int64 or of texts of 9 to 17 bytes, with few or many distinct values. Answers are compared with those of the CPU
before they are timed. Rates are millions of rows a second by the call, with the input and the result on the GPU. The encoder's
column has the rates at which the same texts become a dictionary; it finds the first row of each text as well.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import headrace
from bench.gpu_timing import call_ms
from bench.machine import description
from bench.tables import Page
from headrace import Context, Table
from headrace.arrange.gather.take_gpu import columns_launcher
from headrace.columns.types import DataType
from headrace.core.errors import HeadraceError
from headrace.encode.texts import as_dictionary
from headrace.encode.texts_gpu import encoded_on_gpu

SPANS = (3, 1_000, 1 << 40)
"""Numbers from which values are drawn: few, some, and nearly all distinct."""


def table_of(count: int, span: int, kind: str) -> Table:
    """Return a table of one column."""
    numbers = np.random.default_rng(span).integers(0, span, count).tolist()
    before = "value " if kind == "string" else ""
    text = "n\n" + "\n".join(f"{before}{number:03}" for number in numbers)
    return headrace.read_csv(text.encode(), dtypes={"n": kind}, header=True)


def require(is_right: bool, name: str) -> None:
    """Raise an error if a check failed."""
    if not is_right:
        raise HeadraceError(f"wrong answer: {name}")


def encoded(table: Table, context: Context) -> Any:
    """Return the column of a table as a dictionary."""
    with columns_launcher(table.columns, context) as (launcher, _):
        return encoded_on_gpu(launcher, [table["n"]], [DataType("dictionary")], None)[0]


def rows_of(count: int, repeat: int) -> list[list[str]]:
    """Return a row for each column."""
    rows, context = [], Context(device="cuda")
    for kind in ("int64", "string"):
        for span in SPANS:
            table = table_of(count, span, kind)
            given, distinct = table.to("cuda"), table.unique()
            theirs = distinct.to("cuda")
            require(given.unique().to("cpu").equals(distinct), "unique")
            require(given.value_counts().to("cpu").equals(table.value_counts()), "value_counts")
            places = given.lookup(theirs, "n").to_numpy()
            require(np.array_equal(places, table.lookup(distinct, "n")), "lookup")
            ways: list[Callable[[], Any]] = [
                lambda given=given: given.unique(),
                lambda given=given: given.value_counts(),
                lambda given=given, theirs=theirs: given.lookup(theirs, "n"),
            ]
            if kind == "string":
                ours, host = encoded(given, context).to("cpu"), as_dictionary(table["n"], 8)
                require(
                    ours.to_pylist() == host.to_pylist() and ours.dictionary.to_pylist() == host.dictionary.to_pylist(), "codes"
                )
                ways.append(lambda given=given: encoded(given, context))
            rates = [f"{count / call_ms(work, repeat) / 1e3:.0f}" for work in ways]
            rows.append([f"{kind}, {len(distinct):,} distinct", f"{count:,}", *rates, *[""] * (4 - len(rates))])
    return rows


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", type=int, default=22, help="logarithm of the number of rows")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    page = Page()
    page.head("Equal rows", f"{description()}", ["rows", "unique", "value_counts", "lookup", "dictionary encoder"])
    for row in rows_of(1 << options.log, options.repeat):
        page.say(f"| {' | '.join(row)} |")
    page.keep(options.out)


if __name__ == "__main__":
    main()
