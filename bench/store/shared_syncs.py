"""Measures appends of 100 rows a second from several threads, which share syncs of the log.

usage: python -m bench.store.shared_syncs [--sync-ms N] [--folder PATH] [--out FILE]

Syncs are counted. With ``--sync-ms`` each of them is a pause, since the time of a sync depends on the disk and on others who use
it. After each run the store is opened again, and its rows are counted.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

import headrace
from bench.machine import description_line
from bench.tables import Page

ROWS = 100
SCHEMA = {"id": "int64", "text": "string"}
THREADS = 1, 2, 4, 8, 16
SECONDS = 1.5


def tables(count: int) -> list[headrace.Table]:
    """Return tables of rows with distinct keys."""
    texts = (b"".join(b"%d,x\n" % number for number in range(k * ROWS, (k + 1) * ROWS)) for k in range(count))
    return [headrace.read_csv(b"id,text\n" + text, dtypes=SCHEMA) for text in texts]


def appends_a_second(folder: Path, threads: int, sync: str, key: str | None, given: list[headrace.Table]) -> float:
    """Return the number of appends a second, after a check of the rows."""
    store = headrace.Store(folder, schema=SCHEMA, key=key, sync=sync)
    rest, counts = iter(given), [0] * threads
    end = time.perf_counter() + SECONDS

    def work(thread: int) -> None:
        while time.perf_counter() < end and (table := next(rest, None)) is not None:
            counts[thread] += store.append(table)

    begin = time.perf_counter()
    workers = [threading.Thread(target=work, args=(thread,)) for thread in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    spent = time.perf_counter() - begin
    store.close()
    if len(headrace.Store(folder, read_only=True)) != sum(counts):
        raise AssertionError("the store has other rows than those acknowledged")
    return sum(counts) / ROWS / spent


def count_syncs(milliseconds: float | None) -> list[int]:
    """Replace syncs by pauses, if their time is given, and return a list of one item: the number of syncs from now on."""
    counts, sync = [0], os.fsync

    def counted(file: int) -> None:
        counts[0] += 1
        sync(file) if milliseconds is None else time.sleep(milliseconds / 1e3)

    os.fsync = counted
    return counts


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="folder on the disk to measure (default: that of temporary files)")
    parser.add_argument("--sync-ms", type=float, help="milliseconds of a pause in place of each sync")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    page = Page()
    page.say("# Appends of several threads to a store\n")
    page.say(description_line())
    page.head("Appends a second", f"{ROWS} rows each.", ["sync never", "sync always", "appends a sync"])
    rows, syncs = tables(5_000), count_syncs(given.sync_ms)
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder, number = Path(name), itertools.count()
        for key, threads in itertools.product(("id", None), THREADS):
            never = appends_a_second(folder / str(next(number)), threads, "never", key, rows)
            before, begin = syncs[0], time.perf_counter()
            always = appends_a_second(folder / str(next(number)), threads, "always", key, rows)
            shared = always * (time.perf_counter() - begin) / (syncs[0] - before)
            marks = f"{never:,.0f}", f"{always:,.0f}", f"{shared:.2f}"
            page.say(f"| {threads} threads, {'a key' if key else 'no key'} | {' | '.join(marks)} |")
            page.figure(key=key, threads=threads, never=never, always=always, shared=shared)
    page.keep(given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
