"""Measures the slab hash on a GPU beside a sorted array of PyTorch: keys and values of 4 bytes.

usage: python -m bench.index.hash_map_gpu [--log N] [--repeat N] [--out FILE]

Answers are checked before they are timed. Rates are 10^9 keys a second by events; insertions include the host's wait for their
counts. Bytes are those that the algorithm touches. A find reads 128 bytes for each slab of a list up to the key's, and moves 13
bytes of arguments and results. The bytes are divided by the bandwidth of a copy that is measured in the same run.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

import headrace
from bench.gpu_timing import call_ms, median_ms
from bench.machine import description
from bench.tables import Page
from headrace import Context
from headrace.arrays.arrays import take
from headrace.core.errors import HeadraceError
from headrace.index.hash_map.device_map import DeviceMap
from headrace.index.hash_map.gpu.tuning import SlabTuning
from headrace.index.hash_map.pair_types import PairTypes

BATCH = 1 << 22
LOADS = (0.69, 1.45)
"""Pairs per slot of the first slabs, for utilisations of 0.6 and 0.7 (the paper's section 5.6)."""
_TYPES = PairTypes.of("int32", "int32")
_LONG_TYPES = PairTypes.of("int64", "int64")


def keys_of(begin: int, count: int) -> torch.Tensor:
    """Return distinct keys in random order: the numbers from `begin` on, mixed without collisions."""
    numbers = torch.arange(begin, begin + count, dtype=torch.int64, device="cuda")
    mixed = (numbers * 0x9E3779B1) & 0xFFFFFFFF
    mixed = mixed ^ (mixed >> 15)
    return ((mixed * 0x85EBCA77) & 0xFFFFFFFF).to(torch.int32)


@dataclass
class Table:
    """A map with a number of keys for each slot of the first slabs, and no growth."""

    map: DeviceMap
    keys: torch.Tensor
    values: torch.Tensor

    @classmethod
    def of(cls, count: int, load: float) -> Table:
        """Return a map of `count` keys."""
        empty = DeviceMap(_TYPES, Context(device="cuda"), count, SlabTuning(load=load, max_load=100.0, list_slabs=load))
        table = cls(empty, keys_of(0, count), torch.arange(count, dtype=torch.int32, device="cuda"))
        table.insert(0, count)
        return table

    def insert(self, begin: int, end: int) -> None:
        """Insert some of the pairs."""
        self.map.upsert(take(self.keys[begin:end]), take(self.values[begin:end]), "last")

    def find(self, keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return values and marks."""
        values, found = torch.empty_like(keys), torch.empty(len(keys), dtype=torch.bool, device="cuda")
        self.map.find(take(keys), take(values), take(found))
        return values, found


def copy_rate() -> float:
    """Return the bytes per second that a copy reads and writes."""
    source = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return 2 * source.numel() / median_ms(lambda: target.copy_(source)) * 1e3


def find_rows(count: int, rate: float, repeat: int) -> list[list[str]]:
    """Return a row for each utilisation."""
    rows = []
    for load in LOADS:
        table = Table.of(count, load)
        absent = keys_of(count, count)
        order = torch.randperm(count, device="cuda")
        present, expected = table.keys[order], table.values[order]
        values, found = table.find(present)
        require(bool(found.all()) and torch.equal(values, expected), "find of present keys")
        require(not bool(table.find(absent)[1].any()), "find of absent keys")
        stats = table.map.statistics()
        assert stats.slabs is not None
        used = count * 8 / (stats.slabs * 128)
        list_slabs = stats.slabs / (stats.capacity // 15)
        for name, keys, slabs in (("present", present, (1 + list_slabs) / 2), ("absent", absent, list_slabs)):
            keys_a_second = count / median_ms(lambda keys=keys, table=table: table.find(keys), repeat) * 1e3
            moved = keys_a_second * (128 * slabs + 13)
            rows.append([f"find, {name}", f"{count}", f"{used:.2f}", f"{keys_a_second / 1e9:.2f}", f"{moved / rate:.2f}"])
        del table, values, found
        torch.cuda.empty_cache()
    return rows


def insert_rows(count: int, rate: float, repeat: int) -> list[list[str]]:
    """Return rows of bulk builds and of batches."""
    keys, values = keys_of(0, count), torch.arange(count, dtype=torch.int32, device="cuda")

    def filled(capacity: int, batch: int) -> tuple[headrace.HashMap, float]:
        table = headrace.HashMap("int32", "int32", capacity=capacity, context=Context(device="cuda"))
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        begin.record()
        for at in range(0, count, batch):
            table.insert(keys[at : at + batch], values[at : at + batch])
        end.record()
        end.synchronize()
        return table, begin.elapsed_time(end)

    rows = []
    ways = [("bulk build, sized", count, count), ("bulk build", 0, count)]
    ways += [("batches of 2^22, sized", count, BATCH), ("batches of 2^22, growing", 0, BATCH)]
    for name, capacity, batch in ways:
        if batch > count:
            continue
        table, _ = filled(capacity, batch)
        found = table.find(keys)
        require(len(table) == count and bool(found.found.all()) and torch.equal(found.values, values), name)
        del table, found
        times = [filled(capacity, batch)[1] for _ in range(repeat)]
        pairs = count / statistics.median(times) * 1e3
        rows.append([name, f"{count}", "", f"{pairs / 1e9:.2f}", f"{pairs * (128 + 64 + 12) / rate:.2f}"])
        torch.cuda.empty_cache()
    return rows


def build_rows(count: int, repeat: int) -> list[list[str]]:
    """Return rows of bulk builds of other types and keys, in tables that are sized."""
    keys, values = keys_of(0, count), torch.arange(count, dtype=torch.int32, device="cuda")
    long = torch.arange(count // 2, dtype=torch.int64, device="cuda") * 0x9E3779B97F4A7C1
    generator = torch.Generator(device="cuda").manual_seed(5)
    drawn = torch.randint(-(1 << 31), 1 << 31, (count,), generator=generator, device="cuda").int()
    several = keys[torch.randint(0, count // 4, (count,), generator=generator, device="cuda")]
    ways = [
        ("8 and 8 bytes", _LONG_TYPES, long, long + 1),
        ("keys alone", PairTypes.of("int32"), keys, None),
        ("random keys", _TYPES, drawn, values),
        ("4 rows a key", _TYPES, several, values),
    ]
    rows = []
    for name, types, some, held in ways:
        times = []
        for _ in range(repeat + 1):
            table = DeviceMap(types, Context(device="cuda"), len(some))
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            torch.cuda.synchronize()
            begin.record()
            table.upsert(take(some), None if held is None else take(held), "last")
            end.record()
            end.synchronize()
            times.append(begin.elapsed_time(end))
        found = torch.empty(len(some), dtype=torch.bool, device="cuda")
        table.find(take(some), None, take(found))
        require(bool(found.all()) and len(table) == len(torch.unique(some)), name)
        rate = len(some) / statistics.median(times[1:]) / 1e6
        rows.append([f"bulk build, sized, {name}", f"{len(some)}", "", f"{rate:.2f}", ""])
    return rows


def other_rows(count: int, repeat: int) -> list[list[str]]:
    """Return rows of replaced values, erasures, and of a sorted array."""
    rows = []
    table = Table.of(count, LOADS[0])
    ways: list[tuple[str, Callable[[], Any]]] = [
        ("insert, all keys present", lambda: table.insert(0, count)),
        ("upsert by sum, all keys present", lambda: table.map.upsert(take(table.keys), take(table.values), "sum")),
    ]
    ordered, _ = torch.sort(table.keys)
    ways += [
        ("torch.sort of keys and values", lambda: torch.sort(table.keys)),
        ("torch.searchsorted, present", lambda: torch.searchsorted(ordered, table.keys)),
    ]
    for name, work in ways:
        rows.append([name, f"{count}", "", f"{count / call_ms(work, repeat) / 1e6:.2f}", ""])
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    erased = table.map.erase(take(table.keys)).owner
    end.record()
    end.synchronize()
    require(bool(erased.all()) and len(table.map) == 0, "erase")
    rows.append(["erase, all keys present", f"{count}", "", f"{count / begin.elapsed_time(end) / 1e6:.2f}", ""])
    return rows


def mixed_rows(count: int, repeat: int) -> list[list[str]]:
    """Return rows of finds, insertions and erasures in one batch, in any order. Half of the keys are those of the map.

    The calls are made one after another, and then with a pause before each: the host needs more time after one.
    """
    keys, rows = keys_of(0, 2 * count), []
    for percent in (20, 40):
        table = headrace.HashMap("int32", "int32", capacity=count + 8 * BATCH, context=Context(device="cuda"))
        table.insert(keys[:count], keys[:count])
        present = torch.arange(2 * count, device="cuda") < count
        for name, pause in (("", 0.0), (", after a pause of 20 ms", 0.02)):
            batches = [mixed_batch(2 * count, percent) for _ in range(repeat + 3)]
            given = [(kinds, keys[places]) for places, kinds in batches]
            times, results = [], []
            for kinds, some in given:
                begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                torch.cuda.synchronize()
                time.sleep(pause)
                begin.record()
                results.append(table.apply(kinds, some, some, order="any").found)
                end.record()
                end.synchronize()
                times.append(begin.elapsed_time(end))
            for (places, kinds), found in zip(batches, results, strict=True):
                before = present[places]
                require(torch.equal(found, before), "mixed operations")
                present[places] = (before | (kinds == 1)) & (kinds != 2)
            rate = BATCH / statistics.median(times[3:]) / 1e6  # the first ones record their launches
            rows.append([f"mixed in batches of 2^22, {percent} % updates{name}", f"{count}", "", f"{rate:.2f}", ""])
        require(torch.equal(table.contains(keys), present), "keys after mixed operations")
    return rows


def mixed_batch(keys: int, percent: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return distinct numbers of keys, and an operation for each: a part of them changes."""
    drawn = torch.randint(0, 200, (BATCH,), device="cuda")
    kinds = torch.where(drawn < 2 * percent, drawn % 2 + 1, 0).to(torch.uint8)
    return torch.randperm(keys, device="cuda")[:BATCH], kinds


def multimap_rows(count: int, repeat: int) -> list[list[str]]:
    """Return rows of a multimap with 4 values for a key."""
    keys, values = keys_of(0, count // 4).repeat(4), torch.arange(count, dtype=torch.int32, device="cuda")
    context = Context(device="cuda")
    times = []
    for _ in range(repeat):
        table = headrace.HashMultiMap("int32", "int32", capacity=count, context=context)
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        begin.record()
        table.insert(keys, values)
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    some = keys[: count // 16]
    found = table.find_all(some).values
    expected = torch.sort(torch.stack([torch.arange(len(some), device="cuda") + i * (count // 4) for i in range(4)], 1), 1)[0]
    require(len(table) == count and torch.equal(found.long(), expected.flatten()), "find_all")
    return [
        ["multimap, insert, 4 values a key", f"{count}", "", f"{count / statistics.median(times) / 1e6:.2f}", ""],
        ["multimap, count", f"{count}", "", f"{count / call_ms(lambda: table.count(keys), repeat) / 1e6:.2f}", ""],
        ["multimap, find_all", f"{len(some)}", "", f"{len(some) / call_ms(lambda: table.find_all(some), repeat) / 1e6:.2f}", ""],
    ]


def call_rows() -> list[list[str]]:
    """Return microseconds of calls of 1,000 keys on a large map, after as many calls that are not counted."""
    table = Table.of(1 << 24, LOADS[0])
    keys, values = table.keys[:1000].clone(), table.values[:1000].clone()
    named = headrace.HashMap("int32", "int32", context=Context(device="cuda"))
    named.insert(table.keys, table.values)
    other, absent = values + 1, keys_of(1 << 24, 1000)
    kinds = (torch.arange(1000, device="cuda") % 5 == 0).to(torch.uint8)  # a fifth are insertions, others finds
    ways: list[tuple[str, Callable[[], Any]]] = [
        ("find", lambda: named.find(keys)),
        ("contains", lambda: named.contains(keys)),
        ("insert", lambda: named.insert(keys, values)),
        ("insert, other values", lambda: (named.insert(keys, values), named.insert(keys, other))),
        ("upsert by first", lambda: named.upsert(keys, values, reduce="first")),
        ("replace", lambda: named.replace(keys, other)),
        ("erase, absent", lambda: named.erase(absent)),
        ("apply, any order", lambda: named.apply(kinds, keys, values, order="any")),
    ]
    rows = []
    for name, work in ways:
        call_ms(work, 201)  # the first calls of a process are slower
        us = call_ms(work, 201) * 1e3 / (2 if "other" in name else 1)
        rows.append([f"{name}: call of 1,000 keys, us", "1000", "", f"{us:.0f}", ""])
    return rows


def require(condition: bool, name: str) -> None:
    """Raise an error if a check failed."""
    if not condition:
        raise HeadraceError(f"wrong answer: {name}")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", type=int, default=26, help="logarithm of the number of keys")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rate, page = copy_rate(), Page()
    text = f"{description()}; a copy reads and writes {rate / 1e9:.0f} GB/s"
    page.head("Slab hash", text, ["keys", "utilisation", "10^9 keys/s", "part of the copy's rate"])
    steps: list[Callable[[], list[list[str]]]] = [
        lambda: insert_rows(1 << options.log, rate, options.repeat),
        lambda: build_rows(1 << options.log, options.repeat),
        lambda: find_rows(1 << 22, rate, options.repeat),
        lambda: find_rows(1 << options.log, rate, options.repeat),
        lambda: other_rows(1 << 25, options.repeat),
        lambda: mixed_rows(1 << options.log, options.repeat),
        lambda: multimap_rows(1 << 24, options.repeat),
        call_rows,
    ]
    for step in steps:
        for row in step():
            page.say(f"| {' | '.join(row)} |")
            page.figure(what=row[0], keys=int(row[1]), used=row[2], rate=float(row[3]), part=row[4])
        torch.cuda.empty_cache()
    page.keep(options.out)


if __name__ == "__main__":
    main()
