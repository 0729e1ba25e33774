"""Replays batches of mixed operations on maps, sets and multimaps, and on Python dictionaries."""

from __future__ import annotations

import numpy as np
import pytest

from headrace import Context, HashMap, HashMultiMap, HashSet, MapOperation, MemoryLimitError
from tests.index.hash_map.hash_map_cases import MULTI_NAMES, NAMES, PAIRS, MapOracle, MultiMapOracle, bits_of, numbers_of


@pytest.mark.covering(default=2)
@pytest.mark.parametrize(("key", "value"), PAIRS)
@pytest.mark.parametrize("threads", [1, 3])
def test_map_histories(key: str, value: str, threads: int) -> None:
    random = np.random.default_rng(threads)
    table, oracle = HashMap(key, value, context=Context(threads=threads)), MapOracle()
    for step in range(30):
        count = int(random.choice([0, 1, 2, 15, 16, 17, 700]))
        keys, values = numbers_of(key, random, count), numbers_of(value, random, count)
        operations = random.choice(NAMES, count).tolist()
        given = operations if step % 2 else np.array([NAMES.index(name) for name in operations], np.uint8)
        found = table.apply(given, keys, values, order=str(random.choice(["sequential", "any"])))
        assert (bits_of(found.values), found.found.tolist()) == oracle.apply(operations, keys, values)
        assert len(table) == len(oracle.pairs)
    items = table.items()
    assert sorted(zip(bits_of(items.keys), bits_of(items.values), strict=True)) == oracle.items(value)


@pytest.mark.parametrize("key", ["int32", "float64"])
def test_set_histories(key: str) -> None:
    random = np.random.default_rng(5)
    table, oracle = HashSet(key), MapOracle()
    for _ in range(30):
        keys = numbers_of(key, random, int(random.choice([0, 1, 40, 700])))
        operations = random.choice(["find", "insert", "erase"], len(keys)).tolist()
        assert table.apply(operations, keys).tolist() == oracle.apply(operations, keys, np.zeros(len(keys)))[1]
    assert sorted(bits_of(table.items())) == sorted(oracle.pairs)


def test_threads_give_one_result() -> None:
    """A batch that is distributed over threads keeps the order of a key's operations; sums of floats show it."""
    random = np.random.default_rng(3)
    keys, values = random.integers(0, 5000, 50_000), random.standard_normal(50_000)
    kinds = random.integers(0, len(NAMES), 50_000).astype(np.uint8)
    results = []
    for threads in (1, 2, 7):
        table = HashMap("int64", "float64", context=Context(threads=threads))
        found = table.apply(kinds, keys, values)
        results.append((found.values.tobytes(), found.found.tobytes(), *(part.tobytes() for part in table.items())))
    assert results[0] == results[1] == results[2]
    expected = MapOracle().apply([NAMES[kind] for kind in kinds], keys, values)
    assert (bits_of(np.frombuffer(results[0][0])), np.frombuffer(results[0][1], bool).tolist()) == expected


@pytest.mark.parametrize("threads", [1, 3])
def test_refused_memory_changes_nothing(threads: int) -> None:
    random = np.random.default_rng(1)
    table = HashMap("int64", "int64", context=Context(threads=threads, memory_limit=400_000))
    table.insert(np.arange(5000), np.arange(5000) * 3)
    before = [part.tobytes() for part in table.items()]
    keys = random.integers(0, 40_000, 40_000)
    with pytest.raises(MemoryLimitError, match="memory_limit = 400000"):
        table.apply(random.integers(0, len(NAMES), 40_000).astype(np.uint8), keys, keys)
    assert [part.tobytes() for part in table.items()] == before
    assert len(table) == 5000


@pytest.mark.covering(default=2)
@pytest.mark.parametrize(("key", "value"), PAIRS)
@pytest.mark.parametrize("threads", [1, 3])
def test_multimap_histories(key: str, value: str, threads: int) -> None:
    random = np.random.default_rng(threads)
    table, oracle = HashMultiMap(key, value, context=Context(threads=threads)), MultiMapOracle()
    for step in range(25):
        count = int(random.choice([0, 1, 2, 15, 16, 17, 700]))
        keys, values = numbers_of(key, random, count, span=60), numbers_of(value, random, count)
        operations = random.choice(MULTI_NAMES, count, p=random.dirichlet(np.ones(len(MULTI_NAMES)))).tolist()
        given = operations if step % 2 else np.array([MapOperation[name.upper()] for name in operations], np.uint8)
        found = table.apply(given, keys, values, order=str(random.choice(["sequential", "any"])))
        assert (bits_of(found.values), found.counts.tolist()) == oracle.apply(operations, keys, values)
        assert len(table) == len(oracle.pairs(value))
    items = table.items()
    assert sorted(zip(bits_of(items.keys), bits_of(items.values), strict=True)) == oracle.pairs(value)


def test_threads_give_one_result_of_multimaps() -> None:
    random = np.random.default_rng(8)
    keys, values = random.integers(0, 3000, 30_000), random.integers(-9, 9, 30_000, dtype=np.int32)
    names = random.choice(MULTI_NAMES, 30_000, p=[0.1, 0.6, 0.15, 0.1, 0.05]).tolist()
    oracle = MultiMapOracle()
    expected = oracle.apply(names, keys, values)
    for threads in (1, 2, 7):
        table = HashMultiMap("int64", "int32", context=Context(threads=threads))
        found = table.apply(names, keys, values)
        assert (bits_of(found.values), found.counts.tolist()) == expected
        assert sorted(zip(*map(bits_of, table.items()), strict=True)) == oracle.pairs("int32")


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("seed", range(2))
def test_refused_memory_of_multimaps_changes_nothing(threads: int, seed: int) -> None:
    """Erased values, lists and inserted pairs are all put back, in the order in which they were."""
    random = np.random.default_rng(seed)
    limit = 300_000 + 20_000 * seed
    table = HashMultiMap("int64", "int64", context=Context(threads=threads, memory_limit=limit))
    old = random.integers(0, 900, 4000)
    table.insert(old, random.integers(0, 50, 4000))
    table.erase(old[:700])
    before, key_count = [part.tobytes() for part in table.items()], table.key_count
    keys = np.concatenate([random.integers(0, 1000, 5000), random.integers(0, 40_000, 9000)])
    names = random.choice(MULTI_NAMES, len(keys), p=[0.1, 0.5, 0.2, 0.1, 0.1]).tolist()
    with pytest.raises(MemoryLimitError, match=f"memory_limit = {limit}"):  # not the results, which have a limit of their own
        table.apply(names, keys, keys % 31)
    assert [part.tobytes() for part in table.items()] == before
    assert (len(table), table.key_count) == (3300, key_count)
    assert table.apply(["erase_all", "count"], [old[0]] * 2, [0, 0]).counts[1] == 0
