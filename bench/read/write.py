"""Times headrace's CSV writer beside its peers.

usage: python -m bench.read.write [--cases taxi,ints] [--rows N] [--threads N] [--repeat N] [--to DIR] [--out FILE]

The text that headrace writes is read back and compared, every cell to the bit, before it is timed. A wrong text is not timed.
Writers take turns, and each writes a whole file from a PyArrow table in memory (Polars from its own). PyArrow's writer has one
thread, so headrace is timed with one as well. Polars has all threads. Times are the best of several runs. PyArrow quotes every
string; headrace and Polars quote only strings that need it.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv

import headrace
from bench.machine import description
from bench.read.data import MAKERS
from bench.tables import Page


def _ints(rows: int, random: np.random.Generator) -> pa.Table:
    return pa.table({f"i{k}": random.integers(-(10**k), 10**k, rows) for k in (1, 3, 5, 7, 9, 15)})


def _prices(rows: int, random: np.random.Generator) -> pa.Table:
    return pa.table({f"p{k}": np.round(random.random(rows) * 10**k, 2) for k in range(1, 7)})


def _floats(rows: int, random: np.random.Generator) -> pa.Table:
    """Return columns of floats with fifteen to seventeen digits."""
    return pa.table({f"f{k}": random.standard_normal(rows) * 10.0**k for k in (-7, -2, 0, 2, 7, 30)})


def _strings(rows: int, random: np.random.Generator) -> pa.Table:
    numbers = random.integers(0, 10**9, rows)
    return pa.table(
        {
            "number": pa.array(numbers).cast("string"),
            "flag": np.array(["N", "Y"])[numbers % 2],
            "with_separator": [f"some, text {number % 1000}" for number in numbers],
            "sentence": ["the quick brown fox jumps over the lazy dog"] * rows,
        }
    )


def _times(rows: int, random: np.random.Generator) -> pa.Table:
    return pa.table(
        {
            "date": pa.array(random.integers(0, 20_000, rows).astype("i4"), pa.date32()),
            "microseconds": pa.array(random.integers(0, 2 * 10**15, rows), pa.timestamp("us")),
            "seconds": pa.array(random.integers(0, 2 * 10**9, rows), pa.timestamp("s")),
        }
    )


def _taxi(rows: int, random: np.random.Generator) -> pa.Table:
    pieces = MAKERS["taxi"]()
    made, text = 0, b""
    while made < rows:
        text += next(pieces)
        made += 250_000
    return csv.read_csv(io.BytesIO(text)).slice(0, rows)


ALL_THREADS, ONE_THREAD = "headrace", "headrace, 1 thread"
CASES = {"taxi": _taxi, "ints": _ints, "prices": _prices, "floats": _floats, "strings": _strings, "times": _times}


def check(table: pa.Table) -> int:
    """Return the bytes of the text. End the run if it does not read back as the table."""
    text = headrace.write_csv(table)
    back = headrace.read_csv(text, header=True, dtypes=dict(zip(table.column_names, table.schema.types, strict=True)))
    if not pa.table(back).equals(table):
        sys.exit("what headrace wrote does not read back the same")
    return len(text)


def writers(table: pa.Table, threads: int, path: Path) -> dict[str, Callable[[], Any]]:
    """Return the writers by name: calls that write the table once."""
    found = {
        ALL_THREADS: lambda: headrace.write_csv(table, path, threads=threads),
        ONE_THREAD: lambda: headrace.write_csv(table, path, threads=1),
        "pyarrow": lambda: csv.write_csv(table, path),
    }
    try:
        import polars as pl
    except ImportError:
        return found
    frame = pl.DataFrame(table)
    return found | {"polars": lambda: frame.write_csv(path)}


def main() -> None:
    """Check, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--to", default=None, help="folder of the files; by default that of temporary files")
    parser.add_argument("--out")
    options = parser.parse_args()
    page = Page()
    page.out = options.out
    page.say("# write_csv beside its peers\n\n" + "; ".join(f"{name} {value}" for name, value in description().items()))
    page.say(f"\n{options.rows:_} rows, {options.threads} threads; best of {options.repeat + 1}.\n")
    page.say(
        "| case | MB | writer | ms | MB/s | times PyArrow | times Polars |\n| --- | ---: | --- | ---: | ---: | ---: | ---: |"
    )
    with tempfile.TemporaryDirectory(dir=options.to) as folder:
        for case in options.cases.split(","):
            table = CASES[case](options.rows, np.random.default_rng(7))
            size = check(table)
            calls = writers(table, options.threads, Path(folder) / "t.csv")
            best = dict.fromkeys(calls, float("inf"))
            for _ in range(options.repeat + 1):
                for name, call in calls.items():
                    begun = time.perf_counter()
                    call()
                    best[name] = min(best[name], time.perf_counter() - begun)
            for name, seconds in best.items():
                ratios = [f"{best[peer] / seconds:.2f}" if peer in best else "" for peer in ("pyarrow", "polars")]
                page.figure(table="write", case=case, writer=name, bytes=size, threads=options.threads, seconds=seconds)
                speed = f"{1e3 * seconds:.1f} | {size / seconds / 1e6:.0f} | {' | '.join(ratios)}"
                page.say(f"| {case} | {size / 1e6:.1f} | {name} | {speed} |")
    page.keep(options.out)


if __name__ == "__main__":
    main()
