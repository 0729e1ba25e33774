"""Measures a whole merge of a store, and queries while it runs.

usage: python -m bench.store.store_merge [--rows N] [--columns N] [--delta PERCENT] [--threads N] [--folder PATH]
           [--devices cpu,cuda] [--written-main] [--no-numpy] [--out FILE]

The store has a key of int64, and columns of integers, floats, days and texts with 1,000 to 500,000 distinct values. A tenth of
the distinct values of a delta is new. A delta is merged with the main in another thread, for each device in turn. Meanwhile
queries run one after another: lookups of 100 keys, reads of a column, aggregates by a text in SQL, and appends of 100 rows.
Their latencies are compared with those before the merge. The rows after the merge are compared with those
before it, in the key, and a column of integers and one of texts. NumPy merges the same columns of numbers on one thread, and its
codes stay unpacked.
Tables that are appended repeat one of 2 million rows with other keys. 100 million rows of 20 columns need 60 GB of memory.
With ``--written-main`` the main's file is written as it is, without appends and their merge. Without DuckDB there is no SQL.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

import headrace
from bench.machine import description_line
from bench.store.measure import Spent, column_of, spent, timed, values_of
from bench.store.written_main import write_store
from bench.tables import Page
from headrace import Context

KINDS = ("int64", "float64", "date32", "name", "int32")
"""Kinds of the columns after the key, in turn."""
_BATCH_ROWS = 1 << 21
_KEYS = 100
_QUIET_TURNS = 12
_SHORT_TURNS = 20
"""Lookups and appends for each read of a column and query of SQL during a merge."""
_MAX_DISTINCT = {"date32": 3650, "name": 1 << 16}


def rows_of(columns: int, rows: int, is_delta: bool) -> Any:
    """Return columns of at most `_BATCH_ROWS` rows without the key. Those of a delta have more distinct values."""
    count, found = min(rows, _BATCH_ROWS), {}
    for number in range(columns - 1):
        kind = KINDS[number % len(KINDS)]
        distinct = 1000 if number >= len(KINDS) else min(_BATCH_ROWS // 4, max(rows // 10, 1000), _MAX_DISTINCT.get(kind, rows))
        pool = values_of(kind, distinct * 11 // 10)
        found[f"c{number}"] = column_of(pool if is_delta else pool.slice(0, distinct), count, number + columns * is_delta)
    return pa.table(found)


def batches(rows: int, columns: int, first: int) -> Any:
    """Yield tables of `rows` rows, with keys from `first` on. Those from a number above 0 on are a delta."""
    others = rows_of(columns, rows, first > 0)
    for begin in range(first, first + rows, _BATCH_ROWS):
        part = others.slice(0, min(len(others), first + rows - begin))
        yield part.add_column(0, "key", pa.array(np.arange(begin, begin + len(part))))


class Queries:
    """Queries of a store whose keys are the numbers below `rows`."""

    def __init__(self, store: headrace.Store, rows: int) -> None:
        self._store = store
        self._rows = rows
        self._random = np.random.default_rng(5)
        self._appended = rows << 20  # no key of another main
        empty = pa.table(store.lookup([]).rows)  # a table of all columns would take long
        self._nulls = {name: pa.nulls(_KEYS, empty[name].type) for name in empty.column_names if name != "key"}

    def calls(self) -> dict[str, Callable[[], None]]:
        """Return the queries by name."""
        sql = {"SQL aggregate by a text": self.aggregate} if find_spec("duckdb") else {}
        return {
            "lookup of 100 keys": self.lookup,
            "read of a column": self.read,
            **sql,
            "append of 100 rows": self.append,
        }

    def lookup(self) -> None:
        """Look up keys that are there."""
        assert self._store.lookup(self._random.integers(0, self._rows, _KEYS)).found.all()

    def read(self) -> None:
        """Read a column."""
        assert len(self._store.snapshot().table(["c0"])) >= self._rows

    def aggregate(self) -> None:
        """Group all rows by a column of texts."""
        assert len(self._store.sql("select c3, count(*) as n, max(c4) as c4 from store group by c3")) > 1

    def append(self) -> None:
        """Append rows of which all columns but the key are null."""
        keys = pa.array(np.arange(self._appended, self._appended + _KEYS))
        self._appended += _KEYS
        self._store.append(pa.table({"key": keys, **self._nulls}))


def merge_of_numpy(main: pa.Table, delta: pa.Table) -> Spent:
    """Return the seconds in which NumPy merges the columns of numbers, whose dictionaries and codes are there."""
    total = Spent(0, 0)
    for name in main.column_names:
        if pa.types.is_string(main[name].type):
            continue
        parts = [np.unique(part[name].to_numpy(), return_inverse=True) for part in (main, delta)]
        total += spent(partial(_merged_by_numpy, parts))
    return total


def _merged_by_numpy(parts: Any) -> None:
    merged = np.unique(np.concatenate([parts[0][0], parts[1][0]]))
    tables = [np.searchsorted(merged, values).astype(np.uint32) for values, _ in parts]
    np.concatenate([table[codes] for table, (_, codes) in zip(tables, parts, strict=True)])


def measured(page: Page, store: headrace.Store, rows: int, where: str) -> tuple[Spent, tuple[int, int]]:
    """Add the rows of latencies with `rows` keys; return the seconds of the merge, and the peaks without it and with it."""
    queries = Queries(store, rows)
    calls = queries.calls()
    quiet: dict[str, list[float]] = {name: [timed(call) for _ in range(_QUIET_TURNS)][1:] for name, call in calls.items()}
    before, quiet_peak = store.snapshot(), peak_bytes()
    found: list[Spent] = []
    thread = threading.Thread(target=lambda: found.append(spent(store.merge)))
    busy: dict[str, list[float]] = {name: [] for name in calls}
    thread.start()
    while thread.is_alive():
        for name, call in calls.items():
            busy[name] += [timed(call) for _ in range(_SHORT_TURNS if call in (queries.lookup, queries.append) else 1)]
    thread.join()
    peaks = quiet_peak, peak_bytes()
    for name in ("key", "c0", "c3"):
        after, expected = (pa.table(part.table([name])).slice(0, rows) for part in (store.snapshot(), before))
        assert after.equals(expected)
    heads = ["p50", "p50, merge", "p99, merge", "longest, merge", "queries, merge"]
    page.head(f"Queries, merge on {where}", "Milliseconds before the merge and during it.", heads)
    for name in calls:
        times = np.array(busy[name]) * 1e3
        marks = [np.median(quiet[name]) * 1e3, *np.percentile(times, (50, 99)), times.max()]
        page.say(f"| {name} | {' | '.join(f'{mark:,.2f}' for mark in marks)} | {len(times)} |")
        page.figure(device=where, query=name, quiet=quiet[name], busy=busy[name])
    return found[0], peaks


def appended(store: headrace.Store, parts: Iterable[Any]) -> Spent:
    """Append tables, and return the seconds of the appends alone."""
    return sum((spent(partial(store.append, part)) for part in parts), Spent(0, 0))


def peak_bytes() -> int:
    """Return the largest number of bytes of memory that the process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@dataclass(frozen=True)
class Sizes:
    """Rows of the main and of each delta, and the number of columns."""

    rows: int
    delta: int
    columns: int

    def parts(self, number: int) -> Any:
        """Return the tables of delta `number`; 0 for those of the main."""
        return batches(self.delta if number else self.rows, self.columns, self.keys(number - 1) if number else 0)

    def keys(self, number: int) -> int:
        """Return the number of keys with delta `number`."""
        return self.rows + number * self.delta


Steps: TypeAlias = dict[str, tuple[Spent, int]]


def merges(page: Page, sizes: Sizes, path: Path | None, contexts: list[Context], is_written: bool) -> Steps:
    """Merge a delta in each context, and return the seconds and the rows of each step. Without a path there is one context."""
    schema = headrace.Table.from_arrow(next(batches(1, sizes.columns, 0))).schema
    open_store = partial(headrace.Store, path, schema=schema, key="key", sync="never", merge_bytes=None)
    steps: Steps = {}

    def step(name: str, rows: int, taken: Spent) -> None:
        steps[name] = taken, rows
        print(f"{name}: {taken.seconds:.3f} s, {taken.cpu:.3f} s of CPU", flush=True)  # steps take long

    if is_written:
        assert path is not None
        others = rows_of(sizes.columns, sizes.rows, is_delta=False)
        step("write of the main", sizes.rows, spent(partial(write_store, path, sizes.rows, others, Context())))
    store = open_store(context=contexts[0])
    if not is_written:
        step("append of the main's rows", sizes.rows, appended(store, sizes.parts(0)))
        step("their merge", sizes.rows, spent(store.merge))
    for number, context in enumerate(contexts, 1):
        where = context.device.kind
        if number > 1:
            step("close", 0, spent(store.close))
            step(f"open and close, {where}", sizes.keys(number - 1), spent(lambda: open_store().close()))
            store = open_store(context=context)
        step(f"append of a delta, {where}", sizes.delta, appended(store, sizes.parts(number)))
        found = store.statistics
        before = {"main, before": found.main_bytes, "delta": found.delta_bytes, "peak of appends": peak_bytes()}
        taken, peaks = measured(page, store, sizes.keys(number), where)
        step(f"merge of both on {where}, with queries", sizes.keys(number), taken)
        page.head(f"Memory, merge on {where}", "The peak has the main and the delta of before, which a snapshot keeps.", ["MB"])
        for name, nbytes in (
            before | {"peak with queries": peaks[0], "peak with the merge": peaks[1], "main, after": store.statistics.main_bytes}
        ).items():
            page.say(f"| {name} | {nbytes / 1e6:,.0f} |")
    store.close()
    return steps


def sizes_parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser of the options for the sizes of a main and a delta."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=6)
    parser.add_argument("--delta", type=int, default=10, help="rows of the delta in percent of the main's")
    return parser


def main() -> int:
    """Run the sizes of the command line and write the page."""
    parser = sizes_parser(__doc__)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--folder", type=Path, help="a folder for the store; without it, the store is in memory")
    parser.add_argument("--devices", default="cpu", help="devices of merges, which take turns; several need a folder")
    parser.add_argument("--written-main", action="store_true", help="write the main's file without appends; needs --folder")
    parser.add_argument("--no-numpy", action="store_true", help="leave out the merge of NumPy, which is slower")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    contexts = [Context(threads=given.threads, device=device) for device in given.devices.split(",")]
    if (len(contexts) > 1 or given.written_main) and not given.folder:
        parser.error("several devices, and --written-main, need --folder")
    page, sizes = Page(), Sizes(given.rows, given.rows * given.delta // 100, given.columns)
    page.say("# Merge of a store\n")
    page.say(description_line())
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        path = Path(folder, "store") if given.folder else None
        steps = merges(page, sizes, path, contexts, given.written_main)
    if not given.no_numpy:
        alone = merge_of_numpy(*(pa.concat_tables(sizes.parts(number)) for number in (0, 1)))
        steps["merge of NumPy, numbers alone"] = alone, sizes.keys(1)
    place = "in files" if given.folder else "in memory"
    note = f"{sizes.rows:,} rows of {sizes.columns} columns, {sizes.delta:,} new ones, {place}."
    page.head("Steps", note, ["s", "CPU s", "10^6 values/CPU s"])
    for name, (taken, rows) in steps.items():
        page.say(f"| {name} | {taken.seconds:.3f} | {taken.cpu:.3f} | {rows * sizes.columns / max(taken.cpu, 1e-3) / 1e6:,.1f} |")
        page.figure(step=name, seconds=taken.seconds, cpu=taken.cpu, rows=rows, columns=sizes.columns, delta=sizes.delta)
    page.keep(given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
