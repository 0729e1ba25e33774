"""Measures unique, searchsorted, digitize, bincount, take, histogram and running sums of floats on the CPU beside NumPy.

usage: python -m bench.primitives.searches [--items N] [--threads 1,2] [--repeat N] [--out FILE]

Each answer is compared with NumPy's before it is timed; a wrong one ends the run. Headrace and NumPy take turns, and the best of
several runs counts. Both allocate their results.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import headrace
from bench.machine import description_line
from bench.tables import Page

ITEMS = 1 << 22
Run = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Case:
    """An operation, and functions that return the answer of headrace with a context and of NumPy."""

    name: str
    ours: Callable[[headrace.Context], Any]
    numpy: Run


def cases(items: int) -> list[Case]:
    """Return the operations on random integers, floats and sorted arrays."""
    random = np.random.default_rng(0)
    ints, words = random.integers(0, 2**62, items), random.integers(0, 1000, items)
    floats, weights = random.standard_normal(items), random.random(items)
    large, small = np.sort(random.standard_normal(1 << 20)), np.linspace(-4, 4, 101)
    rows = random.integers(0, items, items)
    return [
        Case("unique, distinct int64", lambda c: headrace.unique(ints, context=c), lambda: np.unique(ints)),
        Case("unique, 1,000 values of int64", lambda c: headrace.unique(words, context=c), lambda: np.unique(words)),
        Case(
            "unique with inverse and counts, 1,000 values",
            lambda c: headrace.unique(words, return_inverse=True, return_counts=True, context=c),
            lambda: np.unique(words, return_inverse=True, return_counts=True),
        ),
        Case(
            "searchsorted in 2^20 floats, random keys",
            lambda c: headrace.searchsorted(large, floats, context=c),
            lambda: np.searchsorted(large, floats),
        ),
        Case("digitize, 101 edges", lambda c: headrace.digitize(floats, small, context=c), lambda: np.digitize(floats, small)),
        Case("bincount, 1,000 values", lambda c: headrace.bincount(words, context=c), lambda: np.bincount(words)),
        Case("bincount, as many values as items", lambda c: headrace.bincount(rows, context=c), lambda: np.bincount(rows)),
        Case(
            "bincount with weights, 1,000 values",
            lambda c: headrace.bincount(words, weights, context=c),
            lambda: np.bincount(words, weights),
        ),
        Case("take, random rows", lambda c: headrace.take(floats, rows, context=c), lambda: np.take(floats, rows)),
        Case(
            "histogram of floats, 100 bins",
            lambda c: headrace.histogram(floats, 100, context=c)[0],
            lambda: np.histogram(floats, 100)[0],
        ),
        Case("cumsum of float64", lambda c: headrace.cumsum(floats, context=c), lambda: np.cumsum(floats)),
        Case(
            "sort of rows of 64 floats",
            lambda c: headrace.sort(floats.reshape(-1, 64), context=c),
            lambda: np.sort(floats.reshape(-1, 64)),
        ),
    ]


def check(case: Case) -> None:
    """Raise ValueError if an answer is not that of NumPy; floats may differ by their rounding."""
    found, expected = case.ours(headrace.Context()), case.numpy()
    pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
    for ours, theirs in pairs:
        if not np.allclose(ours, theirs, rtol=1e-9, atol=1e-9):
            raise ValueError(f"{case.name}: not NumPy's answer")


def _seconds(run: Run) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def _timed(case: Case, threads: list[int], repeat: int, items: int) -> str:
    runs: list[Run] = [case.numpy, *(partial(case.ours, headrace.Context(threads=count)) for count in threads)]
    best = [min(turn) for turn in zip(*([_seconds(run) for run in runs] for _ in range(repeat)), strict=True)]
    ours = [f"{each * 1e9 / items:.2f} | {best[0] / each:.2f}" for each in best[1:]]
    return f"| {case.name} | {best[0] * 1e9 / items:.2f} | {' | '.join(ours)} |"


def main() -> int:
    """Run the cases of the command line and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=ITEMS)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    threads = [int(each) for each in given.threads.split(",")]
    page = Page()
    page.say("# Searches, counts and distinct items on the CPU beside NumPy\n")
    page.say(description_line())
    columns = [part for count in threads for part in (f"{count} thread{'s' * (count > 1)}", "times NumPy")]
    text = f"{given.items:,} items, nanoseconds an item, best of {given.repeat} in turns."
    page.head("Calls", text, ["NumPy", *columns])
    for case in cases(given.items):
        check(case)
        page.say(_timed(case, threads, given.repeat, given.items))
    page.keep(given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
