"""Passes wrong arguments to hash maps, exhausts their memory, and uses one map in several threads."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from enum import IntEnum

import numpy as np
import pytest

from headrace import Context, HashMap, HashMultiMap, HashSet, MapOperation, MemoryLimitError, OptionError


def test_wrong_types() -> None:
    with pytest.raises(OptionError, match="'int16'"):
        HashMap("int16", "int32")
    with pytest.raises(OptionError, match="value_type is None"):
        HashMap("int32", None)
    with pytest.raises(OptionError, match="value_type is None"):
        HashMultiMap("int32", None)
    table = HashMap("int32", "int32")
    with pytest.raises(OptionError, match="keys are of type int64, and the map has int32"):
        table.find(np.arange(3))
    with pytest.raises(OptionError, match="keys has items that int32 does not have"):
        table.find([2**31])
    with pytest.raises(OptionError, match="values has items that int32 does not have"):
        table.insert([1], [0.5])
    with pytest.raises(OptionError, match="values has 1 items for 2 keys"):
        table.insert([1, 2], [1])
    with pytest.raises(OptionError, match="reduce"):
        table.upsert([1], [1], reduce="mean")
    with pytest.raises(OptionError, match="one dimension"):
        table.find(np.zeros((2, 2), np.int32))
    assert len(table) == 0


def test_wrong_operations() -> None:
    table, keys = HashMap("int32", "int32"), HashSet("int32")
    with pytest.raises(OptionError, match="unknown operations 'delete'"):
        table.apply(["delete"], [1], [1])
    other = IntEnum("other", {"NONE": -1, "LARGE": 300})
    for operation in other:
        with pytest.raises(OptionError, match="unknown operations"):
            table.apply([operation], [1], [1])
    with pytest.raises(OptionError, match="the number 10; those of headrace"):
        table.apply(np.array([0, 10], np.uint8), [1, 2], [1, 2])
    with pytest.raises(OptionError, match="an array of uint8"):
        table.apply(np.array([0, 1]), [1, 2], [1, 2])
    with pytest.raises(OptionError, match="operations has 1 items for 2 keys"):
        table.apply(["find"], [1, 2], [1, 2])
    with pytest.raises(OptionError, match=r"'sum', which a set does not have; valid: find, insert, erase$"):
        keys.apply(["insert", "sum"], [1, 2])
    with pytest.raises(OptionError, match=r"unknown operations 'contains'; valid: find, insert, erase$"):
        keys.apply(["contains"], [1])
    with pytest.raises(OptionError, match="order"):
        keys.apply(["insert"], [1], order="random")
    with pytest.raises(OptionError, match="'count', which a map does not have"):
        table.apply(["count"], [1], [1])
    assert (len(table), len(keys)) == (0, 0)


def test_wrong_operations_of_multimaps() -> None:
    table = HashMultiMap("int32", "int32")
    with pytest.raises(OptionError, match=r"'find_all', whose result is a list: call HashMultiMap\.find_all"):
        table.apply(["insert", "find_all"], [1, 1], [1, 1])
    with pytest.raises(OptionError, match=r"unknown operations 'delete'; valid: find, insert, erase, count, erase_all$"):
        table.apply(["delete"], [1], [1])
    for name in ("replace", "first", "sum", "min", "max"):
        with pytest.raises(OptionError, match=f"'{name}', which a multimap does not have; valid: find"):
            table.apply(["insert", name, "count"], [1] * 3, [1] * 3)
    with pytest.raises(OptionError, match="the number 255; those of headrace"):
        table.apply(np.array([1, 255], np.uint8), [1, 2], [1, 2])
    with pytest.raises(OptionError, match="operations has 1 items for 2 keys"):
        table.apply(["find"], [1, 2], [1, 2])
    with pytest.raises(OptionError, match="order"):
        table.apply(["insert"], [1], [1], order="random")
    assert len(table) == 0


@pytest.mark.parametrize(("threads", "count"), [(1, 5000), (3, 5000), (1, 500)])  # few rows on one thread run in their order
def test_refused_memory_changes_nothing(threads: int, count: int) -> None:
    random = np.random.default_rng(1)
    table = HashMap("int64", "int64", context=Context(threads=threads, memory_limit=80 * count))
    old = random.integers(0, 1 << 40, count)
    table.insert(old, np.arange(count))
    before = [part.tobytes() for part in table.items()]
    keys = np.concatenate([old, random.integers(0, 1 << 40, 4 * count), old])
    with pytest.raises(MemoryLimitError, match=f"memory_limit = {80 * count}"):
        table.upsert(keys, np.arange(6 * count), reduce="sum")
    assert [part.tobytes() for part in table.items()] == before
    assert table.insert(old, np.arange(count)) == 0


@pytest.mark.parametrize("threads", [1, 3])
def test_refused_memory_of_multimaps(threads: int) -> None:
    random = np.random.default_rng(2)
    table = HashMultiMap("int32", "int64", context=Context(threads=threads, memory_limit=300_000))
    table.insert(np.arange(100, dtype="i4"), np.arange(100))
    before = [part.tobytes() for part in table.items()]
    with pytest.raises(MemoryLimitError):
        table.insert(random.integers(0, 200, 50_000).astype("i4"), np.arange(50_000))
    assert [part.tobytes() for part in table.items()] == before
    assert (len(table), table.key_count) == (100, 100)


def test_a_refused_batch_keeps_values_that_it_has_sorted() -> None:
    """Erasures sort the values of a key. Insertions and erasures before and after are undone all the same."""
    random = np.random.default_rng(4)
    table = HashMultiMap("int64", "int64", context=Context(memory_limit=400_000))
    table.insert(np.arange(120) % 3, random.integers(0, 9, 120))
    before = [part.tobytes() for part in table.items()]
    kinds = random.choice(np.array([MapOperation.INSERT, MapOperation.ERASE, MapOperation.FIND], np.uint8), 100)
    kinds[50], keys = MapOperation.ERASE_ALL, random.integers(0, 3, 100)
    more = 50_000
    with pytest.raises(MemoryLimitError):
        table.apply(
            np.concatenate([kinds, np.full(more, MapOperation.INSERT, np.uint8)]),
            np.concatenate([keys, np.arange(more)]),
            random.integers(0, 9, 100 + more),
        )
    assert [part.tobytes() for part in table.items()] == before
    assert len(table) == 120


def test_a_refused_batch_on_long_lists_is_undone_in_proportion_to_them() -> None:
    """Each search sorts the list of its key, so that the values of earlier insertions are anywhere in it."""
    random, held, count, more = np.random.default_rng(5), 60_000, 120_000, 300_000
    table = HashMultiMap("int64", "int64", context=Context(threads=1, memory_limit=8_000_000))
    table.insert(np.arange(held) % 2, random.integers(0, 1 << 40, held))
    before = [part.tobytes() for part in table.items()]
    kinds = random.choice(np.array([MapOperation.INSERT, MapOperation.COUNT], np.uint8), count)
    kinds[:: count // 20], kinds[7 :: count // 50] = MapOperation.FIND, MapOperation.ERASE
    kinds[count // 2], keys = MapOperation.ERASE_ALL, random.integers(0, 4, count)
    began = time.process_time()
    with pytest.raises(MemoryLimitError):
        table.apply(
            np.concatenate([kinds, np.full(more, MapOperation.INSERT, np.uint8)]),
            np.concatenate([keys, np.arange(more)]),
            random.integers(0, 1 << 40, count + more),
        )
    assert time.process_time() - began < 4
    assert [part.tobytes() for part in table.items()] == before
    assert (len(table), table.key_count) == (held, 2)


def test_a_refused_compaction_keeps_all_pairs() -> None:
    table = HashMultiMap("int64", "int64", context=Context(memory_limit=64_000))
    with suppress(MemoryLimitError):
        for first in range(0, 100_000, 50):
            table.insert(np.arange(first, first + 50), np.arange(50))
    inserted = len(table)
    table.erase_all(np.arange(inserted - 300))
    with pytest.raises(MemoryLimitError):
        table.compact()
    assert table.items().keys.tolist() == list(range(inserted - 300, inserted))


def test_a_refused_growth_uses_the_slots_that_are_left() -> None:
    """Tables that double early take as many keys as others if memory is refused: without that, two thirds of the slots."""
    table = HashSet("int64", context=Context(memory_limit=600_000))
    with suppress(MemoryLimitError):
        for first in range(0, 100_000, 100):
            table.insert(np.arange(first, first + 100))
    count = len(table)
    assert 0.75 * table.statistics().capacity < count < 100_000
    assert table.contains(np.arange(count + 100)).tolist() == [True] * count + [False] * 100


@pytest.mark.parametrize("make", [HashMap, HashMultiMap])
def test_tables_grow_one_after_another(make: type[HashMap | HashMultiMap]) -> None:
    """A batch that is small beside the map lets few of its 64 tables grow, so no call takes long."""
    table, before = make("int64", "int64"), 0
    for first in range(0, 1 << 20, 1 << 14):
        table.insert(np.arange(first, first + (1 << 14)), np.arange(1 << 14))
        nbytes = table.statistics().nbytes
        assert nbytes <= 1.25 * before or first < 1 << 19
        before = nbytes


def test_sets_report_refused_memory() -> None:
    table = HashSet("int32", context=Context(memory_limit=20_000))
    with pytest.raises(MemoryLimitError):
        table.insert(np.arange(100_000, dtype="i4"))
    assert len(table) == 0


def test_threads_share_a_map() -> None:
    table = HashMap("int64", "int64")
    several = HashMultiMap("int64", "int64")

    def work(number: int) -> None:
        keys = np.arange(number * 500, number * 500 + 1000)
        for _ in range(5):
            table.upsert(keys, np.ones(1000, np.int64), reduce="sum")
            several.insert(keys, keys)
            assert table.contains(keys).all()
            assert len(several.items().keys) % 1000 == 0
            assert len(several.find_all(keys).values) >= 1000

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(6)))
    found = table.items()
    assert found.values.sum() == len(several) == 30_000
    assert found.values[0] == 5
    assert found.values[600] == 10


def test_one_key_many_times() -> None:
    """A key with many values takes time in proportion to them."""
    table = HashMultiMap("int32", "int32")
    table.insert(np.zeros(300_000, "i4"), np.arange(300_000, dtype="i4")[::-1])
    assert table.find_all([0]).values[[0, -1]].tolist() == [0, 299_999]
    assert table.erase_all([0]).tolist() == [300_000]


def test_a_refused_distribution_is_not_repeated_by_each_call() -> None:
    """A map of one table, without memory for the tables of all shards, takes a pair as fast as one without a limit."""

    def shortest_call(table: HashMap) -> float:
        def measured() -> float:
            begin = time.perf_counter()
            table.insert([3], [3])
            return time.perf_counter() - begin

        return min(measured() for _ in range(100))

    plain, limited = (HashMap("int64", "int64", context=Context(threads=2, memory_limit=limit)) for limit in (None, 200_000))
    for table in (plain, limited):
        for begin in range(0, 6000, 500):
            table.insert(np.arange(begin, begin + 500), np.arange(begin, begin + 500))
        assert len(table) == 6000
    assert shortest_call(limited) < 5 * shortest_call(plain)
    assert limited.find(np.arange(6000)).values.tolist() == list(range(6000))
