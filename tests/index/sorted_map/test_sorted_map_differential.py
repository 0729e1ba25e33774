"""Compares sorted maps with dictionaries of Python over random histories, for every type, size and number of levels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from headrace import Context, SortedMap
from headrace.index.sorted_map.cpu.engine import CpuEngine
from tests.index.sorted_map.map_cases import KEY_TYPES, Model, filled, hard_keys, random_batch
from tests.tiers import seeds


@pytest.mark.parametrize("dtype", ["u4", "i8"])
def test_ranges_of_any_width(dtype: str) -> None:
    """Ranges of several levels are walked through, or merged in a cache, or longer than that."""
    found, random = SortedMap(dtype, "i8", cleanup_at=None), np.random.default_rng(3)
    items = np.full(60_000, -1)
    for size in (30_000, 9_000, 2_000, 300):
        keys, values = random.integers(0, len(items), size), random.integers(0, 1 << 40, size)
        deletes = random.integers(0, 4, size) == 0
        found.update(keys.astype(dtype), values, deletes)
        found.snapshot()  # so that the next batch is a level of its own
        items[keys] = values
        items[keys[deletes]] = -1
    assert found.level_sizes == (300, 2_000, 9_000, 30_000)
    snapshot, before = found.snapshot(), np.concatenate([[0], np.cumsum(items >= 0)])
    for width in (1, 20, 60, 200, 2_000, 11_000, 30_000, 59_000):
        lows = random.integers(0, len(items) - width, 7)
        highs = lows + width - 1
        given = lows.astype(dtype), highs.astype(dtype)
        expected = before[highs + 1] - before[lows]
        assert snapshot.count(*given).tolist() == expected.tolist()
        parts = [low + np.flatnonzero(items[low : low + width] >= 0) for low in lows]
        keys = np.concatenate(parts)
        result = snapshot.range(*given)
        assert result.offsets.tolist() == [0, *np.cumsum(expected).tolist()]
        assert (result.keys == keys).all()
        assert (result.values == items[keys]).all()


@pytest.mark.parametrize("seed", seeds(8))
def test_random_histories(seed: int) -> None:
    random = np.random.default_rng(seed)
    dtype = KEY_TYPES[seed % len(KEY_TYPES)]
    found = SortedMap(dtype, "i8", cleanup_at=(None, 2.0, 4.0)[seed % 3], context=Context(threads=seed % 2 + 1))
    model = Model()
    for step in range(30):
        size = int(random.choice([1, 2, 17, 400]))
        keys, values, deletes = random_batch(dtype, size, 300, 100 * seed + step)
        if step % 5 == 4:
            found.erase(keys)
            model.update(keys, values, np.ones(size, bool))
        elif step % 5 == 3:
            found.insert(keys, values)
            model.update(keys, values, np.zeros(size, bool))
        else:
            found.update(keys, values, deletes)
            model.update(keys, values, deletes)
        if random.integers(0, 8) == 0:
            found.cleanup()
        model.check(found, hard_keys(dtype, 24, 300, step))
    model.check_items(found)


@pytest.mark.long_except("4-u4-f8", "1-i8-None", "4-i8-u4")
@pytest.mark.parametrize("value_type", [None, "u4", "f8"])
@pytest.mark.parametrize("key_type", ["u4", "i8"])
@pytest.mark.parametrize("threads", [1, 4])
def test_large_levels(key_type: str, value_type: str | None, threads: int) -> None:
    """Levels of several pieces, with runs of equal keys across the edges of pieces."""
    random = np.random.default_rng(7)
    found = SortedMap(key_type, value_type, cleanup_at=None, context=Context(threads=threads))
    expected: dict[int, Any] = {}
    for size, spread in ((200_000, 1 << 30), (70_000, 3), (65_536, 1 << 30), (8193, 100_000)):
        keys = random.integers(0, spread, size).astype(key_type)
        values = None if value_type is None else random.integers(1, 1 << 30, size).astype(value_type)
        deletes = random.integers(0, 5, size) == 0
        found.update(keys, values, deletes)
        found.snapshot()  # so that the next batch is a level of its own
        expected.update(zip(keys.tolist(), [0] * size if values is None else values.tolist(), strict=True))
        for key in keys[deletes].tolist():
            expected.pop(key, None)
    ascending = np.array(sorted(expected), key_type)
    queries = np.concatenate([ascending[::7], random.integers(0, 1 << 30, 20_000).astype(key_type)])
    is_there = np.isin(queries, ascending)
    for _ in range(2):
        assert (found.find(queries).mask == is_there).all()
        if value_type is not None:
            values = found.find(queries).values
            assert values.tolist() == [expected.get(key, 0) for key in queries.tolist()]
        lows, highs = queries[:100], queries[:100] + np.array(1 << 20, key_type)
        begins, ends = np.searchsorted(ascending, lows), np.searchsorted(ascending, highs, "right")
        assert (found.count(lows, highs) == ends - begins).all()
        parts = [ascending[begin:end] for begin, end in zip(begins, ends, strict=True)]
        assert (found.range(lows, highs).keys == np.concatenate(parts)).all()
        found.cleanup()
    assert found.level_sizes == (len(expected),)
    keys, values = found.items()
    assert (keys == ascending).all()
    assert values is None or values.tolist() == [expected[key] for key in ascending.tolist()]


@pytest.mark.parametrize("dtype", ["u4", "f8"])
def test_sizes_around_a_piece(dtype: str) -> None:
    for size in (1, 2, 8191, 8192, 8193, 65_537):
        keys = np.arange(size).astype(dtype)
        found = SortedMap(dtype, "u4", cleanup_at=None)
        found.insert(keys[::-1], np.arange(size, dtype="u4")[::-1])
        found.insert(keys[: size // 2 + 1], np.full(size // 2 + 1, 7, "u4"))
        found.insert(keys[-1:], [9])
        expected = np.arange(size)
        expected[: size // 2 + 1] = 7
        expected[-1] = 9
        assert (found.find(keys).values == expected).all()
        items = found.items()
        assert (items.keys == keys).all()
        assert (items.values == expected).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_searches_of_sorted_keys(threads: int) -> None:
    """Ascending groups begin where the group before ended: dense and sparse ones, equal keys, falls, and keys beyond the ends."""
    random, end = np.random.default_rng(8), 1 << 20
    found = SortedMap("u4", "u4", cleanup_at=None, context=Context(threads=threads))
    expected = np.zeros(end, "u4")
    for first, spread, size in ((0, end, 60_000), (300_000, 200_000, 20_000), (900_000, 100_000, 5_000), (10, 100, 50)):
        keys, values = random.integers(first, first + spread, size).astype("u4"), random.integers(1, 1 << 30, size).astype("u4")
        deletes = random.integers(0, 5, size) == 0
        found.update(keys, values, deletes)
        found.snapshot()  # so that the next batch is a level of its own
        expected[keys] = values
        expected[keys[deletes]] = 0
    assert len(found.level_sizes) == 4
    ascending = [np.arange(begin, end, step) for step in (1, 3, 17, 400, 50_000) for begin in (0, 7)]
    drawn = np.sort(random.integers(0, end, 1000))
    queries = [*ascending, np.repeat(drawn, 5), np.concatenate([drawn, drawn[500:], drawn[::-1]]), drawn[:1], drawn[:17]]
    for wanted in queries:
        values, mask = found.find(wanted.astype("u4"))
        assert (values == expected[wanted]).all()
        assert (mask == (expected[wanted] > 0)).all()
    beyond = np.sort(np.concatenate([np.full(40, 0), np.full(40, (1 << 32) - 1), np.full(40, end)])).astype("u4")
    assert found.find(beyond).mask.tolist() == [bool(expected[0])] * 40 + [False] * 80


@pytest.mark.parametrize("dtype", ["u4", "f8"])
def test_merges_for_searches_change_no_answer(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A merge of some or all levels, with tombstones, after enough searches of keys, neighbours or ranges."""
    monkeypatch.setattr(CpuEngine, "merged_per_search", 1.0)
    batches = [random_batch(dtype, size, 100, size) for size in (400, 190, 90, 40, 18, 8, 3, 1)]
    model, kept = Model(), filled(dtype, batches, cleanup_at=None)
    for batch in batches:
        model.update(*batch)
    seen = set()
    for count in (1, 8, 20, 40, 400):
        found = filled(dtype, batches, cleanup_at=1e9)
        assert found.level_sizes == kept.level_sizes
        queries = hard_keys(dtype, count + 1, 100, count)
        before = found.snapshot()
        found.find(queries)
        seen.add(len(found.level_sizes))
        model.check(found, queries)
        model.check(before, queries)
        found.find(np.tile(queries, 200))
        assert len(found.level_sizes) == 1
        model.check(found, queries)
        found.update(*batches[-1])
        assert len(found.level_sizes) == 2  # an update ends the count of searches
        found.find(queries[:1])
        assert len(found.level_sizes) == 2
        kept.snapshot().find(np.tile(queries, 200))
    assert len(kept.level_sizes) == len(batches)
    assert {1, len(batches)} < seen
