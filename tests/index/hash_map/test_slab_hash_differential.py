"""Replays random histories on the slab hash in the fiber harness and on Python dictionaries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from headrace import MemoryLimitError
from headrace.index.hash_map.gpu.mixed_slab_hash import MixedSlabHash
from headrace.index.hash_map.gpu.tuning import SlabTuning
from headrace.testing.fibers.launcher import FiberLauncher
from tests.index.hash_map.hash_map_cases import MapOracle, numbers_of
from tests.index.hash_map.slab_hash_cases import WIDTHS, FiberMap, LimitedLauncher

pytestmark = pytest.mark.fibers

BATCHES = (1, 7, 31, 32, 33, 64, 200)


def _operate(table: FiberMap, oracle: MapOracle, keys: NDArray[Any], random: np.random.Generator) -> None:
    values = numbers_of(table.value or "uint32", random, len(keys))
    if not table.value:
        values[:] = 0
    reductions = ["last", "first", "sum", "min", "max"] if table.value else ["first"]
    match random.integers(0, 5):
        case 0 | 1 | 2:
            reduce = str(random.choice(reductions))
            assert table.upsert(keys, values if table.value else None, reduce) == oracle.upsert(keys, values, reduce)
        case 3 if table.value:
            found = table.launcher.allocate(len(keys))
            table.map.replace(table.launcher, table.rows(keys, values), found)
            assert table.flags(found) == oracle.replace(keys, values)
        case _:
            found = table.launcher.allocate(len(keys))
            table.map.erase(table.launcher, table.rows(keys), found)
            assert table.flags(found) == oracle.erase(keys)


@pytest.mark.long_except("random-1-*", "*-4-4")
@pytest.mark.parametrize("widths", WIDTHS, ids="{0[0]}-{0[1]}".format)
@pytest.mark.parametrize(("order", "seed"), [("forward", 0), ("reverse", 0), ("random", 1), ("random", 2)])
def test_histories(widths: tuple[int, int], order: str, seed: int) -> None:
    random = np.random.default_rng(seed + widths[0])
    table, oracle = FiberMap.of(widths, FiberLauncher(order, seed)), MapOracle()
    for step in range(12):
        keys = numbers_of(table.key, random, int(random.choice(BATCHES)))
        _operate(table, oracle, keys, random)
        values, found = table.find(keys)
        expected = oracle.find(keys, table.value or "uint32")
        assert (values or expected[0], found) == expected
        if step % 5 == 4:
            table.map.compact(table.launcher)
    assert table.map.size == len(oracle.pairs)
    assert table.items() == oracle.items(table.value or "uint32")


@pytest.mark.parametrize("seed", [0, 12345678901234567890])
def test_a_copy_does_not_change(seed: int) -> None:
    launcher = FiberLauncher("random", 3)
    table = FiberMap(
        launcher, MixedSlabHash(launcher, (8, 4), tuning=SlabTuning(threads=64, max_load=1e9), seed=seed), "int64", "int32"
    )
    keys = np.arange(-40, 40)
    table.upsert(keys, keys.astype("i4"), "last")
    copied = FiberMap(launcher, table.map.copy(launcher), "int64", "int32")
    before = table.items()
    table.upsert(keys * 3, keys.astype("i4"), "sum")
    assert copied.items() == before != table.items()
    assert copied.find(keys)[1] == [True] * 80


@pytest.mark.long_except("1-*")
@pytest.mark.parametrize("widths", WIDTHS, ids="{0[0]}-{0[1]}".format)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_lists_of_many_slabs(widths: tuple[int, int], seed: int) -> None:
    """All keys have one bucket, so that warps of several blocks append slabs to the same list."""
    launcher = FiberLauncher("random", seed, resident_blocks=8)
    table, random = FiberMap.of(widths, launcher, SlabTuning(threads=64, max_load=1e9)), np.random.default_rng(seed)
    keys = random.permutation(np.repeat(np.arange(300), 2)).astype(table.key)
    values = np.arange(600).astype(table.value or "u4")
    oracle = MapOracle()
    assert table.upsert(keys, values if table.value else None, "last" if table.value else "first") == 300
    oracle.upsert(keys, values if table.value else values * 0, "last")
    assert table.items() == oracle.items(table.value or "uint32")
    slabs, longest = table.map.chains(launcher)
    slots = 120 // sum(widths)
    assert slabs - 1 == longest  # the second bucket is that of the escaped key
    assert -(-300 // slots) <= longest <= 300 // slots + 2
    assert table.map.slabs_in_use(launcher) == slabs  # races lose no slab


@pytest.mark.long_except("4-4", "8-0")
@pytest.mark.parametrize("widths", WIDTHS, ids="{0[0]}-{0[1]}".format)
def test_refused_memory_changes_nothing(widths: tuple[int, int]) -> None:
    launcher = LimitedLauncher("random", 4)
    table = FiberMap.of(widths, launcher, SlabTuning(threads=64, list_slabs=0))
    keys = np.arange(700).astype(table.key)
    values = keys.astype(table.value) if table.value else None
    reduce = "last" if table.value else "first"
    table.upsert(keys[:100], None if values is None else values[:100] * 0, reduce)
    before = table.items()
    launcher.max_bytes = table.map.nbytes
    with pytest.raises(MemoryLimitError):
        table.upsert(keys[50:], None if values is None else values[50:], reduce)
    assert table.items() == before
    assert table.map.size == 100
    launcher.max_bytes = 1 << 30
    assert table.upsert(keys[50:], None if values is None else values[50:], reduce) == 600
    assert table.find(keys)[1] == [True] * 700


def test_a_full_table_grows_although_the_first_attempt_was_refused() -> None:
    """A batch that repeats few keys needs no memory, and is inserted although there is none for the whole batch."""
    launcher = LimitedLauncher("random", 5)
    table = FiberMap.of((4, 4), launcher, SlabTuning(threads=64, list_slabs=0))
    keys = np.arange(1000, dtype="i4") % 5
    launcher.max_bytes = 4500
    assert table.upsert(keys, keys.astype("u4"), "sum") == 5
    assert table.find(np.arange(6, dtype="i4"))[0] == [0, 200, 400, 600, 800, 0]
