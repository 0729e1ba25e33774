"""Measures maps whose keys are texts, or rows of a text and a number, on a GPU beside those on the CPU.

usage: python -m bench.index.text_map_gpu [--logs N,N,...] [--repeat N] [--out FILE]

Texts have 9 to 18 bytes, and nearly all are distinct. Answers are compared with those of the CPU before they are timed. Rates are
millions of keys a second by the call, on a GPU with keys and results in its memory. New keys enter a new map each time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

import headrace
from bench.gpu_timing import call_ms
from bench.machine import description
from bench.tables import Page
from headrace import Context, HashMap
from headrace.core.errors import HeadraceError

TYPES: dict[str, Any] = {"text": "string", "text and int64": {"k": "string", "n": "int64"}}
CUDA = Context(device="cuda")


def seconds_of(work: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def rates_of(count: int, types: Any, repeat: int) -> list[str]:
    """Return rates: insertions of new and of present keys, finds and items on the GPU, and new keys and finds on the CPU."""
    numbers = np.random.default_rng(count).integers(0, 1 << 40, count)
    text = "k,n\n" + "\n".join(f"key {number:05},{row}" for row, number in enumerate(numbers.tolist()))
    table = headrace.read_csv(text.encode(), dtypes={"k": "string", "n": "int64"})
    given, values = table.to("cuda"), torch.from_numpy(numbers).cuda()
    keys, theirs = (table["k"], given["k"]) if types == "string" else (table, given)
    ours, expected = HashMap(types, "int64", context=CUDA), HashMap(types, "int64")
    if ours.insert(theirs, values) != expected.insert(keys, numbers):
        raise HeadraceError("wrong number of keys")
    if not np.array_equal(ours.find(theirs).values.to_numpy(), expected.find(keys).values):
        raise HeadraceError("wrong values")
    if count <= 1 << 16 and not np.array_equal(ours.items().values.to_numpy(), expected.items().values):
        raise HeadraceError("wrong order of items")
    ways: list[Callable[[], object]] = [
        lambda: HashMap(types, "int64", context=CUDA).insert(theirs, values),
        lambda: ours.insert(theirs, values),
        lambda: ours.find(theirs),
        ours.items,
    ]
    rates = [count / call_ms(work, repeat) / 1e3 for work in ways]
    on_host = lambda: HashMap(types, "int64").insert(keys, numbers), lambda: expected.find(keys)
    rates += [count / min(seconds_of(work) for _ in range(repeat)) / 1e6 for work in on_host]
    return [f"{rate:.3g}" for rate in rates]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", default="10,16,20", help="logarithms of numbers of keys")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    page = Page()
    page.head("Maps by texts and rows", description(), ["keys", "new", "present", "find", "items", "CPU: new", "CPU: find"])
    for log in map(int, options.logs.split(",")):
        for name, types in TYPES.items():
            page.say(f"| {name} | {1 << log:,} | {' | '.join(rates_of(1 << log, types, options.repeat))} |")
    page.keep(options.out)


if __name__ == "__main__":
    main()
