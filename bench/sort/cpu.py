"""Time sorts on the CPU beside NumPy, PyArrow and pandas.

usage: python -m bench.sort.cpu [--tables keys,places,pairs,inputs] [--types u4,f8] [--logs 10,14,20] [--threads 1,2] [--out FILE]

Each answer is compared with NumPy's before it is timed; a wrong one ends the run. Libraries take turns, and the best of several
runs counts. Keys are sorted in place. Each run first copies them, and the time of the copy alone is subtracted. *places* is
argsort: NumPy's default, which is not stable, and its stable one; headrace's is stable. Pairs are keys with numbers of 4 bytes.
The peers sort pairs by an argsort and two gathers.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import headrace
from bench.machine import description

Run = Callable[[], Any]
TYPES = ("u1", "u2", "f2", "u4", "f4", "u8", "f8")
LOGS = (10, 12, 14, 16, 18, 20, 22, 24, 26)
SHAPES = ("random", "2 ands", "3 ands", "5 ands", "10 ands", "constant", "rises", "falls", "almost", "few")
_SLOW_FROM = 22
"""Number of keys from which the peers' stable argsort takes seconds."""


def keys_of(dtype: str, n: int, shape: str = "random") -> Any:
    """Return keys from a fixed seed: normal floats, or integers of random bits, several ANDed."""
    rng = np.random.default_rng(n)
    if shape == "random" and dtype[0] == "f":
        return rng.standard_normal(n).astype(dtype)
    raw = rng.integers(0, 256, n * int(dtype[1]), np.uint8)
    for _ in range(int(shape.split(maxsplit=1)[0]) - 1 if shape.endswith("ands") else 0):
        raw &= rng.integers(0, 256, len(raw), np.uint8)
    keys = raw.view(dtype)
    if shape == "constant":
        keys[:] = keys[0]
    elif shape == "few":
        keys = rng.choice(keys[:16], n)
    elif shape in {"rises", "falls", "almost"}:
        keys.sort()
        keys = keys[::-1].copy() if shape == "falls" else keys
        if shape == "almost":
            keys[:: max(n // 100, 1)] = keys[n // 2]
    return keys


def best_of(runs: list[Run | None], n: int) -> list[float | None]:
    """Return the minimum seconds of each; the candidates take turns."""
    best: list[float | None] = [None if run is None else 1e9 for run in runs]
    for _ in range(max(3, min(100, (1 << 22) // n))):
        for at, run in enumerate(runs):
            if run is None:
                continue
            began = time.perf_counter()
            run()
            best[at] = min(best[at] or 0, time.perf_counter() - began)
    return best


def rate(n: int, seconds: float | None) -> str:
    """Format millions of keys a second."""
    return "" if seconds is None else f"{n / max(seconds, 1e-9) / 1e6:.0f}"


def check(found: Any, wanted: Any) -> None:
    """End the run if an answer is wrong."""
    if not np.array_equal(found, wanted, equal_nan=found.dtype.kind == "f"):
        raise SystemExit("a wrong answer")


def keys_row(keys: Any, contexts: list[headrace.Context]) -> list[str]:
    """Return the times of NumPy and of headrace by threads, and the ratio for one thread."""
    n, wanted, own = len(keys), np.sort(keys), keys.copy()

    def after_copy(run: Run) -> Run:
        def both() -> None:
            own[:] = keys
            run()

        return both

    runs: list[Run | None] = [after_copy(lambda: None), after_copy(own.sort)]
    for context in contexts:
        runs.append(after_copy(lambda context=context: headrace.sort(own, out=own, context=context)))
        check(headrace.sort(keys, context=context), wanted)
    copied, *times = (seconds or 0 for seconds in best_of(runs, n))
    net = [max(seconds - copied, 1e-9) for seconds in times]
    return [*(rate(n, seconds) for seconds in net), f"{net[0] / net[1]:.2f}"]


def places_row(keys: Any, contexts: list[headrace.Context]) -> list[str]:
    """Return the times of NumPy's default argsort, NumPy's stable one, PyArrow, pandas, and headrace by threads."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc

    n = len(keys)
    is_slow = n >= 1 << _SLOW_FROM
    arrow, series = pa.array(keys), pd.Series(keys)
    runs: list[Run | None] = [
        lambda: np.argsort(keys),
        None if is_slow else lambda: np.argsort(keys, kind="stable"),
        None if is_slow or keys.dtype == "f2" else lambda: pc.array_sort_indices(arrow),  # it has none of float16
        None if is_slow else lambda: series.argsort(kind="stable"),
    ]
    wanted = np.argsort(keys, kind="stable")
    for context in contexts:
        check(headrace.argsort(keys, context=context), wanted)
        runs.append(lambda context=context: headrace.argsort(keys, context=context))
    return [rate(n, seconds) for seconds in best_of(runs, n)]


def pairs_row(keys: Any, contexts: list[headrace.Context]) -> list[str]:
    """Return the times of NumPy by its stable argsort, and of headrace by threads."""
    n = len(keys)
    values = np.arange(n, dtype="u4")
    order = np.argsort(keys, kind="stable")

    def by_numpy() -> None:
        places = np.argsort(keys, kind="stable")
        np.take(keys, places)
        np.take(values, places)

    runs: list[Run | None] = [None if n >= 1 << _SLOW_FROM else by_numpy]
    for context in contexts:
        found = headrace.sort_pairs(keys, values, context=context)
        check(found.keys, keys[order])
        check(found.values, order.astype("u4"))
        runs.append(lambda context=context: headrace.sort_pairs(keys, values, context=context))
    return [rate(n, seconds) for seconds in best_of(runs, n)]


def tables(wanted: list[str], types: list[str], logs: list[int], threads: list[int]) -> list[str]:
    """Return the lines of the Markdown tables."""
    contexts = [headrace.Context(threads=number) for number in threads]
    ours = [f"headrace, {number} thread{'s' * (number > 1)}" for number in threads]
    kinds: dict[str, tuple[str, list[str], Callable[[Any, list[headrace.Context]], list[str]]]] = {
        "keys": ("Keys in place", ["NumPy", *ours, "ratio"], keys_row),
        "places": ("Places (argsort)", ["NumPy", "NumPy, stable", "PyArrow", "pandas, stable", *ours], places_row),
        "pairs": ("Keys with numbers of 4 bytes, stable", ["NumPy", *ours], pairs_row),
        "inputs": ("Keys in place, 2^20 of 4 and 8 bytes", ["NumPy", *ours, "ratio"], keys_row),
    }
    lines = []
    for name in wanted:
        title, heads, row = kinds[name]
        lines += ["", f"## {title}, M/s", "", "| keys | n | " + " | ".join(heads) + " |"]
        lines.append("| --- | --- |" + " ---: |" * len(heads))
        cases = [(dtype, shape, 20) for dtype in ("u4", "u8") for shape in SHAPES]
        if name != "inputs":
            cases = [(dtype, "random", log) for dtype in types for log in logs]
        for dtype, shape, log in cases:
            what = dtype if shape == "random" else f"{dtype}, {shape}"
            lines.append(f"| {what} | 2^{log} | " + " | ".join(row(keys_of(dtype, 1 << log, shape), contexts)) + " |")
            print(lines[-1], file=sys.stderr, flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", default="keys,places,pairs,inputs")
    parser.add_argument("--types", default=",".join(TYPES))
    parser.add_argument("--logs", default=",".join(map(str, LOGS)))
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    logs, threads = ([int(number) for number in text.split(",")] for text in (given.logs, given.threads))
    machine = "; ".join(f"{name} {what}" for name, what in description().items())
    lines = ["# Sorts on the CPU", "", machine, *tables(given.tables.split(","), given.types.split(","), logs, threads)]
    text = "\n".join(lines) + "\n"
    if given.out is None:
        print(text)
    else:
        given.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
