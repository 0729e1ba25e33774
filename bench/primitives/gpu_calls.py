"""Measures calls on small arrays of a GPU beside CuPy's: microseconds from the call to the synchronised result.

usage: python -m bench.primitives.gpu_calls [--out FILE] [--peer-first]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import cupy as cp
import numpy as np

import headrace
from bench.tables import Page
from headrace import buckets

COUNTS = (1_000, 50_000, 1_000_000, 3_000_000)
ROUNDS, CALLS = 3, 100
Call = Callable[[], Any]


def cases(count: int) -> Iterator[tuple[str, Call, Call]]:
    """Yield name, call, and CuPy's call of the same result."""
    random = np.random.default_rng(count)
    words = cp.asarray(random.integers(0, 2**32, count, np.uint32))
    longs, floats = cp.asarray(random.integers(0, 2**64, count, np.uint64)), cp.asarray(random.random(count))
    rows = cp.arange(count, dtype="u4")
    for name, keys in (("uint32", words), ("uint64", longs), ("float64", floats)):
        yield f"sort {name}", lambda keys=keys: headrace.sort(keys), lambda keys=keys: cp.sort(keys)
    yield "argsort uint32", lambda: headrace.argsort(words), lambda: cp.argsort(words, kind="stable")
    yield "sort_pairs", lambda: headrace.sort_pairs(words, rows).values, lambda: rows[cp.argsort(words, kind="stable")]
    yield "scan", lambda: headrace.scan(words), lambda: cp.cumsum(words, dtype="u4")
    yield "histogram", lambda: headrace.bucket_counts(words), lambda: cp.bincount(words >> 24, minlength=256)
    modulo = buckets.modulo(256)
    yield (
        "multisplit",
        lambda: headrace.multisplit(words, modulo).keys,
        lambda: words[cp.argsort(words % 256, kind="stable")],
    )


def microseconds(call: Call) -> tuple[float, float]:
    """Return the least of the medians of some rounds: until the result is there, and until the call returns."""
    medians = []
    for _ in range(ROUNDS):
        times = []
        for _ in range(CALLS):
            begun = time.perf_counter()
            call()
            returned = time.perf_counter()
            cp.cuda.runtime.deviceSynchronize()
            times.append((time.perf_counter() - begun, returned - begun))
        medians.append(tuple(float(np.median(some)) * 1e6 for some in zip(*times, strict=True)))
    return min(first for first, _ in medians), min(second for _, second in medians)


def main() -> None:
    """Check and measure all cases, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out")
    parser.add_argument("--peer-first", action="store_true")
    given = parser.parse_args()
    page = Page()
    page.out = given.out
    columns = ("n", "headrace", "CuPy", "ratio", "headrace, until it returns")
    page.head("Calls on small arrays", "Microseconds from the call to the result.", columns)
    for count in COUNTS:
        for name, call, peer in cases(count):
            for _ in range(3):  # the first call launches directly, the second records
                assert bool((call() == peer()).all()), name
            measured = [microseconds(each) for each in ((peer, call) if given.peer_first else (call, peer))]
            (ours, returned), (theirs, _) = measured[::-1] if given.peer_first else measured
            page.say(f"| {name} | {count:_} | {ours:.1f} | {theirs:.1f} | {theirs / ours:.2f} | {returned:.1f} |")
            page.figure(name=name, count=count, headrace=ours, cupy=theirs, returned=returned)
    page.keep(given.out)


if __name__ == "__main__":
    main()
