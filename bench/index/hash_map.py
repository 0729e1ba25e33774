"""Measures HashMap on the CPU by size, beside boost::unordered_flat_map, a dictionary, pandas and Polars.

usage: python -m bench.index.hash_map [--sizes LOG2,...] [--threads N] [--type TYPE] [--boost FOLDER] [--repeat N] [--cpu-time]
    [--out FILE]

Keys and values have 8 bytes, or 4 with --type int32, and the keys are distinct and random. A build inserts all keys into
an empty map, all at once or 2^16 at a time. Replaced: all keys are inserted once more. Sums add to the values of all keys.
Finds search all keys in another order, as many absent ones, or a random half of each. Erasures remove all keys in that order.
Boost's map runs on one thread, and is measured if its header is in a folder of the compiler or in --boost. All answers are
checked before they are timed. The maps take turns, the best of all turns is quoted, and the last column is our rate by that of
Boost.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
import polars as pl

from bench.machine import description
from bench.tables import Page
from headrace import Context, HashMap
from headrace.core.errors import HeadraceError

BATCH = 1 << 16
LARGEST_DICT = 1 << 20


class Candidate(Protocol):
    """A map of one kind."""

    def insert(self, keys: Any, values: Any) -> None:
        """Insert keys, or replace their values."""

    def add(self, keys: Any, values: Any) -> None:
        """Add to the values of keys."""

    def erase(self, keys: Any) -> None:
        """Remove keys."""

    def find(self, keys: Any) -> tuple[Any, Any]:
        """Return values, 0 for absent keys, and whether each key is present."""


@dataclass
class Ours:
    """`headrace.HashMap`. `dtype`: type of keys and values."""

    threads: int | None
    dtype: str
    map: HashMap = field(init=False)

    def __post_init__(self) -> None:
        self.map = HashMap(self.dtype, self.dtype, context=Context(threads=self.threads))

    def insert(self, keys: Any, values: Any) -> None:
        """Insert keys."""
        self.map.insert(keys, values)

    def add(self, keys: Any, values: Any) -> None:
        """Add to values."""
        self.map.upsert(keys, values, reduce="sum")

    def erase(self, keys: Any) -> None:
        """Remove keys."""
        self.map.erase(keys)

    def find(self, keys: Any) -> tuple[Any, Any]:
        """Return values and marks."""
        found = self.map.find(keys)
        return found.values, found.found


class Boost:
    """A map of Boost in a library that `compiled` returns. `dtype`: type of keys and values."""

    def __init__(self, library: ctypes.CDLL, dtype: str) -> None:
        self._library = library
        self._dtype = np.dtype(dtype)
        self._map = ctypes.c_void_p(library.new_map(ctypes.c_uint32(self._dtype.itemsize)))

    def __del__(self) -> None:
        self._library.free_map(self._map)

    def insert(self, keys: Any, values: Any) -> None:
        """Insert keys."""
        self._library.insert(self._map, *map(_address, (keys, values)), ctypes.c_uint64(len(keys)))

    def add(self, keys: Any, values: Any) -> None:
        """Add to values."""
        self._library.add(self._map, *map(_address, (keys, values)), ctypes.c_uint64(len(keys)))

    def erase(self, keys: Any) -> None:
        """Remove keys, and write whether each was present, as `HashMap` does."""
        found = np.empty(len(keys), bool)
        self._library.erase(self._map, _address(keys), ctypes.c_uint64(len(keys)), _address(found))

    def find(self, keys: Any) -> tuple[Any, Any]:
        """Return values and marks."""
        values, found = np.empty(len(keys), self._dtype), np.empty(len(keys), bool)
        self._library.find(self._map, _address(keys), ctypes.c_uint64(len(keys)), _address(values), _address(found))
        return values, found


class Dictionary:
    """A dictionary of Python. `lists`: the items of arrays that were passed before, by address and length."""

    def __init__(self, lists: dict[tuple[int, int], list[int]]) -> None:
        self._pairs: dict[int, int] = {}
        self._lists = lists

    def insert(self, keys: Any, values: Any) -> None:
        """Insert keys."""
        self._pairs.update(zip(self._list(keys), self._list(values), strict=True))

    def add(self, keys: Any, values: Any) -> None:
        """Add to values."""
        pairs = self._pairs
        for key, value in zip(self._list(keys), self._list(values), strict=True):
            pairs[key] = pairs.get(key, 0) + value

    def erase(self, keys: Any) -> None:
        """Remove keys."""
        pop = self._pairs.pop
        for key in self._list(keys):
            pop(key, None)

    def find(self, keys: Any) -> tuple[Any, Any]:
        """Return values and marks; a missing key is None."""
        get = self._pairs.get
        found = [get(key) for key in self._list(keys)]
        return found, None

    def _list(self, items: Any) -> list[int]:
        place = items.ctypes.data, len(items)
        if place not in self._lists:
            self._lists[place] = items.tolist()
        return self._lists[place]


@dataclass(frozen=True)
class Workload:
    """Keys to insert and to find.

    Parameters
    ----------
    keys, values
        The pairs.
    present, expected
        The keys in another order, and their values.
    absent
        As many other keys.
    """

    keys: Any
    values: Any
    present: Any
    expected: Any
    absent: Any

    @classmethod
    def of(cls, count: int, dtype: str) -> Workload:
        """Return distinct random keys."""
        random = np.random.default_rng(count)
        if dtype == "int32":
            mixed = np.arange(2 * count, dtype=np.uint32) * np.uint32(0x9E3779B1)
        else:
            mixed = np.arange(2 * count, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
        both = random.permutation(mixed).view(dtype)
        keys, values = both[:count].copy(), random.integers(0, 1 << 30, count).astype(dtype)
        order = random.permutation(count)
        return cls(keys, values, keys[order], values[order], both[count:].copy())

    def check(self, find: Callable[[Any], tuple[Any, Any]], name: str) -> None:
        """Compare finds of all keys with their values."""
        values, found = find(self.present)
        is_right = np.array_equal(np.asarray(values), self.expected) and (found is None or bool(np.all(found)))
        missing, found = find(self.absent)
        is_right &= not np.any(found) if found is not None else set(missing) == {None}
        if not is_right:
            raise HeadraceError(f"wrong answer: {name}")

    def check_empty(self, find: Callable[[Any], tuple[Any, Any]], name: str) -> None:
        """Make sure that no key is found."""
        values, found = find(self.present)
        if np.any(found) if found is not None else set(values) != {None}:
            raise HeadraceError(f"wrong answer after erasures: {name}")


def compiled(folder: str | None, target: str) -> ctypes.CDLL | None:
    """Return the library of flat_map.cpp, or None without Boost's header."""
    source, library = Path(__file__).with_name("flat_map.cpp"), f"{target}/flat_map.so"
    include = [] if folder is None else [f"-I{folder}"]
    flags = ["-std=c++20", "-O3", "-DNDEBUG", "-fPIC", "-shared"]
    if subprocess.run(["c++", *flags, *include, str(source), "-o", library], check=False, capture_output=True).returncode:
        return None
    found = ctypes.CDLL(library)
    found.new_map.restype = ctypes.c_void_p
    return found


@dataclass(frozen=True)
class Timer:
    """Times calls. `clock`: returns seconds; `repeat`: number of calls."""

    clock: Callable[[], float]
    repeat: int

    def seconds(self, work: Callable[[], object]) -> float:
        """Return the seconds of the shortest call."""
        return min(self.once(work) for _ in range(self.repeat))

    def once(self, work: Callable[[], object]) -> float:
        """Return the seconds of a call."""
        began = self.clock()
        work()
        return self.clock() - began


def rates_of(makers: dict[str, Callable[[], Candidate]], load: Workload, timer: Timer) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield millions of keys a second by candidate, after the name of each operation."""
    count = len(load.keys)

    def built(make: Callable[[], Candidate], batch: int = count) -> Candidate:
        made = make()
        for begin in range(0, count, batch):
            made.insert(load.keys[begin : begin + batch], load.values[begin : begin + batch])
        return made

    def erasure(name: str) -> Callable[[], object]:
        full = built(makers[name])
        return lambda: full.erase(load.present)

    held = {name: built(make) for name, make in makers.items()}
    half = np.where(np.random.default_rng(1).integers(0, 2, count) == 0, load.present, load.absent)
    for name, make in makers.items():
        load.check(held[name].find, name)
        load.check(built(make, BATCH).find, f"{name} in batches")
        erased = built(make)
        erased.erase(load.keys)
        load.check_empty(erased.find, name)
    prepared: dict[str, Callable[[str], Callable[[], object]]] = {
        "build": lambda name: lambda: built(makers[name]),
        "build in batches": lambda name: lambda: built(makers[name], BATCH),
        "replace": lambda name: lambda: held[name].insert(load.keys, load.values),
        "find present": lambda name: lambda: held[name].find(load.present),
        "find absent": lambda name: lambda: held[name].find(load.absent),
        "find half": lambda name: lambda: held[name].find(half),
        "erase": erasure,
        "sum": lambda name: lambda: held[name].add(load.keys, load.values),
    }
    for operation, prepare in prepared.items():
        times: dict[str, list[float]] = {name: [] for name in makers}
        for _ in range(timer.repeat):
            for name, taken in times.items():
                taken.append(timer.once(prepare(name)))
        yield operation, {name: count / min(taken) / 1e6 for name, taken in times.items()}


def frame_rates(load: Workload, timer: Timer) -> dict[str, dict[str, float]]:
    """Return rates of pandas' index, and of a join of Polars, which builds its table in each call."""
    index = pd.Index(load.keys)
    frame = pl.DataFrame({"key": load.keys, "value": load.values})
    wanted = {name: pl.DataFrame({"key": keys}) for name, keys in (("present", load.present), ("absent", load.absent))}

    def joined(name: str) -> pl.DataFrame:
        return wanted[name].join(frame, on="key", how="left", maintain_order="left")

    places = index.get_indexer(load.present)
    if not np.array_equal(load.values[places], load.expected) or (index.get_indexer(load.absent) >= 0).any():
        raise HeadraceError("wrong answer: pandas")
    if not np.array_equal(joined("present")["value"], load.expected) or joined("absent")["value"].null_count() != len(load.keys):
        raise HeadraceError("wrong answer: Polars")
    count, seconds = len(load.keys) / 1e6, timer.seconds
    return {
        "build": {"pandas": count / seconds(lambda: pd.Index(load.keys).get_indexer(load.keys[:1]))},
        "find present": {
            "pandas": count / seconds(lambda: index.get_indexer(load.present)),
            "Polars": count / seconds(lambda: joined("present")),
        },
        "find absent": {
            "pandas": count / seconds(lambda: index.get_indexer(load.absent)),
            "Polars": count / seconds(lambda: joined("absent")),
        },
    }


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="12,16,20,22", help="logarithms of the numbers of keys")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--type", default="int64", choices=("int64", "int32"), help="type of keys and values")
    parser.add_argument("--boost", help="folder that has boost/unordered/unordered_flat_map.hpp")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--cpu-time", action="store_true", help="time of the processor, for a machine with other work")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    page = Page()
    threads = options.threads or Context().thread_count
    clock = "second of all threads' processor time" if options.cpu_time else "second"
    used = f"{threads} threads of ours, all cores for Polars, one for others"
    text = f"{description()}; {used}; {options.type}. Millions of keys a {clock}."
    page.head("Hash maps", text, ["keys", "headrace", "Boost", "dict", "pandas", "Polars", "headrace / Boost"])
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(options.boost, folder)
        for bits in map(int, options.sizes.split(",")):
            for row in rows_of(1 << bits, library, options):
                page.say(f"| {' | '.join(row)} |")
    page.keep(options.out)


def rows_of(count: int, library: ctypes.CDLL | None, options: argparse.Namespace) -> Iterator[list[str]]:
    """Yield a row for each operation."""
    load = Workload.of(count, options.type)
    timer = Timer(time.process_time if options.cpu_time else time.perf_counter, options.repeat)
    makers: dict[str, Callable[[], Candidate]] = {"headrace": lambda: Ours(options.threads, options.type)}
    if library is not None:
        makers["Boost"] = lambda: Boost(library, options.type)
    if count <= LARGEST_DICT:
        lists: dict[tuple[int, int], list[int]] = {}
        makers["dict"] = lambda: Dictionary(lists)
    frames = frame_rates(load, timer)
    for operation, rates in rates_of(makers, load, timer):
        found = rates | frames.get(operation, {})
        cells = [f"{found[name]:.1f}" if name in found else "" for name in ("headrace", "Boost", "dict", "pandas", "Polars")]
        yield [operation, f"{count:,}", *cells, f"{found['headrace'] / found['Boost']:.2f}" if "Boost" in found else ""]


def _address(array: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


if __name__ == "__main__":
    main()
