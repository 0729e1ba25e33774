"""Replays random histories on hash maps, sets and multimaps of the CPU and on Python dictionaries."""

from __future__ import annotations

import numpy as np
import pytest

from headrace import Context, HashMap, HashMultiMap, HashSet
from tests.index.hash_map.hash_map_cases import PAIRS, MapOracle, MultiMapOracle, bits_of, numbers_of
from tests.isas import EACH_ISA

BATCHES = (0, 1, 2, 15, 16, 17, 100, 700)


@pytest.mark.covering(default=2)
@pytest.mark.parametrize(("key", "value"), PAIRS)
@pytest.mark.parametrize("threads", [1, 3])
def test_map_histories(key: str, value: str, threads: int) -> None:
    random = np.random.default_rng(threads)
    table, oracle = HashMap(key, value, context=Context(threads=threads)), MapOracle()
    for _ in range(60):
        count = int(random.choice(BATCHES))
        keys, values = numbers_of(key, random, count), numbers_of(value, random, count)
        match random.integers(0, 5):
            case 0 | 1:
                reduce = str(random.choice(["last", "first", "sum", "min", "max"]))
                assert table.upsert(keys, values, reduce=reduce) == oracle.upsert(keys, values, reduce)
            case 2:
                assert table.replace(keys, values).tolist() == oracle.replace(keys, values)
            case 3:
                few = keys[: count // 3]
                assert table.erase(few).tolist() == oracle.erase(few)
            case _:
                table.compact()
        found, (expected, is_found) = table.find(keys), oracle.find(keys, value)
        assert (bits_of(found.values), found.found.tolist()) == (expected, is_found)
        assert table.contains(keys).tolist() == is_found
        assert len(table) == len(oracle.pairs)
    items = table.items()
    assert sorted(zip(bits_of(items.keys), bits_of(items.values), strict=True)) == oracle.items(value)


@pytest.mark.parametrize(("key", "count"), [("int32", 300_000), ("int32", 1_000_000), ("int64", 180_000), ("int64", 500_000)])
def test_searches_of_tables_larger_than_caches(key: str, count: int) -> None:
    """Odd numbers are keys. From 3 MB on slots are fetched ahead of searches, from 12 MB on tags too."""
    table = HashMap(key, key, context=Context(threads=1))
    table.insert(np.arange(1, 2 * count, 2, dtype=key), np.arange(count, dtype=key))
    assert table.statistics().nbytes > 3 << 20
    assert (table.statistics().nbytes > 12 << 20) == (count >= 500_000)
    wanted = np.random.default_rng(count).integers(0, 2 * count, 100_003).astype(key)
    found = table.find(wanted)
    assert (found.found == (wanted % 2 == 1)).all()
    assert (found.values == np.where(wanted % 2 == 1, wanted // 2, 0)).all()
    assert (table.contains(wanted) == found.found).all()


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize(("key", "value"), PAIRS)
@pytest.mark.parametrize("count", [0, 1, 40, 2000, 120_000])
def test_searches_of_many_keys(isa: str, key: str, value: str, count: int) -> None:
    """Half of the keys that were inserted are absent again. From 64 keys on, vectors search 16 at a time."""
    random, context = np.random.default_rng(count), Context(isa=isa, threads=1)
    table, keys_alone = HashMap(key, value, context=context), HashSet(key, context=context)
    span = 2 * count + 2
    keys = numbers_of(key, random, count, span)
    values = numbers_of(value, random, count)
    table.insert(keys, values)
    keys_alone.insert(keys)
    for some in (table, keys_alone):
        some.erase(keys[::2])
    expected = dict(zip(bits_of(keys), bits_of(values), strict=True))
    for erased in bits_of(keys[::2]):
        expected.pop(erased, None)
    for searched in (63, 64, 65, 79, 80, 4095, 4096, 4113, 9000):
        wanted = numbers_of(key, random, searched, span)
        found = table.find(wanted)
        assert found.found.tolist() == [bits in expected for bits in bits_of(wanted)]
        assert bits_of(found.values) == [expected.get(bits, 0) for bits in bits_of(wanted)]
        assert table.contains(wanted).tolist() == found.found.tolist() == keys_alone.contains(wanted).tolist()


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize(("key", "value"), PAIRS)
@pytest.mark.parametrize("span", [3, 900, 6000])
@pytest.mark.parametrize("threads", [1, 3])
def test_updates_of_many_keys(isa: str, key: str, value: str, span: int, threads: int) -> None:
    """Vectors search a block of 128 keys before its operations run. A new key may come again in its block or the next one."""
    random, context = np.random.default_rng(span), Context(isa=isa, threads=threads)
    table, keys_alone, oracle = HashMap(key, value, context=context), HashSet(key, context=context), MapOracle()
    for step, count in enumerate((900, 63, 64, 127, 128, 129, 1000, 4113, 9000)):
        reduce = ("sum", "first", "last", "min", "max")[step % 5]
        # neighbours are often equal, and later batches have more new keys
        keys = np.repeat(numbers_of(key, random, count // 2 + 1, span * (step + 8) // 8), 2)[:count]
        keys[::3] = keys[random.permutation(len(keys[::3])) * 3]
        values = numbers_of(value, random, count)
        assert table.upsert(keys, values, reduce=reduce) == oracle.upsert(keys, values, reduce)
        keys_alone.insert(keys)
        wanted, others = numbers_of(key, random, count, 2 * span), numbers_of(value, random, count)
        assert table.replace(wanted, others).tolist() == oracle.replace(wanted, others)
        erased = wanted[:: 1 + step % 3]
        is_erased = oracle.erase(erased)
        assert table.erase(erased).tolist() == keys_alone.erase(erased).tolist() == is_erased
        assert len(table) == len(keys_alone) == len(oracle.pairs)
        items = table.items()
        assert sorted(zip(bits_of(items.keys), bits_of(items.values), strict=True)) == oracle.items(value)
        assert sorted(bits_of(keys_alone.items())) == sorted(oracle.pairs)


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("row", [6, 127, 128, 136, 144, 200])
def test_an_erased_key_of_the_same_tag_precedes_equal_keys(isa: str, row: int) -> None:
    """The hashes of both keys agree in the bits of the shard, the group and the tag, for the seed 0."""
    first, other = 865089988326, 3020520733
    table = HashMap("int64", "int64", context=Context(isa=isa, threads=1), seed=0)
    table.insert([first, other], [1, 2])
    keys = np.arange(10**9, 10**9 + 256)
    keys[[5, row, 250]] = first, other, other
    assert np.flatnonzero(np.asarray(table.erase(keys))).tolist() == [5, row]
    assert len(table) == 0


@pytest.mark.parametrize("isa", EACH_ISA)
def test_searches_of_full_groups(isa: str) -> None:
    """One table of the 64 has all keys, so that most of its groups have passed keys on to later ones."""
    table = HashMap("uint64", "uint64", context=Context(isa=isa, threads=1), seed=0)
    golden, keys = 0x9E3779B97F4A7C15, []
    for number in range(1, 200_000):
        product = number * golden
        if (product ^ product >> 64) >> 58 & 63 == 5:
            keys.append(number)
    present, absent = np.array(keys[:2500], "u8"), np.array(keys[2500:], "u8")
    table.insert(present, present)
    assert table.replace(np.tile(present, 2), np.concatenate([present, present + 1])).all()
    for wanted, is_present in ((present, True), (absent, False), (np.concatenate([absent[:100], present]), None)):
        found = table.find(wanted)
        expected = wanted <= keys[2499] if is_present is None else np.full(len(wanted), is_present)
        assert found.found.tolist() == expected.tolist()
        assert found.values.tolist() == np.where(expected, wanted + 1, 0).tolist()
    assert table.erase(np.repeat(np.concatenate([absent, present]), 2)).tolist() == [
        *[False] * 2 * len(absent),
        *[True, False] * 2500,
    ]
    assert len(table) == 0


@pytest.mark.parametrize("key", ["int32", "float64"])
def test_set_histories(key: str) -> None:
    random = np.random.default_rng(5)
    table, oracle = HashSet(key), set()
    for _ in range(40):
        keys = numbers_of(key, random, int(random.choice(BATCHES)), span=2000)
        added = set(bits_of(keys)) - oracle
        assert table.insert(keys) == len(added)
        oracle |= added
        few = numbers_of(key, random, 40)
        erased = [bits in oracle and oracle.remove(bits) is None for bits in bits_of(few)]
        assert table.erase(few).tolist() == erased
        assert table.contains(keys).tolist() == [bits in oracle for bits in bits_of(keys)]
    assert sorted(bits_of(table.items())) == sorted(oracle)
    assert len(table) == table.statistics().size == len(oracle)


@pytest.mark.parametrize(("key", "value"), PAIRS)
def test_multimap_histories(key: str, value: str) -> None:
    random = np.random.default_rng(7)
    table, oracle = HashMultiMap(key, value), MultiMapOracle()
    for _ in range(40):
        count = int(random.choice(BATCHES))
        keys, values = numbers_of(key, random, count), numbers_of(value, random, count)
        table.insert(keys, values)
        oracle.insert(keys, values)
        match random.integers(0, 3):
            case 0:
                assert table.erase(keys[::2]).tolist() == oracle.erase(keys[::2])
            case 1:
                assert table.erase_all(keys[::5]).tolist() == oracle.erase_all(keys[::5])
            case _:
                table.compact()
        offsets, found = table.find_all(keys)
        expected = oracle.find_all(keys)
        assert np.diff(offsets).tolist() == table.count(keys).tolist() == [len(one) for one in expected]
        assert bits_of(found) == bits_of(np.array([item for one in expected for item in one], value))
        assert table.contains(keys).tolist() == [bool(one) for one in expected]
    pairs = {bits: values for bits, values in oracle.lists.items() if values}
    assert table.key_count == len(pairs)
    assert len(table) == table.statistics().size == sum(map(len, pairs.values()))
    items = table.items()
    found_pairs = list(zip(bits_of(items.keys), bits_of(items.values), strict=True))
    assert sorted(found_pairs) == sorted((bits, one) for bits, many in pairs.items() for one in bits_of(np.array(many, value)))
    assert items.keys[~np.isnan(items.keys)].tolist() == sorted(items.keys[~np.isnan(items.keys)].tolist())


def test_threads_give_one_result() -> None:
    """A batch of many rows of equal keys is reduced in its order, whatever the threads; floats show the order."""
    random = np.random.default_rng(3)
    keys = random.integers(0, 5000, 200_000)
    values = random.standard_normal(200_000)
    results = []
    for threads in (1, 2, 7):
        table = HashMap("int64", "float64", context=Context(threads=threads))
        added = [table.upsert(keys[:70_000], values[:70_000], reduce="sum"), table.upsert(keys, values, reduce="sum")]
        results.append((added, *(part.tobytes() for part in table.items())))
    assert results[0] == results[1] == results[2]
    expected = MapOracle()
    expected.upsert(keys[:70_000], values[:70_000], "sum")
    expected.upsert(keys, values, "sum")
    found = table.items()
    assert list(zip(bits_of(found.keys), bits_of(found.values), strict=True)) == expected.items("float64")


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("searched", [1, 15, 16, 17, 20_000])
def test_lists_of_all_lengths_are_found_side_by_side(threads: int, searched: int) -> None:
    """Searches walk through 16 lists at once: of no value, of few, and of thousands."""
    random = np.random.default_rng(searched)
    lengths = random.choice([0, 1, 2, 17, 300], 500)
    lengths[::97] = 3000
    keys = random.permutation(np.repeat(np.arange(500), lengths))
    values = random.integers(-1000, 1000, len(keys)).astype("i4")
    table = HashMultiMap("int64", "int32", context=Context(threads=threads))
    table.insert(keys, values)
    wanted = random.integers(0, 500, searched)
    found = table.find_all(wanted)
    assert np.diff(found.offsets).tolist() == table.count(wanted).tolist() == lengths[wanted].tolist()
    expected = {key: np.sort(values[keys == key]) for key in set(wanted.tolist())}
    assert (found.values == np.concatenate([expected[key] for key in wanted.tolist()])).all()
