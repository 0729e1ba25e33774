"""Measures scan, reduce, select and histogram on the CPU beside NumPy, and beside the machine's memory rate.

usage: python -m bench.primitives.cpu [--cases scan,select] [--items N] [--threads 1,2] [--repeat N] [--out FILE]

Each answer is compared with NumPy's before it is timed; a wrong one ends the run. Headrace and NumPy take turns, and the best of
several runs counts. Results go to memory that was written before, for NumPy too if it takes an `out`. The last table has calls
that allocate their result. headrace reuses the memory of the preceding result; NumPy's comes from the system.

`memory` is the rate of a function of the C library on as many threads, in turns with the case. It is memcpy for scan and select
(bytes read and written), and memchr for reduce and histogram. memchr reads and hardly computes. It is not the fastest possible
read, so a share of it can exceed 100 %.
"""

from __future__ import annotations

import argparse
import ctypes
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import headrace
from bench.machine import description_line
from bench.tables import Page
from headrace import _native
from headrace.arrange.histogram.histogram import bucket_counts

ITEMS = 1 << 26
SLOW = 1 << 3
"""Factor by which cases that take NumPy seconds have fewer items."""
Run = Callable[[], Any]
LIBC = ctypes.CDLL(None)
for name in ("memcpy", "memchr"):
    getattr(LIBC, name).argtypes = [ctypes.c_void_p, ctypes.c_void_p if name == "memcpy" else ctypes.c_int, ctypes.c_size_t]


@dataclass(frozen=True, slots=True)
class Case:
    """An operation: the bytes it moves, and functions that return the answer of headrace and of NumPy."""

    name: str
    items: int
    read: int
    written: int
    ours: Callable[[int], Any]
    numpy: Run


def _seconds(run: Run) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def _best(runs: list[Run], repeat: int) -> list[float]:
    """Time functions in turns, so that noise of the machine affects all of them."""
    times = [[_seconds(run) for run in runs] for _ in range(repeat)]
    return [min(column) for column in zip(*times, strict=True)]


def _parallel(work: Callable[[int, int], Any], nbytes: int, threads: int, pool: ThreadPoolExecutor) -> None:
    part = nbytes // threads // 4096 * 4096
    list(pool.map(lambda i: work(i * part, part), range(threads)))


class Memory:
    """Time the C library's memcpy and memchr over large arrays, on several threads."""

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes
        self.source, self.target = np.ones(nbytes, "u1"), np.ones(nbytes, "u1")

    def run(self, threads: int, *, copies: bool, pool: ThreadPoolExecutor) -> None:
        a, b = self.source.ctypes.data, self.target.ctypes.data

        def work(at: int, size: int) -> None:
            if copies:
                LIBC.memcpy(b + at, a + at, size)
            else:
                LIBC.memchr(a + at, 2, size)

        _parallel(work, self.nbytes, threads, pool)


def _scan(name: str, items: Any, join: tuple[str, str], plain: Run, out: Any) -> Case:
    args = join, (items.ctypes.data, out.ctypes.data, len(items)), False, ""

    def ours(threads: int) -> Any:
        _native.scan(*args, threads)
        return out

    return Case(name, len(items), items.nbytes, items.nbytes, ours, plain)


def _context(threads: int) -> headrace.Context:
    return headrace.Context(threads=threads)


def _reduce(name: str, items: Any, operator: str, plain: Run) -> Case:
    return Case(
        name, len(items), items.nbytes, 0, lambda threads: headrace.reduce(items, operator, context=_context(threads)), plain
    )


def _select(items: Any, share: float, out: Any, random: np.random.Generator) -> Case:
    mask = random.random(len(items), dtype="f4") < share
    selected = int(mask.sum())
    args = (items.ctypes.data, mask.ctypes.data, len(items), items.itemsize), lambda _: out.ctypes.data, ""
    place = out.view(items.dtype)[:selected]

    def ours(threads: int) -> Any:
        _native.select(*args, threads)
        return place

    read = items.nbytes + 2 * len(items)
    name = f"select {share:.0%} of {items.dtype}"
    return Case(name, len(items), read, place.nbytes, ours, lambda: items[mask])


def _count(name: str, keys: Any, plain: Run, **how: Any) -> Case:
    return Case(name, len(keys), keys.nbytes, 0, lambda threads: bucket_counts(keys, **how, context=_context(threads)), plain)


def cases(items: int) -> list[Case]:
    """Return all cases, mostly of 32-bit items."""
    random = np.random.default_rng(6)
    u32 = random.integers(0, 2**32, items, dtype="u4")
    f32, f64 = random.standard_normal(items, dtype="f4"), random.standard_normal(items // 2)
    u64 = u32.view("u8")
    out, other = np.ones(items, "u4"), np.ones(items, "u4")
    few = u32[: items // SLOW]
    skewed = np.minimum(random.standard_exponential(items, dtype="f4") * 2**26, 2**32 - 256).astype("u4")
    edges = np.sort(random.choice(2**32 - 1, 257, replace=False)).astype("u4")

    def by_shift(keys: Any, bits: int) -> Run:
        return lambda: np.bincount(keys >> np.uint32(32 - bits), minlength=1 << bits)

    def by_multiply() -> Any:
        return np.bincount(few // np.uint32(4_293_968), minlength=1000)[:1000]

    def by_edges() -> Any:
        inside = (few >= edges[0]) & (few < edges[-1])
        return np.bincount(np.searchsorted(edges, few[inside], "right") - 1, minlength=256)

    return [
        _scan("scan sum uint32", u32, ("Sum", "u32"), lambda: np.cumsum(u32, dtype="u4", out=other), out),
        _scan("scan sum uint64", u64, ("Sum", "u64"), lambda: np.cumsum(u64, out=other.view("u8")), out.view("u8")),
        _scan(
            "scan min float32", f32, ("Min", "float"), lambda: np.minimum.accumulate(f32, out=other.view("f4")), out.view("f4")
        ),
        _reduce("reduce sum uint32", u32, "sum", lambda: np.sum(u32, dtype="u4")),
        _reduce("reduce min float32", f32, "min", lambda: np.min(f32)),
        _reduce("reduce max float64", f64, "max", lambda: np.max(f64)),
        _select(u32, 0.03, out, random),
        _select(u32, 0.5, out, random),
        _select(u64, 0.5, out, random),
        _select(u32.view("u1")[:items], 0.5, out, random),
        _count("histogram 256, shift", u32, by_shift(u32, 8), bins=256),
        _count("histogram 256, shift, skewed", skewed, by_shift(skewed, 8), bins=256),
        _count("histogram 65536, shift", u32, by_shift(u32, 16), bins=65536),
        _count("histogram 1000, multiply", few, by_multiply, bins=1000, range=(0, 4_293_968_000)),
        _count("histogram 256, splitters", few, by_edges, splitters=edges),
    ]


def _timed(case: Case, threads: list[int], memory: Memory, repeat: int, pool: ThreadPoolExecutor) -> list[str]:
    copies = bool(case.written)
    ours = [partial(case.ours, number) for number in threads]
    limits = [partial(memory.run, number, copies=copies, pool=pool) for number in threads]
    plain, *times = _best([case.numpy, *ours, *limits], repeat)
    lines = []
    for number, seconds, limit in zip(threads, times, times[len(threads) :], strict=False):
        rate, most = (case.read + case.written) / seconds, memory.nbytes * (1 + copies) / limit
        lines.append(
            f"| {case.name} | {case.items:,} | {number} | {case.items / seconds / 1e9:.2f} | {rate / 1e9:.1f} | {most / 1e9:.1f} "
            f"| {rate / most:.0%} | {case.items / plain / 1e9:.2f} | {plain / seconds:.1f} |"
        )
    return lines


def _as_called(items: int, threads: int, repeat: int) -> list[str]:
    """Time the public scan, with a new result each time, beside NumPy's."""
    keys = np.random.default_rng(1).integers(0, 2**32, items, dtype="u4")
    ours, theirs = _best([lambda: headrace.scan(keys, context=_context(threads)), lambda: np.cumsum(keys, dtype="u4")], repeat)
    return [f"| scan sum uint32 | {threads} | {items / ours / 1e9:.2f} | {items / theirs / 1e9:.2f} | {theirs / ours:.1f} |"]


def main() -> int:
    """Print the tables and write them to a file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--cases", default="", help="begins of names, by commas; all if empty")
    parser.add_argument("--items", type=int, default=ITEMS)
    parser.add_argument("--threads", default=f"1,{_native.hardware_threads()}")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    threads = sorted({int(number) for number in given.threads.split(",")})
    page = Page()
    say = page.say
    say(description_line() + f"; instruction set {headrace.Context().isa_name}")
    memory = Memory(4 * given.items)
    say("\n| case | items | threads | G items/s | GB/s | memory GB/s | of memory | NumPy G items/s | times NumPy |")
    say("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    with ThreadPoolExecutor(max(threads)) as pool:
        for case in cases(given.items):
            if not case.name.startswith(tuple(given.cases.split(","))):
                continue
            expected = np.asarray(case.numpy())
            for number in threads:
                if not np.array_equal(np.asarray(case.ours(number)).reshape(expected.shape), expected):
                    say(f"{case.name}, {number} threads: wrong")
                    return 1
            for line in _timed(case, threads, memory, given.repeat, pool):
                say(line)
    say("\n| as called | threads | G items/s | NumPy G items/s | times NumPy |\n| --- | ---: | ---: | ---: | ---: |")
    for number in threads:
        for line in _as_called(given.items, number, given.repeat):
            say(line)
    page.keep(given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
