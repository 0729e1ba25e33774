"""Adds super blocks to slab hashes in the fiber harness: no slab moves, and all answers are those of dictionaries."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from headrace import MapOperation, MemoryLimitError
from headrace.arrange.sort.gpu.tuning import HARNESS_TUNING
from headrace.index.hash_map.gpu.slab_kernels import SLAB_BYTES
from headrace.index.hash_map.gpu.tables.slab_hash import SlabHash
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


@pytest.mark.long_except("forward-0-4-8", "random-1-4-4", "random-1-8-0")
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
    assert len(table.map.memory.supers) < 2
    assert table.items() == copied.items() == oracle.items(values.dtype.name)


@pytest.mark.parametrize("narrow", [0, 30])
@pytest.mark.parametrize("widths", [(4, 4), (8, 0), (4, 8)], ids="{0[0]}-{0[1]}".format)
def test_wide_numbers_of_slots(widths: tuple[int, int], narrow: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From 30 slabs on, numbers of slots have 8 bytes, as those of tables of more than 2^26 slabs do."""
    monkeypatch.setattr("headrace.index.hash_map.gpu.slab_kernels.NARROW_SLABS", narrow)
    random, launcher = np.random.default_rng(6), FiberLauncher("random", 6)
    table, oracle = FiberMap.of(widths, launcher, SHORT), MapOracle()
    for step, count in enumerate((40, 130, 90, 250, 300)):
        keys, values = numbers_of(table.key, random, count, span=400), numbers_of(table.value or "uint32", random, count)
        if not table.value:
            values[:] = 0
        reduce = ("last", "first", "sum")[step % 3] if table.value else "last"
        given = values if table.value else None
        assert table.upsert(keys, given, reduce) == oracle.upsert(keys, values, reduce)
        kinds = random.integers(0, len(NAMES) if table.value else 3, count).astype(np.uint8)
        names = [NAMES[kind] for kind in kinds]
        assert table.apply(kinds, keys, values, "sequential") == oracle.apply(names, keys, values)
        found = launcher.allocate(count)
        table.map.erase(launcher, table.rows(keys[::3]), found)
        assert table.flags(found)[: len(keys[::3])] == oracle.erase(keys[::3])
        assert table.items() == oracle.items(values.dtype.name)


def test_wide_numbers_of_slots_in_multimaps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headrace.index.hash_map.gpu.slab_kernels.NARROW_SLABS", 30)
    random, launcher = np.random.default_rng(7), FiberLauncher("random", 7)
    table, oracle = FiberMultiMap((4, 8), launcher, replace(_MULTI_TUNING, max_load=0.8)), MultiMapOracle()
    for count in (40, 130, 90, 150):
        keys, values = numbers_of(table.key, random, count, span=90), numbers_of(table.value, random, count)
        names = random.choice(MULTI_NAMES, count, p=[0.1, 0.6, 0.2, 0.05, 0.05])
        kinds = np.array([MapOperation[name.upper()] for name in names], np.uint8)
        assert table.apply(kinds, keys, values) == oracle.apply(names.tolist(), keys, values)
        table.insert(keys, values)
        oracle.insert(keys, values)
        assert table.erase_all(keys[::5]) == oracle.erase_all(keys[::5])
        assert table.items() == Counter(oracle.pairs(table.value))


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
