"""Adds super blocks to slab hashes in the fiber harness: no slab moves, and all answers are those of dictionaries."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from headrace import MapOperation, MemoryLimitError
from headrace.arrange.sort.gpu.tuning import HARNESS_TUNING
from headrace.index.hash_map.gpu.slab_hash import SlabHash
from headrace.index.hash_map.gpu.slab_kernels import SLAB_BYTES
from headrace.index.hash_map.gpu.tuning import SlabTuning
from headrace.testing.fibers.launcher import FiberLauncher
from tests.index.hash_map.hash_map_cases import MULTI_NAMES, NAMES, MapOracle, MultiMapOracle, numbers_of
from tests.index.hash_map.multi_map_cases import TYPES, FiberMultiMap
from tests.index.hash_map.slab_hash_cases import SHORT, WIDTHS, FiberMap, LimitedLauncher

pytestmark = pytest.mark.fibers

_TUNING = replace(SHORT, max_load=1e9, dense_load=0)
"""A table of few buckets without memory blocks, which gets super blocks only."""
_MULTI_TUNING = SlabTuning(threads=64, list_slabs=0, max_load=1e9, dense_load=0, max_walk=1 << 20, sort=HARNESS_TUNING)
_SUPER_SLABS = 1024


def _occupy(launcher: FiberLauncher, table: SlabHash) -> None:
    """Mark all slabs of the super blocks but the last two as used, so that slabs run out soon."""
    for block in table.memory.supers:
        content = launcher.fetch(block).copy()
        content[_SUPER_SLABS * SLAB_BYTES : -1] = 0xFF
        content[-1] |= 0x3F
        launcher.put(content, block)


@pytest.mark.long_except("forward-0-4-[48]", "random-1-*")
@pytest.mark.parametrize("widths", WIDTHS, ids="{0[0]}-{0[1]}".format)
@pytest.mark.parametrize(("order", "seed"), [("forward", 0), ("random", 1)])
def test_histories(widths: tuple[int, int], order: str, seed: int) -> None:
    random, launcher = np.random.default_rng(seed), FiberLauncher(order, seed)
    table, oracle = FiberMap.of(widths, launcher, _TUNING), MapOracle()
    first = table.map.memory.slabs
    for count in (40, 130, 90, 150):
        keys, values = numbers_of(table.key, random, count, span=400), numbers_of(table.value or "uint32", random, count)
        if not table.value:
            values[:] = 0
        assert table.upsert(keys, values if table.value else None, "last") == oracle.upsert(keys, values, "last")
        kinds = random.integers(0, len(NAMES) if table.value else 3, count).astype(np.uint8)
        names = [NAMES[kind] for kind in kinds]
        assert table.apply(kinds, keys, values, "sequential") == oracle.apply(names, keys, values)
        assert table.items() == oracle.items(values.dtype.name)
        _occupy(launcher, table.map)
    assert table.map.memory.slabs is first
    assert len(table.map.memory.supers) > 1
    assert table.map.memory.blocks == len(table.map.memory.supers)
    assert table.map.nbytes == sum(part.nbytes for part in table.map.memory.parts)
    copied = replace(table, map=table.map.copy(launcher))
    table.map.compact(launcher)
    assert not table.map.memory.supers
    assert table.items() == copied.items() == oracle.items(values.dtype.name)


def test_side_by_side_operations_use_super_blocks() -> None:
    random, launcher = np.random.default_rng(5), FiberLauncher("random", 5)
    table = FiberMap.of((4, 4), launcher, _TUNING)
    keys = random.permutation(400).astype("i4")
    table.upsert(keys[:100], keys[:100].astype("u4"), "last")
    table.upsert(keys[100:250], keys[100:250].astype("u4"), "last")
    assert table.map.memory.supers
    kinds = np.repeat(np.array([MapOperation.ERASE, MapOperation.INSERT], np.uint8), [100, 300])
    held, found = table.apply(kinds, keys, keys.astype("u4"), "any")
    assert found == [True] * 250 + [False] * 150
    assert held == [*keys[:250].tolist(), *[0] * 150]
    assert table.items() == sorted((key, key) for key in keys[100:].tolist())


@pytest.mark.parametrize("widths", TYPES, ids="{0[0]}-{0[1]}".format)
def test_multimaps(widths: tuple[int, int]) -> None:
    random, launcher = np.random.default_rng(3), FiberLauncher("random", 3)
    table, oracle = FiberMultiMap(widths, launcher, _MULTI_TUNING), MultiMapOracle()
    first = table.map.memory.slabs
    for count in (40, 130, 90, 150):
        keys, values = numbers_of(table.key, random, count, span=9), numbers_of(table.value, random, count)
        names = random.choice(MULTI_NAMES, count, p=[0.1, 0.75, 0.1, 0.04, 0.01])
        kinds = np.array([MapOperation[name.upper()] for name in names], np.uint8)
        assert table.apply(kinds, keys, values) == oracle.apply(names.tolist(), keys, values)
        assert table.items() == Counter(oracle.pairs(table.value))
        _occupy(launcher, table.map)
    assert table.map.memory.slabs is first
    assert len(table.map.memory.supers) > 1


def test_a_refused_super_block_changes_nothing() -> None:
    launcher = LimitedLauncher("random", 4)
    table, keys = FiberMap.of((4, 4), launcher, _TUNING), np.arange(60, dtype="i4")
    table.upsert(keys[:12], keys[:12].astype("u4"), "last")
    before = table.items()
    launcher.max_bytes = _SUPER_SLABS * SLAB_BYTES
    with pytest.raises(MemoryLimitError):
        table.upsert(keys, keys.astype("u4"), "last")
    assert table.items() == before
    assert table.map.size == 12
    launcher.max_bytes = 1 << 30
    assert table.upsert(keys, keys.astype("u4"), "last") == 48


def test_a_table_that_must_not_be_rebuilt_gets_a_super_block() -> None:
    """Its memory block is in use, and most of its slots are empty. So a rebuild would be tried first."""
    launcher = LimitedLauncher("random", 4)
    table, keys = FiberMap.of((4, 4), launcher, replace(SHORT, max_load=1e9, list_slabs=0.125)), np.arange(60, dtype="i4")
    launcher.put(np.full(33, 0xFFFFFFFF, np.uint32), table.map.memory.bitmaps)
    launcher.max_bytes = (_SUPER_SLABS + 1) * SLAB_BYTES
    first = table.map.memory.slabs
    assert table.upsert(keys, keys.astype("u4"), "last") == 60
    assert table.items() == [(key, key) for key in range(60)]
    assert table.map.memory.slabs is first
    assert len(table.map.memory.supers) == 1
