"""Measures the merge of dictionary-encoded columns: whole columns, dictionaries by each method, and texts.

usage: python -m bench.store.dictionary_merge [--rows LOG2] [--threads N] [--device cpu|cuda] [--texts]
           [--cpu-time] [--out FILE]

A column of 8 bytes is merged with a delta, by shares of distinct values and of new rows, beside NumPy on one thread: `unique` of
both dictionaries, `searchsorted` for both tables, and a look-up for each row. NumPy's codes stay unpacked. Texts are merged
beside Polars, which casts the new texts to categories that have the old ones, in no order, and appends their codes. Every answer
is checked before it is timed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import headrace
from bench.machine import description_line
from bench.store.measure import TEXTS, column_of, timed, values_of
from bench.tables import Page
from headrace import Context, dictionary
from headrace.store.dictionary.dictionaries import NUMBER_METHODS

UNIQUES = (1, 10, 100)
"""Distinct values in percent of the rows."""
DELTAS = (1, 10, 50)
"""New rows in percent of the rows."""
_TURNS = 7


def seconds(work: Callable[[], object], repeat: int = 3) -> float:
    """Return the median seconds of a call, after one call that is not timed."""
    times = []
    for _ in range(repeat + 1):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return statistics.median(times[1:])


def numpy_merge(main: tuple[Any, Any], delta: tuple[Any, Any]) -> tuple[Any, Any]:
    """Merge dictionaries and codes with NumPy: the merged dictionary, and a code for each row."""
    merged = np.unique(np.concatenate([main[0], delta[0]]))
    tables = [np.searchsorted(merged, part[0]).astype(np.uint32) for part in (main, delta)]
    return merged, np.concatenate([tables[0][main[1]], tables[1][delta[1]]])


def columns(page: Page, rows: int, context: Context) -> None:
    """Add the table of whole columns."""
    page.head("Columns", "Million rows a second; the delta is encoded.", ["headrace", "NumPy, one thread", "ratio"])
    for uniques in UNIQUES:
        for share in DELTAS:
            random = np.random.default_rng(uniques)
            pool = random.integers(-(1 << 62), 1 << 62, rows * uniques // 100)
            items = [pool[random.integers(0, len(pool), count)] for count in (rows, rows * share // 100)]
            main, delta = (dictionary.encode(part) for part in items)
            given = [(part.dictionary.to_numpy(), dictionary.unpack(part.words, part.bits, len(part))) for part in (main, delta)]
            found, (merged, codes) = dictionary.merge(main, delta, context=context), numpy_merge(*given)
            assert (found.dictionary.to_numpy() == merged).all()
            assert (dictionary.unpack(found.words, found.bits, len(found)) == codes).all()
            ours = seconds(partial(dictionary.merge, main, delta, context=context))
            theirs = seconds(partial(numpy_merge, *given), 1)
            rate, peer = len(codes) / ours / 1e6, len(codes) / theirs / 1e6
            page.say(f"| {uniques} % distinct, {share} % new | {rate:,.1f} | {peer:,.1f} | {rate / peer:.1f} |")
            page.figure(uniques=uniques, delta=share, ours=rate, numpy=peer)


def dictionaries(page: Page, size: int, context: Context) -> None:
    """Add the table of the methods that merge dictionaries."""
    page.head("Dictionaries", f"Million values a second, 2 dictionaries of {size:,} values of 8 bytes.", ["rate"])
    random = np.random.default_rng(2)
    main, delta = (np.unique(random.integers(0, 1 << 62, size)) for _ in range(2))
    parts = [dictionary.encode(part).dictionary for part in (main, delta)]
    joined = np.union1d(main, delta)
    for method in NUMBER_METHODS:
        call = partial(dictionary.merge_dictionaries, *parts, method=method, context=context)
        found = call()
        assert (found.dictionary.to_numpy() == joined).all()
        assert (found.main_codes[: len(main)] == np.searchsorted(joined, main)).all()
        rate = 2 * size / seconds(call) / 1e6
        page.say(f"| {method} | {rate:,.1f} |")
        page.figure(method=method, rate=rate)


def texts(page: Page, rows: int, context: Context, cpu_time: bool) -> None:
    """Add the table of texts beside Polars."""
    import polars as pl

    page.head(
        "Texts", f"Milliseconds to add {rows // 10:,} rows to {rows:,}, the least of {_TURNS}.", ["headrace", "Polars", "ratio"]
    )
    for kind in TEXTS:
        for distinct in (1000, rows // 100, rows // 4, rows):
            pool = values_of(kind, distinct + distinct // 10)
            old, new = column_of(pool.slice(0, distinct), rows, 1), column_of(pool, rows // 10, 2)
            main, added = (headrace.Table.from_arrow(pa.table({"x": part}))["x"] for part in (old, new))
            encoded, strings, series = dictionary.encode(main), pl.from_arrow(new), pl.from_arrow(old)
            found = dictionary.decode(dictionary.merge(encoded, added, context=context)).to_pylist()
            assert found == [*old.to_pylist(), *new.to_pylist()]
            assert found == _appended(_categories(series), strings).cast(pl.String).to_list()
            turns = [(_categories(series), partial(dictionary.merge, encoded, added, context=context)) for _ in range(_TURNS)]
            ours, theirs = (
                min(times)
                for times in zip(
                    *(
                        (timed(call, cpu_time=cpu_time), timed(partial(_appended, before, strings), cpu_time=cpu_time))
                        for before, call in turns
                    ),
                    strict=True,
                )
            )
            page.say(f"| {kind}, {distinct:,} distinct | {ours * 1e3:,.2f} | {theirs * 1e3:,.2f} | {theirs / ours:.2f} |")
            page.figure(kind=kind, texts=distinct, ours=ours, polars=theirs)


def _categories(texts: Any) -> Any:
    """Return texts as a series of categories of their own, so that no earlier call has added the new texts to them."""
    import polars as pl

    return texts.cast(pl.Categorical(pl.Categories.random()))


def _appended(series: Any, strings: Any) -> Any:
    import polars as pl

    return pl.concat([series, strings.cast(series.dtype)], rechunk=True)


def main() -> int:
    """Run the sizes of the command line and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=21)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--texts", action="store_true", help="measure texts alone")
    parser.add_argument("--cpu-time", action="store_true", help="CPU seconds of texts, for a machine that is shared")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    page, context = Page(), Context(device=given.device, threads=given.threads)
    page.say("# Merge of dictionary-encoded columns\n")
    page.say(description_line())
    if not given.texts:
        columns(page, 1 << given.rows, context)
        dictionaries(page, 1 << (given.rows - 1), context)
    if find_spec("polars") is None:
        page.say("\nPolars is not installed, so texts are not measured.")
    else:
        texts(page, 1 << (given.rows - 3), context, given.cpu_time)
    page.keep(given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
