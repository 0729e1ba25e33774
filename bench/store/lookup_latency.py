"""Measures look-ups of a store by key beside appends, a long text, and a merge.

usage: python -m bench.store.lookup_latency [--rows N] [--columns N] [--threads N] [--folder PATH] [--out FILE]

The store is in files, with ``sync="always"``. One thread looks up 100 keys again and again. Meanwhile
another one does nothing, appends 100 rows, appends a text of 58 MB, which the log takes in parts, or merges a tenth of the rows.
Each phase but the merge takes 3 seconds at least. A merge after each append of the main's rows bounds the memory.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import headrace
from bench.machine import description_line
from bench.store.measure import timed
from bench.store.store_merge import batches, peak_bytes
from bench.tables import Page
from headrace import Context

_KEYS = 100
_PHASE_SECONDS = 3.0
_LONG_ROWS = 1 << 18


class Phases:
    """A store with rows, and what works beside look-ups in each phase."""

    def __init__(self, store: headrace.Store, rows: int, columns: int) -> None:
        self._store = store
        self._rows = rows
        self._others = next(batches(_LONG_ROWS, columns, 1)).drop_columns("key")
        self._next_key = rows << 10

    def by_name(self) -> dict[str, Callable[[], None]]:
        """Return the work of each phase by name."""
        return {
            "alone": partial(time.sleep, 0.1),
            "appends of 100 rows": partial(self.append, _KEYS),
            "appends of a long text": self.append_text,
            "a merge": self.merge,
        }

    def append(self, count: int) -> None:
        """Append rows with new keys."""
        self._store.append(self._table(count))

    def append_text(self) -> None:
        """Append a long text with new keys."""
        self._store.append(headrace.Table.from_arrow(self._table(_LONG_ROWS)).write_csv())

    def merge(self) -> None:
        """Merge the delta."""
        assert self._store.merge()

    def _table(self, count: int) -> Any:
        keys = pa.array(np.arange(self._next_key, self._next_key + count))
        self._next_key += count
        return self._others.slice(0, count).add_column(0, "key", keys)

    def lookups(self, work: Callable[[], None], once: bool) -> list[float]:
        """Return the seconds of each look-up while another thread works, once or for some time."""
        random, times = np.random.default_rng(5), []
        ends = time.perf_counter() + _PHASE_SECONDS

        def working() -> None:
            work()
            while not once and time.perf_counter() < ends:
                work()

        thread = threading.Thread(target=working)
        thread.start()
        while thread.is_alive():
            keys = random.integers(0, self._rows, _KEYS)
            times.append(timed(partial(self._store.lookup, keys)))
        thread.join()
        return times


def main() -> int:
    """Run the sizes of the command line and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    page = Page()
    page.say("# Look-ups beside other work\n")
    page.say(description_line())
    schema = headrace.Table.from_arrow(next(batches(1, given.columns, 0))).schema
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        context = Context(threads=given.threads)
        store = headrace.Store(Path(folder, "s"), schema=schema, key="key", merge_bytes=None, context=context)
        for part in batches(given.rows, given.columns, 0):
            store.append(part)
            store.merge()
        for part in batches(given.rows // 10, given.columns, given.rows):
            store.append(part)
        store.lookup(0)
        page.head("Look-ups of 100 keys", "Milliseconds.", ["p50", "p99", "longest", "look-ups"])
        phases = Phases(store, given.rows, given.columns)
        for name, work in phases.by_name().items():
            times = np.array(phases.lookups(work, name == "a merge")) * 1e3
            marks = [*np.percentile(times, (50, 99)), times.max()]
            page.say(f"| {name} | {' | '.join(f'{mark:,.2f}' for mark in marks)} | {len(times)} |")
            page.figure(phase=name, times=times.tolist())
        store.close()
    page.say(f"\n{given.rows:,} rows of {given.columns} columns. The peak of the process was {peak_bytes() / 1e6:,.0f} MB.")
    page.keep(given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
