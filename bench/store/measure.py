"""Makes columns for benchmarks of the store, and times calls in turns."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

NUMBERS = ("int32", "int64", "float64", "date32")
TEXTS = ("name", "UUID", "URL")
"""Kinds of texts: names of 4 to 12 letters, 36 characters of digits, and addresses of 44 to 60 bytes with a common begin."""


def timed(call: Callable[[], object], *, cpu_time: bool = False) -> float:
    """Return the seconds of a call; `cpu_time`: those of the process's threads, for a machine that is shared."""
    clock = time.process_time if cpu_time else time.perf_counter
    began = clock()
    call()
    return clock() - began


class Spent(NamedTuple):
    """Elapsed seconds, and those of CPU of all threads of the process."""

    seconds: float
    cpu: float

    def __add__(self, other: Spent) -> Spent:  # type: ignore[override]  # not the concatenation of tuples
        return Spent(self.seconds + other.seconds, self.cpu + other.cpu)


def spent(call: Callable[[], object]) -> Spent:
    """Return the elapsed seconds of a call, and those of CPU."""
    cpu = time.process_time()
    return Spent(timed(call), time.process_time() - cpu)


def in_turns(measures: Mapping[str, Callable[[], float]], repeat: int = 3) -> dict[str, float]:
    """Return the median seconds of each measure. Measures alternate, after one of each that does not count.

    Each turn has another order. A call after one that has released memory may take it, and the next one must ask the system.
    """
    orders = [random.Random(turn).sample(list(measures), len(measures)) for turn in range(repeat + 1)]
    times = [{name: measures[name]() for name in order} for order in orders]
    return {name: statistics.median(found[name] for found in times[1:]) for name in measures}


def in_turns_of_calls(calls: Mapping[str, Callable[[], object]], *, cpu_time: bool = False) -> dict[str, float]:
    """Return the median seconds of each call, as `in_turns` and `timed`."""
    return in_turns({name: partial(timed, call, cpu_time=cpu_time) for name, call in calls.items()})


def values_of(kind: str, count: int) -> Any:
    """Return distinct values of a kind, an array of PyArrow in no order."""
    numbers = np.random.default_rng(3).permutation(count).astype(np.int64)
    if kind == "float64":
        return pa.array(numbers / 64)
    if kind in NUMBERS:
        spread = numbers if kind == "date32" else numbers * ((1 << (30 if kind == "int32" else 62)) // count - 1 | 1)
        return pa.array(spread.astype("i8" if kind == "int64" else "i4")).cast(kind)
    return pa.array([_text(kind, number) for number in numbers.tolist()])


def column_of(values: Any, rows: int, seed: int) -> Any:
    """Return a column of random values, each of which may be in several rows."""
    return values.take(pa.array(np.random.default_rng(seed).integers(0, len(values), rows)))


def _text(kind: str, number: int) -> str:
    mixed = number * 0x9E3779B97F4A7C15F39CC0605CEDC835 % (1 << 128)
    if kind == "UUID":
        digits = f"{mixed:032x}"
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
    if kind == "URL":
        return f"https://www.example.com/catalogue/{mixed % 97}/item?number={number}"
    letters = "".join(chr(ord("a") + (number >> 4 * i) % 16) for i in range(4 + mixed % 4))
    return letters.capitalize() + (f" {number >> 16}" if number >> 16 else "")
