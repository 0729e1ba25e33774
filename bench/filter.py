"""Times Table.filter beside Polars and PyArrow, in turns in one process: ``POLARS_MAX_THREADS=1 python -m bench.filter``."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

import headrace

ROWS = 4_000_000
WORDS = np.array(["Rome", "Oslo", "Paris", "Berlin", "New York City", "San Francisco Bay"])

CASES: dict[str, tuple[Callable[[Any], Any], pc.Expression]] = {
    "a < 1: 0.1 % of rows": (lambda col: col("a") < 1, pc.field("a") < 1),
    "a < 10: 1 %": (lambda col: col("a") < 10, pc.field("a") < 10),
    "a < 100: 10 %": (lambda col: col("a") < 100, pc.field("a") < 100),
    "a < 500: 50 %": (lambda col: col("a") < 500, pc.field("a") < 500),
    "a >= 0: all rows": (lambda col: col("a") >= 0, pc.field("a") >= 0),
    "(x * 2 > y + 1) & (i < 100)": (
        lambda col: (col("x") * 2 > col("y") + 1) & (col("i") < 100),
        (pc.field("x") * 2 > pc.field("y") + 1) & (pc.field("i") < 100),
    ),
    "s == 'Oslo'": (lambda col: col("s") == "Oslo", pc.field("s") == "Oslo"),
    "s contains 'York'": (
        lambda col: col("s").str.contains("York", **({"literal": True} if col is pl.col else {})),
        pc.match_substring(pc.field("s"), "York"),
    ),
    "a is one of 5": (
        lambda col: col("a").is_in([1, 5, 77, 300, 999]),
        pc.field("a").isin([1, 5, 77, 300, 999]),
    ),
    "s is one of 2": (lambda col: col("s").is_in(["Oslo", "Paris"]), pc.field("s").isin(["Oslo", "Paris"])),
}
"""Conditions for headrace and Polars, and for PyArrow."""


def arrow_table() -> pa.Table:
    """Return integers of 8 and 4 bytes, floats without and with nulls, and words."""
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "a": rng.integers(0, 1000, ROWS),
            "i": rng.integers(0, 1000, ROWS).astype("i4"),
            "x": rng.random(ROWS),
            "y": pa.array(rng.random(ROWS), mask=rng.random(ROWS) < 0.1),
            "s": pa.array(WORDS[rng.integers(0, len(WORDS), ROWS)]),
        }
    )


def best_seconds(calls: list[Callable[[], Any]], rounds: int = 9) -> list[float]:
    """Return the best time of each call; they take turns."""
    found = [float("inf")] * len(calls)
    for _ in range(rounds):
        for number, call in enumerate(calls):
            begin = time.perf_counter()
            call()
            found[number] = min(found[number], time.perf_counter() - begin)
    return found


def main() -> None:
    """Print a Markdown table. All libraries use as many threads as Polars."""
    threads = pl.thread_pool_size()
    pa.set_cpu_count(threads)
    context = headrace.Context(threads=threads)
    theirs = arrow_table()
    ours, frame = headrace.Table.from_arrow(theirs), pl.DataFrame(theirs)
    print(f"{ROWS:,} rows, {threads} thread(s); ms, and the peer's time divided by ours\n")
    print("| condition | headrace | Polars | ratio | PyArrow | ratio |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, (condition, expression) in CASES.items():
        mine, other = condition(headrace.col), condition(pl.col)
        counts = {ours.filter(mine).num_rows, frame.filter(other).height, theirs.filter(expression).num_rows}
        if len(counts) > 1:
            raise SystemExit(f"{name}: the libraries select {counts} rows")
        times = best_seconds(
            [
                lambda mine=mine: ours.filter(mine, context=context),
                lambda other=other: frame.filter(other),
                lambda expression=expression: theirs.filter(expression),
            ]
        )
        a, b, c = (1000 * seconds for seconds in times)
        print(f"| {name} | {a:.1f} | {b:.1f} | {b / a:.2f} | {c:.1f} | {c / a:.2f} |")


if __name__ == "__main__":
    main()
