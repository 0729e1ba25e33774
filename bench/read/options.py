"""Measures the cost of each way of reading beside the plain read of the same records.

usage: python -m bench.read.options [--bytes N] [--threads N] [--repeat N] [--ways utf_16,gzip]

Each way reads the beginning of a benchmark file in another form or with other options. Its answer is compared with the plain one
before it is timed. The calls take turns. A ratio is the way's best time over the plain read's. For gzip, the divisor is the time
of the library's own decompression followed by the plain read.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import headrace
from bench.machine import description
from bench.read.data import ensure

Read = Callable[[], Any]


@dataclass(frozen=True)
class Way:
    """A text and a way to read it. `same` is false if the way returns another table by design."""

    text: bytes
    options: dict[str, Any] = field(default_factory=dict)
    same: bool = True


def ways_of(text: bytes, quoted: bool) -> dict[str, Way]:
    """Return the ways by name. `text`: a header and whole records."""
    ways = {
        "lenient quotes": Way(text, {"lenient_quotes": True}),
        "short records allowed": Way(text, {"short_records": "null"}),
        "long records collected": Way(text, {"long_records": "collect"}, same=False),
        "long records widened": Way(text, {"long_records": "widen"}),
        "UTF-16": Way(text.decode().encode("utf-16"), {}),
        "latin-1": Way(text, {"encoding": "latin-1"}),
        "texts as views": Way(text, {"strings": "view"}),
        "texts as dictionaries": Way(text, {"strings": "dictionary"}),
        "dialect found": Way(text, {"dialect": "auto"}),
    }
    if quoted:
        stray = _with(text, b" nice ", b' ni"ce ', 0.01)
        return ways | {"stray quotes": Way(stray, {"lenient_quotes": True, "on_error": "null"}, same=False)}
    head, _, records = text.partition(b"\n")
    return ways | {
        "1 % short records": Way(_ragged(head, records, _cut), {"short_records": "null"}, same=False),
        "1 % long records truncated": Way(_ragged(head, records, _longer), {"long_records": "truncate"}),
        "1 % long records collected": Way(_ragged(head, records, _longer), {"long_records": "collect"}, same=False),
        "0.1 % stray quotes": Way(
            _ragged(head, records, lambda record: record.replace(b",", b',"', 1), 0.001),
            {"lenient_quotes": True, "on_error": "null"},
            same=False,
        ),
    }


def _cut(record: bytes) -> bytes:
    return record.rpartition(b",")[0]


def _longer(record: bytes) -> bytes:
    return record + b",9"


def _ragged(head: bytes, records: bytes, change: Callable[[bytes], bytes], share: float = 0.01) -> bytes:
    rng = random.Random(1)
    lines = [change(line) if rng.random() < share else line for line in records.split(b"\n")[:-1]]
    return b"\n".join([head, *lines, b""])


def _with(text: bytes, old: bytes, new: bytes, share: float) -> bytes:
    rng = random.Random(1)
    first, *rest = text.split(old)
    return first + b"".join((new if rng.random() < share else old) + part for part in rest)


def _checked(way: Way, plain: headrace.Table, threads: int) -> Read:
    table = headrace.read_csv(way.text, threads=threads, **way.options)
    table.report.check()
    if way.same and not table.to_arrow().cast(plain.to_arrow().schema).equals(plain.to_arrow()):
        sys.exit(f"{way.options}: not the plain answer")
    if not way.same and table.num_rows != plain.num_rows:
        sys.exit(f"{way.options}: {table.num_rows} rows, not {plain.num_rows}")
    return lambda: headrace.read_csv(way.text, threads=threads, **way.options)


def _gzip(text: bytes, plain: headrace.Table, threads: int, folder: Path) -> tuple[Read, Read]:
    """Return functions for the read of a compressed file, and for the library's decompression followed by a plain read."""
    path = folder / "t.csv.gz"
    path.write_bytes(gzip.compress(text, 1))
    _checked(Way(path.read_bytes()), plain, threads)
    try:
        from isal import igzip as library
    except ImportError:
        library = gzip
    return lambda: headrace.read_csv(path, threads=threads), lambda: headrace.read_csv(
        library.decompress(path.read_bytes()), threads=threads
    )


def best_of(calls: dict[str, Read], repeat: int) -> dict[str, tuple[float, float]]:
    """Return the minimum wall and processor times. Calls take turns, two runs each, so that the second reuses memory."""
    best = dict.fromkeys(calls, (float("inf"), float("inf")))
    for _ in range(repeat):
        for name, call in calls.items():
            call()
            wall, processor = time.perf_counter(), time.process_time()
            call()
            taken = time.perf_counter() - wall, time.process_time() - processor
            best[name] = min(best[name][0], taken[0]), min(best[name][1], taken[1])
    return best


def measure(case: str, options: argparse.Namespace, folder: Path) -> None:
    """Check, measure and print one file."""
    with ensure(case).open("rb") as file:
        text = file.read(options.bytes)
    text = text[: text.rindex(b"\n") + 1]
    if case == "quoted":
        text = text[: text.rindex(b'"\n') + 2]
    plain = headrace.read_csv(text, threads=options.threads)
    calls: dict[str, Read] = {"plain": lambda: headrace.read_csv(text, threads=options.threads)}
    for name, way in ways_of(text, case == "quoted").items():
        calls[name] = _checked(way, plain, options.threads)
    calls["gzip"], calls["gzip by its library, then plain"] = _gzip(text, plain, options.threads, folder)
    if options.ways:
        calls = {name: call for name, call in calls.items() if name.replace(" ", "_") in ("plain", *options.ways.split(","))}
    best = best_of(calls, options.repeat)
    for name, (wall, processor) in best.items():
        over = "gzip by its library, then plain" if name == "gzip" else "plain"
        ratios = [mine / other for mine, other in zip(best[name], best.get(over, best["plain"]), strict=True)]
        print(f"| {case} | {name} | {1e3 * wall:.1f} | {1e3 * processor:.1f} | {ratios[0]:.2f} | {ratios[1]:.2f} |", flush=True)


def main() -> None:
    """Measure every file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default="taxi,quoted")
    parser.add_argument("--ways", default="")
    parser.add_argument("--bytes", type=lambda text: int(float(text)), default=64 << 20)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--repeat", type=int, default=7)
    options = parser.parse_args()
    print("; ".join(f"{name} {value}" for name, value in description().items()))
    print(f"\n{options.threads} threads, {options.bytes / 1e6:.0f} MB\n")
    print("| file | read | wall ms | processor ms | wall, to plain | processor, to plain |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        for case in options.cases.split(","):
            measure(case, options, Path(folder))


if __name__ == "__main__":
    main()
