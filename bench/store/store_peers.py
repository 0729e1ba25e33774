"""Measures DuckDB and Polars with the rows of `bench.store.store_merge`: a table, and new rows for it.

usage: python -m bench.store.store_peers [--rows N] [--columns N] [--delta PERCENT] [--threads N] [--folder PATH]

DuckDB inserts Arrow tables into a table of a file, with the key as its primary key or without one, and writes a checkpoint.
Polars concatenates frames whose texts are categories, into one chunk in memory. It has no file, no key and no removal of rows.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from functools import partial
from pathlib import Path

from bench.machine import description_line
from bench.store.measure import Spent, spent
from bench.store.store_merge import batches, peak_bytes, sizes_parser
from bench.tables import Page


def of_duckdb(given: argparse.Namespace, folder: str, key: str) -> dict[str, Spent]:
    """Return the seconds of each step of DuckDB. `key`: the clause of the key, or empty."""
    import duckdb

    steps: dict[str, Spent] = {}
    with duckdb.connect(Path(folder, f"{bool(key)}.duckdb"), config={"threads": given.threads}) as connection:
        connection.register("part", next(batches(1, given.columns, 0)))
        columns = connection.sql("select column_name || ' ' || column_type as c from (describe part)").fetchall()
        connection.execute(f"create table store ({', '.join(column for (column,) in columns)}{key})")
        for name, rows, first in (("main", given.rows, 0), ("delta", given.rows * given.delta // 100, given.rows)):
            total = Spent(0, 0)
            for part in batches(rows, given.columns, first):
                connection.register("part", part)
                total += spent(partial(connection.execute, "insert into store from part"))
            steps[f"insert of the {name}"] = total
            steps[f"checkpoint of the {name}"] = spent(partial(connection.execute, "checkpoint"))
    return steps


def of_polars(given: argparse.Namespace) -> dict[str, Spent]:
    """Return the seconds in which Polars makes frames with categories, and concatenates the delta."""
    import polars as pl

    texts = pl.selectors.string().cast(pl.Categorical)

    def frame(rows: int, first: int) -> pl.DataFrame:
        parts = [pl.from_arrow(part).with_columns(texts) for part in batches(rows, given.columns, first)]
        return pl.concat(parts, rechunk=True)

    found: list[pl.DataFrame] = []
    steps = {"categories of the main": spent(lambda: found.append(frame(given.rows, 0)))}
    steps["categories of the delta"] = spent(lambda: found.append(frame(given.rows * given.delta // 100, given.rows)))
    steps["concatenation"] = spent(lambda: found.append(pl.concat(found, rechunk=True)))
    return steps


def main() -> int:
    """Run the sizes of the command line and print the page."""
    parser = sizes_parser(__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    os.environ["POLARS_MAX_THREADS"] = str(given.threads)
    page = Page()
    page.say("# Stores of peers\n")
    page.say(description_line())
    page.head("Steps", f"{given.rows:,} rows of {given.columns} columns.", ["s", "CPU s", "peak MB"])
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        for peer, call in (
            ("DuckDB", partial(of_duckdb, given, folder, "")),
            ("DuckDB, key", partial(of_duckdb, given, folder, ", primary key (key)")),
            ("Polars", partial(of_polars, given)),
        ):
            for name, found in call().items():
                page.say(f"| {peer}: {name} | {found.seconds:.3f} | {found.cpu:.3f} | {peak_bytes() / 1e6:,.0f} |")
        for file in sorted(Path(folder).iterdir()):
            page.say(f"\n{file.name}: {file.stat().st_size / 1e6:,.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
