"""Measures the rates of SortedMap: inserts by batches, searches, ranges and cleanups, beside sorted arrays.

usage: python -m bench.index.sorted_map [--device cpu|cuda] [--items LOG2] [--batches LOG2,...] [--threads N] [--out FILE]

Keys and values have 32 bits, and keys are uniform over 31 bits (Ashkiani, section 4.5). The inserts fill an empty map. Reads use
a map of one batch less than the items, so that all levels are full, and then a clean one. Peers in the same run: a sorted array
that is rebuilt for each batch, binary search in one sorted array, and a hash map. On the CPU a batch is also inserted by NumPy. A
sample of each answer is checked before it is timed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np

import headrace
from bench.machine import description_line
from bench.tables import Page
from headrace import Context, HashMap, SortedMap
from headrace.index.sorted_map.sorted_map import MapReader

KEY_BITS = 31
MERGING = 5
"""Searches of a map whose searches merge its levels."""
NEVER = 1e9
"""Growth that no map has, for one whose updates make no cleanup."""
SAMPLE = slice(1 << 14)
"""Answers that are checked."""


class Machine:
    """The device of a run: copies arrays there and waits for it."""

    def __init__(self, device: str, threads: int | None) -> None:
        self.context = Context(threads=threads, device=device)
        self._torch: Any = None
        if device != "cpu":
            import torch

            self._torch = torch

    def put(self, items: Any) -> Any:
        """Return an array on the device: of PyTorch on a GPU."""
        return items if self._torch is None else self._torch.from_numpy(items).cuda()

    def distinct(self, keys: Any) -> Any:
        """Return the ascending distinct keys of an array of the host, found by NumPy or PyTorch: all are below 2**31."""
        if self._torch is None:
            return np.unique(keys)
        return self._torch.unique(self.put(keys.view("i4"))).cpu().numpy().view("u4")

    def seconds(self, work: Callable[[], object], repeat: int = 5) -> float:
        """Return the median seconds of a call until its result is complete, after one call that is not timed."""
        return statistics.median([self.seconds_once(work) for _ in range(repeat + 1)][1:])

    def seconds_once(self, work: Callable[[], object]) -> float:
        """Return the seconds of one call until its result is complete."""
        self._wait()
        began = time.perf_counter()
        work()
        self._wait()
        return time.perf_counter() - began

    def peer(self, ascending: Any, keys: Any) -> tuple[str, Callable[[], object]]:
        """Return name and call of a peer's binary search. PyTorch has none for unsigned keys."""
        if self._torch is None:
            return "NumPy", lambda: np.searchsorted(ascending, keys)
        torch = self._torch
        return "PyTorch", lambda: torch.searchsorted(ascending.view(torch.int32), keys.view(torch.int32))

    def _wait(self) -> None:
        if self._torch is not None:
            self._torch.cuda.synchronize()


def filled(
    machine: Machine, keys: Any, values: Any, batch: int, cleanup_at: float | None = None, *, is_gathered: bool = False
) -> SortedMap:
    """Return a map of keys and values, whose batches become levels one by one. By default it is cleaned by hand only."""
    result = SortedMap("uint32", "uint32", cleanup_at=cleanup_at, context=machine.context)
    for begin in range(0, len(keys), batch):
        result.insert(keys[begin : begin + batch], values[begin : begin + batch])
        if begin + batch >= len(keys) or not is_gathered:
            result.snapshot()  # a read sorts the batches that wait
    return result


def inserts(page: Page, machine: Machine, keys: Any, values: Any, batches: list[int]) -> None:
    """Add the table of inserts."""
    said = "Millions of items a second, and microseconds a batch. Rebuilt: a sort of half of the items for each batch. NumPy: "
    said += "searchsorted and insert of a sorted batch into half of the items."
    page.head("Inserts", said, ["items", "inserts", "us", "one sorted batch, us", "rebuilt", "rebuilt, us", "NumPy, us"])
    for bits in batches:
        batch = 1 << bits
        count = min(len(keys), batch << 7)
        used, given = keys[:count], values[:count]
        whole = machine.seconds(lambda used=used, given=given, batch=batch: filled(machine, used, given, batch, is_gathered=True))
        alone = machine.seconds(lambda used=used, given=given, batch=batch: headrace.sort_pairs(used[:batch], given[:batch]))
        half = count // 2
        rebuilt = machine.seconds(lambda used=used, given=given, half=half: headrace.sort_pairs(used[:half], given[:half]), 2)
        each = whole / (count // batch) * 1e6
        rates = [f"{count / whole / 1e6:,.1f}", f"{each:,.0f}", f"{alone * 1e6:,.0f}", f"{batch / rebuilt / 1e6:,.1f}"]
        numpy = ""
        if isinstance(used, np.ndarray):
            ascending, batches_of_numpy = np.sort(used[:half]), (used[half : half + batch], given[half : half + batch])
            seconds = machine.seconds(lambda ascending=ascending, parts=batches_of_numpy: numpy_insert(ascending, *parts), 2)
            numpy = f"{seconds * 1e6:,.0f}"
        page.say(f"| batches of 2^{bits} | {count:,} | {' | '.join(rates)} | {rebuilt * 1e6:,.0f} | {numpy} |")
        page.figure(map="levels", what=f"insert batches of 2^{bits}", items=count, rate=count / whole, rebuilt=batch / rebuilt)


def numpy_insert(ascending: Any, keys: Any, values: Any) -> tuple[Any, Any]:
    """Return a sorted array after a batch, and values that go with it; the old values are the keys themselves."""
    order = np.argsort(keys, kind="stable")
    places = np.searchsorted(ascending, keys[order])
    return np.insert(ascending, places, keys[order]), np.insert(ascending, places, values[order])


class Queries:
    """Keys to search in a map of the keys `host`."""

    def __init__(self, machine: Machine, host: Any, count: int) -> None:
        random = np.random.default_rng(3)
        self.items = len(host)
        self.ascending = machine.distinct(host)
        self.present = host[random.integers(0, len(host), count)]
        self.drawn = random.integers(0, 1 << KEY_BITS, count).astype("u4")

    def __len__(self) -> int:
        return len(self.drawn)


def reads(page: Page, machine: Machine, name: str, found: MapReader, queries: Queries) -> None:
    """Add the rows of searches and ranges in one map."""
    ascending, present, drawn = queries.ascending, queries.present, queries.drawn
    sorted_keys = machine.put(ascending)
    for what, wanted in (("present", present), ("present, sorted", np.sort(present)), ("random", drawn)):
        keys = machine.put(wanted)
        mask = on_host(found.find(keys).mask)[SAMPLE]
        places = np.searchsorted(ascending, wanted[SAMPLE]).clip(max=len(ascending) - 1)
        if (mask != (ascending[places] == wanted[SAMPLE])).any() or (what != "random" and not mask.all()):
            raise ValueError(f"{name}: searches of {what} keys are wrong")
        ours = machine.seconds(lambda keys=keys: found.find(keys))
        own = machine.seconds(lambda keys=keys: headrace.searchsorted(sorted_keys, keys, context=machine.context))
        peer, search = machine.peer(sorted_keys, keys)
        peers = machine.seconds(search)
        rates = " | ".join(f"{len(queries) / seconds / 1e6:,.1f}" for seconds in (ours, own, peers)) + f" ({peer})"
        page.say(f"| {name}: find, {what} | {rates} |")
        page.figure(map=name, what=f"find, {what}", items=queries.items, rate=len(queries) / ours, peer=len(queries) / peers)
    for width in (8, 1024):
        number = len(queries) * 8 // (width + 8) // 2
        lows, step = drawn[:number], np.uint32(width * (1 << KEY_BITS) // queries.items)
        highs = lows + step
        expected = np.searchsorted(ascending, highs[SAMPLE], "right") - np.searchsorted(ascending, lows[SAMPLE])
        given = machine.put(lows), machine.put(highs)
        if (on_host(found.count(*given))[SAMPLE] != expected).any():
            raise ValueError(f"{name}: counts are wrong")
        rows = {"count": machine.seconds(lambda given=given: found.count(*given), 3)}
        rows["range"] = machine.seconds(lambda given=given: found.range(*given), 3)
        peer, first = machine.peer(sorted_keys, given[0])
        _, last = machine.peer(sorted_keys, given[1])
        peers = {"count": machine.seconds(lambda first=first, last=last: (first(), last()))}
        for what, seconds in rows.items():
            said = f"{number / peers[what] / 1e6:,.2f} ({peer})" if what in peers else ""
            page.say(f"| {name}: {what} of width {width} | {number / seconds / 1e6:,.2f} | | {said} |")
            row = page.figure(map=name, what=f"{what} of width {width}", items=queries.items, rate=number / seconds)
            if what in peers:
                row["peer"] = number / peers[what]


def merging_searches(page: Page, machine: Machine, found: SortedMap, queries: Queries) -> None:
    """Add the row of a map whose searches merge its levels: the rates of searches of random keys, one after another."""
    keys, rates = machine.put(queries.drawn), []
    for _ in range(MERGING):
        seconds = machine.seconds_once(lambda: found.find(keys))
        rates.append(f"{len(queries) / seconds / 1e6:,.1f} in {len(found.level_sizes)}")
    page.say(f"| find, random, {MERGING} times, and levels after each | {', '.join(rates)} | | |")


def merges(page: Page, machine: Machine, found: SortedMap, keys: Any, values: Any) -> None:
    """Add the rows of a cleanup, and of an insert of one batch that merges all levels, which bounds it."""
    items, batch = sum(found.level_sizes), len(keys)

    def insert() -> None:
        grown = copy(found)
        grown.insert(keys, values)
        grown.snapshot()

    clean, merged = machine.seconds(lambda: len(found.snapshot())), machine.seconds(insert)
    rates = {"cleanup": items / clean, "insert of one batch that merges all levels": (items + batch) / merged}
    for what, rate in rates.items():
        page.say(f"| {what} | {rate / 1e6:,.1f} | | |")
        page.figure(map="levels", what=what, items=items, rate=rate)


def hash_searches(page: Page, machine: Machine, keys: Any, values: Any, queries: Queries) -> None:
    """Add the row of searches of present keys in a hash map of the same pairs."""
    table = HashMap("uint32", "uint32", capacity=len(keys), context=machine.context)
    table.insert(keys, values)
    present = machine.put(queries.present)
    if not on_host(table.find(present).found)[SAMPLE].all():
        raise ValueError("searches in the hash map are wrong")
    rate = len(queries) / machine.seconds(lambda: table.find(present))
    page.say(f"| HashMap: find, present | {rate / 1e6:,.1f} | | |")
    page.figure(map="hash map", what="find, present", items=len(table), rate=rate)


def on_host(found: Any) -> Any:
    """Return a result as an array of NumPy."""
    return found.cpu().numpy() if hasattr(found, "cpu") else found


def main() -> int:
    """Run the sizes of the command line and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--items", type=int, default=22)
    parser.add_argument("--batches", default="14,16,18")
    parser.add_argument("--queries", type=int, default=18)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    machine, page, batches = Machine(given.device, given.threads), Page(), [int(each) for each in given.batches.split(",")]
    count, random = 1 << given.items, np.random.default_rng(1)
    host = random.integers(0, 1 << KEY_BITS, count).astype("u4")
    keys, values = machine.put(host), machine.put(np.arange(count, dtype="u4"))
    page.say("# SortedMap: rates\n")
    page.say(description_line())
    inserts(page, machine, keys, values, batches)
    batch = 1 << batches[-1]
    found = filled(machine, keys[: count - batch], values[: count - batch], batch)
    said = f"{count - batch:,} items in levels of {', '.join(f'{size:,}' for size in found.level_sizes)}; millions a second."
    page.head("Reads", said, ["SortedMap", "searchsorted of one sorted array", "peer's"])
    queries = Queries(machine, host[: count - batch], 1 << given.queries)
    reads(page, machine, "levels", found.snapshot(), queries)
    merging_searches(page, machine, filled(machine, keys[: count - batch], values[: count - batch], batch, NEVER), queries)
    merges(page, machine, found, keys[count - batch :], values[count - batch :])
    found.cleanup()
    reads(page, machine, "clean level", found, queries)
    hash_searches(page, machine, keys[: count - batch], values[: count - batch], queries)
    page.keep(given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
