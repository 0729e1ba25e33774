"""Replays batches of mixed operations on the slab hash with several values for a key, in the fiber harness."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from headrace import MapOperation, MemoryLimitError
from headrace.arrange.sort.gpu.tuning import HARNESS_TUNING
from headrace.index.hash_map.gpu.tuning import SlabTuning
from headrace.testing.fibers.launcher import FiberLauncher
from tests.index.hash_map.hash_map_cases import MULTI_NAMES, MultiMapOracle, numbers_of
from tests.index.hash_map.multi_map_cases import TYPES, FiberMultiMap
from tests.index.hash_map.slab_hash_cases import LimitedLauncher

pytestmark = pytest.mark.fibers

_TUNING = SlabTuning(threads=64, list_slabs=1.0, max_walk=1 << 20, sort=HARNESS_TUNING)
_SHORT = replace(_TUNING, list_slabs=0)
"""A table whose lists have one slab, so that a key may have few values."""


def _batch(table: FiberMultiMap, random: np.random.Generator, count: int, span: int = 20) -> tuple[Any, ...]:
    """Return operations, keys and values."""
    names = random.choice(MULTI_NAMES, count, p=[0.2, 0.4, 0.2, 0.1, 0.1])
    return names.tolist(), numbers_of(table.key, random, count, span), numbers_of(table.value, random, count)


def _batch_of_pairs(table: FiberMultiMap, random: np.random.Generator, count: int) -> tuple[Any, ...]:
    """Return a batch in which each key has two operations."""
    names, _, values = _batch(table, random, count)
    return names, random.permutation(np.arange(count) // 2).astype(table.key), values


def _run(table: FiberMultiMap, batch: tuple[Any, ...]) -> tuple[list[int], list[int]]:
    names, keys, values = batch
    return table.apply(np.array([MapOperation[name.upper()] for name in names], np.uint8), keys, values)


def _check(table: FiberMultiMap, oracle: MultiMapOracle, batch: tuple[Any, ...]) -> None:
    assert _run(table, batch) == oracle.apply(*batch)
    assert table.items() == Counter(oracle.pairs(table.value))
    assert table.map.size == sum(map(len, oracle.lists.values()))


@pytest.mark.long_except("random-1-*", "*-4-8")
@pytest.mark.parametrize("widths", TYPES, ids="{0[0]}-{0[1]}".format)
@pytest.mark.parametrize(("order", "seed"), [("forward", 0), ("reverse", 0), ("random", 1), ("random", 2)])
def test_histories(widths: tuple[int, int], order: str, seed: int) -> None:
    random = np.random.default_rng(seed + widths[0])
    table, oracle = FiberMultiMap(widths, FiberLauncher(order, seed), _TUNING), MultiMapOracle()
    for _ in range(6):
        _check(table, oracle, _batch(table, random, int(random.choice([1, 33, 64, 150]))))


@pytest.mark.parametrize("dtype", ["int32", "uint32", "float32"])
def test_the_first_value_by_type(dtype: str) -> None:
    """Values are ordered as those of `find_all`: floats in IEEE's totalOrder."""
    random = np.random.default_rng(3)
    table, oracle = FiberMultiMap((4, 4), FiberLauncher("forward"), _TUNING), MultiMapOracle()
    table.value = dtype
    for _ in range(2):
        _check(table, oracle, _batch(table, random, 150, span=4))


def test_a_table_grows_in_the_middle_of_a_batch() -> None:
    random = np.random.default_rng(6)
    table, oracle = FiberMultiMap((8, 8), FiberLauncher("random", 6), _SHORT), MultiMapOracle()
    for count in (50, 300):
        _check(table, oracle, _batch_of_pairs(table, random, count))


def test_a_full_table_is_rebuilt_for_its_pairs() -> None:
    """Batches erase all values of a key, and insert as many. All slabs but 32 are taken."""
    launcher = FiberLauncher("forward")
    table = FiberMultiMap((4, 4), launcher, SlabTuning(threads=64, list_slabs=1.0, max_load=1e9))
    bitmap = np.full(table.map.memory.bitmaps.nbytes // 4, 0xFFFFFFFF, np.uint32)
    bitmap[[7, -1]] = 0
    launcher.put(bitmap, table.map.memory.bitmaps)
    before, keys, values = table.map.memory, np.zeros(201, "i4"), np.arange(201, dtype="u4")
    operations = np.full(201, MapOperation.INSERT, np.uint8)
    operations[0] = MapOperation.ERASE_ALL
    for step in range(4):
        assert table.apply(operations, keys, values)[1][:3] == [200 * (step > 0), 0, 1]
        assert table.items() == Counter((0, value) for value in range(1, 201))
    assert table.map.memory is not before
    assert table.map.memory.buckets < 64  # as many as 400 pairs need


def test_refused_memory_changes_nothing() -> None:
    """Slabs run out in the middle of a batch that erases lists, and the table must not grow."""
    launcher, random = LimitedLauncher("random", 4), np.random.default_rng(4)
    table, oracle = FiberMultiMap((4, 8), launcher, _SHORT), MultiMapOracle()
    _check(table, oracle, _batch_of_pairs(table, random, 150))
    before = table.items()
    launcher.max_bytes = table.map.nbytes
    batch = _batch_of_pairs(table, random, 600)
    with pytest.raises(MemoryLimitError):
        _run(table, batch)
    assert table.items() == before
    assert table.map.size == before.total()
    launcher.max_bytes = 1 << 30
    _check(table, oracle, batch)


@pytest.mark.long_except("random-1-*")
@pytest.mark.parametrize("widths", TYPES, ids="{0[0]}-{0[1]}".format)
@pytest.mark.parametrize(("order", "seed"), [("forward", 0), ("reverse", 0), ("random", 1)])
def test_single_values_are_erased(widths: tuple[int, int], order: str, seed: int) -> None:
    """Keys have up to 100 values, and of some more values are erased than they have."""
    random = np.random.default_rng(seed)
    table, oracle = FiberMultiMap(widths, FiberLauncher(order, seed), _TUNING), MultiMapOracle()
    for count in (300, 150):
        keys, values = numbers_of(table.key, random, count, span=4), numbers_of(table.value, random, count)
        table.insert(keys, values)
        oracle.insert(keys, values)
        asked = numbers_of(table.key, random, count // 2, span=6)
        assert table.erase(asked) == oracle.erase(asked)
        assert table.items() == Counter(oracle.pairs(table.value))
        assert table.map.size == sum(map(len, oracle.lists.values()))
