"""Measures a whole merge of a store, and queries while it runs.

usage: python -m bench.store.store_merge [--rows N] [--columns N] [--delta PERCENT] [--threads N] [--folder PATH]
           [--no-numpy] [--out FILE]

The store has a key of int64, and columns of integers, floats, days and texts with 1,000 distinct values to a tenth of the rows.
A delta is merged with the main in another thread. Meanwhile queries are made one after another: lookups of 100 keys, a read of
one column of integers of a snapshot, and an append of 100 rows. Their latencies are compared with those before the merge. The
rows after the merge are compared with those before it. NumPy merges the same columns of numbers on one thread, and its codes
stay unpacked.
100 million rows of 20 columns need 60 GB of memory.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import headrace
from bench.machine import description_line
from bench.store.measure import TEXTS, column_of, timed, values_of
from bench.tables import Page
from headrace import Context

KINDS = ("int64", "float64", "date32", "name", "int32")
"""Kinds of the columns after the key, in turn."""
_BATCH_ROWS = 1 << 21
_KEYS = 100
_QUIET_TURNS = 20


def batches(rows: int, columns: int, first: int) -> Any:
    """Yield tables of `rows` rows, with keys from `first` on."""
    pools = {}
    for number in range(columns - 1):
        kind = KINDS[number % len(KINDS)]
        distinct = 1000 if kind in TEXTS or number >= len(KINDS) else max(rows // 10, 1)
        pools[f"c{number}"] = values_of(kind, min(distinct, 3650 if kind == "date32" else 1 << 22))
    for begin in range(first, first + rows, _BATCH_ROWS):
        count = min(_BATCH_ROWS, first + rows - begin)
        keys = pa.array(np.arange(begin, begin + count))
        yield pa.table({"key": keys, **{name: column_of(pool, count, begin) for name, pool in pools.items()}})


class Queries:
    """Queries of a store whose keys are the numbers below `rows`."""

    def __init__(self, store: headrace.Store, rows: int) -> None:
        self._store = store
        self._rows = rows
        self._random = np.random.default_rng(5)
        self._appended = 1 << 40
        empty = pa.table(store.table().head(0))
        self._nulls = {name: pa.nulls(_KEYS, empty[name].type) for name in empty.column_names if name != "key"}

    def calls(self) -> dict[str, Callable[[], None]]:
        """Return the queries by name."""
        return {"lookup of 100 keys": self.lookup, "read of a column": self.read, "append of 100 rows": self.append}

    def lookup(self) -> None:
        """Look up keys that are there."""
        assert self._store.lookup(self._random.integers(0, self._rows, _KEYS)).found.all()

    def read(self) -> None:
        """Read a column."""
        assert len(self._store.snapshot().table(["c0"])) >= self._rows

    def append(self) -> None:
        """Append rows of which all columns but the key are null."""
        keys = pa.array(np.arange(self._appended, self._appended + _KEYS))
        self._appended += _KEYS
        self._store.append(pa.table({"key": keys, **self._nulls}))


def merge_of_numpy(main: pa.Table, delta: pa.Table) -> float:
    """Return the seconds in which NumPy merges the columns of numbers, whose dictionaries and codes are there."""
    seconds = 0.0
    for name in main.column_names:
        if pa.types.is_string(main[name].type):
            continue
        parts = [np.unique(part[name].to_numpy(), return_inverse=True) for part in (main, delta)]
        began = time.perf_counter()
        merged = np.unique(np.concatenate([parts[0][0], parts[1][0]]))
        tables = [np.searchsorted(merged, values).astype(np.uint32) for values, _ in parts]
        np.concatenate([table[codes] for table, (_, codes) in zip(tables, parts, strict=True)])
        seconds += time.perf_counter() - began
    return seconds


def measured(page: Page, store: headrace.Store, rows: int, delta: int) -> float:
    """Add the rows of latencies, and return the seconds of the merge."""
    queries = Queries(store, rows + delta)
    calls = queries.calls()
    quiet: dict[str, list[float]] = {name: [timed(call) for _ in range(_QUIET_TURNS)][1:] for name, call in calls.items()}
    before = store.snapshot()
    seconds: list[float] = []
    thread = threading.Thread(target=lambda: seconds.append(timed(partial(store.merge))))
    busy: dict[str, list[float]] = {name: [] for name in calls}
    thread.start()
    while thread.is_alive():
        for name, call in calls.items():
            busy[name].append(timed(call))
    thread.join()
    for name in store.schema:  # one after another, so that the peak is that of the merge
        found, expected = (pa.table(part.table([name])).slice(0, rows + delta) for part in (store.snapshot(), before))
        assert found.equals(expected)
    heads = ["p50", "p50, merge", "p99, merge", "longest, merge", "queries, merge"]
    page.head("Queries", "Milliseconds before the merge and during it.", heads)
    for name in calls:
        times = np.array(busy[name]) * 1e3
        marks = [np.median(quiet[name]) * 1e3, *np.percentile(times, (50, 99)), times.max()]
        page.say(f"| {name} | {' | '.join(f'{mark:,.2f}' for mark in marks)} | {len(times)} |")
        page.figure(query=name, quiet=quiet[name], busy=busy[name])
    return seconds[0]


def appended(store: headrace.Store, parts: Iterable[Any]) -> float:
    """Append tables, and return the seconds of the appends alone."""
    return sum(timed(partial(store.append, part)) for part in parts)


def peak_bytes() -> int:
    """Return the largest number of bytes of memory that the process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> int:
    """Run the sizes of the command line and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=6)
    parser.add_argument("--delta", type=int, default=10, help="rows of the delta in percent of the main's")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--folder", type=Path, help="a folder for the store; without it, the store is in memory")
    parser.add_argument("--no-numpy", action="store_true", help="leave out the merge of NumPy, which is slower")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    page, context = Page(), Context(threads=given.threads)
    delta = given.rows * given.delta // 100
    page.say("# Merge of a store\n")
    page.say(description_line())
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        first = next(batches(1, given.columns, 0))
        schema = headrace.Table.from_arrow(first).schema
        path = Path(folder, "store") if given.folder else None
        store = headrace.Store(path, schema=schema, key="key", sync="never", merge_bytes=None, context=context)
        parts = ((given.rows, given.columns, 0), (delta, given.columns, given.rows))
        steps = {"append of the main's rows": appended(store, batches(*parts[0]))}
        steps["their merge"] = timed(store.merge)
        steps["append of the delta"] = appended(store, batches(*parts[1]))
        sizes = {"main, before": store.statistics.main_bytes, "delta": store.statistics.delta_bytes}
        before = peak_bytes()
        steps["merge of both, with queries"] = seconds = measured(page, store, given.rows, delta)
        sizes |= {"peak of the process before the last merge": before, "peak with it": peak_bytes()}
        sizes["main, after"] = store.statistics.main_bytes
        steps["close"] = timed(store.close)
    alone = None if given.no_numpy else merge_of_numpy(*(pa.concat_tables(batches(*one)) for one in parts))
    place, cells = "in files" if given.folder else "in memory", (given.rows + delta) * given.columns
    page.head("Steps", f"{given.rows:,} rows of {given.columns} columns, {delta:,} new ones, {place}.", ["s", "10^6 values/s"])
    for (name, spent), rows in zip(steps.items(), (given.rows, given.rows, delta, given.rows + delta, 0), strict=True):
        page.say(f"| {name} | {spent:.3f} | {rows * given.columns / spent / 1e6:,.1f} |")
    if alone is not None:
        page.say(f"| merge of NumPy, numbers alone | {alone:.3f} | {cells / alone / 1e6:,.1f} |")
    page.head("Memory", "The peak has the main and the delta of before, which a snapshot keeps.", ["MB"])
    for name, nbytes in sizes.items():
        page.say(f"| {name} | {nbytes / 1e6:,.0f} |")
    page.figure(rows=given.rows, columns=given.columns, delta=delta, seconds=seconds, numpy=alone, steps=steps, sizes=sizes)
    page.keep(given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
