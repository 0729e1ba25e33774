"""Replays random histories on slab hashes that grow in steps, in the fiber harness, and on Python dictionaries."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.index.hash_map.hash_map_cases import MapOracle, numbers_of
from tests.index.hash_map.slab_hash_cases import SMALL, WIDTHS, FiberMap, ListingLauncher

pytestmark = pytest.mark.fibers

STEPWISE = replace(SMALL, early_load=0.6, step_pairs=1, build=replace(SMALL.build, min_rows=1 << 20))
"""A table of 8 buckets or more grows in steps, each of about as many pairs as the batch before has rows."""


def grown(widths: tuple[int, int], launcher: ListingLauncher, random: np.random.Generator) -> tuple[FiberMap, MapOracle]:
    """Return a map of 16 buckets and a dictionary with pairs, just before the map grows."""
    table, oracle = FiberMap.of(widths, launcher, STEPWISE, seed=int(random.integers(1 << 40))), MapOracle()
    keys = numbers_of(table.key, random, 60)
    while table.map.memory.buckets < 16 or table.map._growth is None:
        upsert(table, oracle, numbers_of(table.key, random, 20) if random.random() < 0.9 else keys[:20], random)
    return table, oracle


def upsert(table: FiberMap, oracle: MapOracle, keys: Any, random: np.random.Generator, reduce: str = "last") -> None:
    """Insert keys into both."""
    values = numbers_of(table.value, random, len(keys)) if table.value else np.zeros(len(keys), "u4")
    expected = oracle.upsert(keys, values, reduce if table.value else "first")
    assert table.upsert(keys, values if table.value else None, reduce if table.value else "first") == expected


def check(table: FiberMap, oracle: MapOracle, keys: Any) -> None:
    """Compare searches and all pairs."""
    values, found = table.find(keys)
    expected = oracle.find(keys, table.value or "uint32")
    assert (values or expected[0], found) == expected
    assert table.map.size == len(oracle.pairs)
    assert table.items() == oracle.items(table.value or "uint32")
    assert table.map.size == len(oracle.pairs)


def wide_numbers(kind: str, random: np.random.Generator, count: int) -> Any:
    """Return keys of a range with few repetitions, and the key that marks empty slots."""
    keys = random.integers(0, 1500, count).astype("u8")
    keys[random.random(count) < 0.02] = np.iinfo("u8").max
    return keys.astype(f"u{np.dtype(kind).itemsize}").view(kind)


@pytest.mark.parametrize("widths", WIDTHS, ids="{0[0]}-{0[1]}".format)
def test_histories_through_steps(widths: tuple[int, int]) -> None:
    """Insertions, replacements and erasures run between steps, until the table has grown several times."""
    random, launcher = np.random.default_rng(sum(widths)), ListingLauncher("random", 3)
    table, oracle = FiberMap.of(widths, launcher, STEPWISE, seed=5), MapOracle()
    growths, before = 0, table.map.memory
    for step in range(70):
        keys = wide_numbers(table.key, random, int(random.choice([3, 20, 40, 100])))
        match random.integers(0, 6):
            case 0:
                found = launcher.allocate(len(keys))
                table.map.erase(launcher, table.rows(keys), found)
                assert table.flags(found) == oracle.erase(keys)
            case 1 if table.value:
                values, found = numbers_of(table.value, random, len(keys)), launcher.allocate(len(keys))
                table.map.replace(launcher, table.rows(keys, values), found)
                assert table.flags(found) == oracle.replace(keys, values)
            case other:
                upsert(table, oracle, keys, random, ["first", "sum", "min", "last"][other - 2])
        growths += table.map.memory is not before
        before = table.map.memory
        if step % 7 == 0:
            check(table, oracle, keys)
    check(table, oracle, keys)
    assert growths >= 3
    assert launcher.names.count("copy_pairs") > 10
    assert launcher.names.count("locate_copies") > 1
    assert launcher.names.count("move_lists") > growths
