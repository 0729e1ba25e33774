"""Measures `Store.append` beside a read of the same text, with and without syncs.

usage: python -m bench.store.append [--mb N] [--threads N] [--folder PATH] [--key] [--cpu-time] [--out FILE]

The text has six columns: integers, floats, dates, short texts and UUIDs. Each append goes to a store of its own, whose rows are
compared with those of the read before it is timed. A store in memory shows the cost of the text alone. A file object
is read as a whole before it is written, and a long text in parts. With ``--key`` the stores have a key. Beside durable ones
there is the cost of one write of as many bytes to a file, without checksums. All calls alternate.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

import headrace
from bench.machine import description_line
from bench.store.measure import column_of, in_turns, timed, values_of
from bench.tables import Page
from headrace import Context

_BYTES_OF_ROW = 76


@dataclass(frozen=True)
class Appends:
    """Appends to stores in a folder, which are removed after each one."""

    folder: Path
    schema: dict[str, Any]
    context: Context
    cpu_time: bool
    key: str | None

    def timed(self, call: Callable[[], object]) -> float:
        """Return the seconds of a call."""
        return timed(call, cpu_time=self.cpu_time)

    def durable(self, source: Any, sync: str, *, check: Any = None) -> float:
        """Append to a new store with a path, and return the seconds. `check`: table of Arrow that its rows must equal."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            path, options = Path(folder, "s"), {"merge_bytes": None, "context": self.context}
            store = headrace.Store(path, schema=self.schema, key=self.key, sync=sync, **options)
            seconds = self.timed(partial(store.append, source))
            store.close()
            if check is not None:
                with headrace.Store(path, read_only=True) as found:
                    assert pa.table(found.table()).equals(check)
        return seconds

    def in_memory(self, source: Any, *, check: Any = None) -> float:
        """Append to a new store in memory, as `durable`."""
        store = headrace.Store(schema=self.schema, key=self.key, merge_bytes=None, context=self.context)
        seconds = self.timed(partial(store.append, source))
        assert check is None or pa.table(store.table()).equals(check)
        return seconds

    def written(self, data: bytes, sync: bool) -> float:
        """Write bytes to a new file, and return the seconds."""
        with tempfile.TemporaryFile(dir=self.folder, buffering=0) as file:
            return self.timed(partial(_write, file.fileno(), data, sync))


def _write(number: int, data: bytes, sync: bool) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(number, rest) :]
    if sync:
        os.fsync(number)


def text_of(nbytes: int) -> bytes:
    """Return a text of about `nbytes` bytes."""
    rows = nbytes // _BYTES_OF_ROW
    random = np.random.default_rng(1)
    columns = {
        "id": pa.array(np.arange(rows)),
        "fare": pa.array(random.integers(0, 10_000, rows) / 100),
        "day": column_of(values_of("date32", 1000), rows, 2),
        "city": column_of(values_of("name", 500), rows, 3),
        "key": column_of(values_of("UUID", 20_000), rows, 4),
        "count": pa.array(random.integers(0, 1 << 40, rows)),
    }
    text = BytesIO()
    pa.csv.write_csv(pa.table(columns), text)
    return text.getvalue()


def appends(page: Page, text: bytes, make: Appends) -> None:
    """Add the table of appends."""
    context, types = make.context, make.schema
    table = headrace.read_csv(text, dtypes=types, context=context)
    arrow = pa.table(table)
    for source in (text, table):
        make.in_memory(source, check=arrow)
        make.durable(source, "always", check=arrow)
    data = np.random.default_rng(1).bytes(arrow.nbytes)  # zeros would be one page of memory
    measures: dict[str, Callable[[], float]] = {
        "read_csv, types given": partial(make.timed, partial(headrace.read_csv, text, dtypes=types, context=context)),
        "append of the text, in memory": partial(make.in_memory, text),
        "append of the text, sync never": partial(make.durable, text, "never"),
        "append of the text, sync always": partial(make.durable, text, "always"),
        "append of a file object, sync never": lambda: make.durable(BytesIO(text), "never"),
        "append of a file object, sync always": lambda: make.durable(BytesIO(text), "always"),
        "append of the table, in memory": partial(make.in_memory, table),
        "append of the table, sync never": partial(make.durable, table, "never"),
        "append of the table, sync always": partial(make.durable, table, "always"),
        "one write of the columns' bytes": partial(make.written, data, False),
        "one write and fsync of them": partial(make.written, data, True),
    }
    found = in_turns(measures)
    rows = f"{len(text) / 1e6:,.1f} MB of text, {len(table):,} rows, {arrow.nbytes / 1e6:,.1f} MB of columns."
    page.head("Appends", f"{rows} Rates are of the text.", ["ms", "MB/s", "time / read"])
    for name, seconds in found.items():
        ratio = seconds / found["read_csv, types given"]
        page.say(f"| {name} | {seconds * 1e3:,.0f} | {len(text) / seconds / 1e6:,.0f} | {ratio:.2f} |")
        page.figure(call=name, seconds=seconds, ratio=ratio)


def main() -> int:
    """Run the sizes of the command line and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=int, default=100)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--key", action="store_true", help="stores have a key of int64")
    parser.add_argument("--cpu-time", action="store_true")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    page, context = Page(), Context(threads=given.threads)
    page.say("# Appends to a store\n")
    page.say(description_line())
    folder = Path(tempfile.mkdtemp(dir=given.folder))
    try:
        text = text_of(given.mb * 1_000_000)
        types = dict(headrace.read_csv(text, context=context).schema)
        appends(page, text, Appends(folder, types, context, given.cpu_time, "id" if given.key else None))
    finally:
        shutil.rmtree(folder)
    page.keep(given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
