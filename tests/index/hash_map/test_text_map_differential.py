"""Replays random histories on maps, sets and multimaps of texts and on Python dictionaries."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from headrace import Context, HashMap, HashMultiMap, HashSet

BATCHES = (0, 1, 17, 64, 300, 9000)
REDUCTIONS = {"last": lambda _, new: new, "first": lambda held, _: held, "sum": lambda a, b: a + b, "min": min, "max": max}


def texts_of(random: np.random.Generator, count: int) -> list[str]:
    """Return texts of all lengths around the words of a hash, with bytes 0 and letters of several bytes."""
    numbers = random.integers(0, 3000, count)
    return [("é\0" if number % 7 == 0 else "ab") * (number % 23) + str(number) for number in numbers.tolist()]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_map_histories(threads: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    table, oracle = HashMap("string", "int64", context=Context(threads=threads)), dict[str, int]()
    names, erased = HashSet("string", context=Context(threads=threads)), set[str]()
    for _ in range(25):
        keys = texts_of(random, int(random.choice(BATCHES)))
        values = random.integers(-1000, 1000, len(keys))
        match random.integers(0, 5):
            case 0 | 1:
                reduce, before = str(random.choice(list(REDUCTIONS))), len(oracle)
                for key, value in zip(keys, values.tolist(), strict=True):
                    oracle[key] = REDUCTIONS[reduce](oracle[key], value) if key in oracle else value
                assert table.upsert(keys, values, reduce=reduce) == len(oracle) - before
                names.insert(keys)
                erased.difference_update(keys)
            case 2:
                assert table.replace(keys, values).tolist() == [key in oracle for key in keys]
                oracle.update((key, value) for key, value in zip(keys, values.tolist(), strict=True) if key in oracle)
            case 3:
                expected = [oracle.pop(key, None) is not None for key in keys[::2]]
                assert table.erase(keys[::2]).tolist() == names.erase(keys[::2]).tolist() == expected
            case _:
                table.compact()
                names.compact()
        found = table.find(keys)
        assert found.found.tolist() == names.contains(keys).tolist() == [key in oracle for key in keys]
        assert found.values.tolist() == [oracle.get(key, 0) for key in keys]
        assert len(table) == len(names) == len(oracle)
    items = table.items()
    assert list(zip(items.keys.to_pylist(), items.values.tolist(), strict=True)) == sorted(oracle.items())
    assert names.items().to_pylist() == sorted(oracle)


@pytest.mark.parametrize("value", ["int64", "float32"])
def test_multimap_histories(value: str) -> None:
    random = np.random.default_rng(5)
    table, oracle = HashMultiMap("string", value), defaultdict[str, list[float]](list)
    for step in range(20):
        keys = texts_of(random, int(random.choice(BATCHES)))
        values = random.integers(-50, 50, len(keys)).astype(value)
        table.insert(keys, values)
        for key, one in zip(keys, values.tolist(), strict=True):
            oracle[key].append(one)
        few = texts_of(random, 500)
        if step % 3 == 0:
            table.compact()
        assert table.count(few).tolist() == [len(oracle[key]) for key in few]
        assert table.find_all(few).values.tolist() == [one for key in few for one in sorted(oracle[key])]
        assert table.erase_all(few[::3]).tolist() == [len(oracle.pop(key, [])) for key in few[::3]]
    pairs = sorted((key, one) for key, many in oracle.items() for one in many)
    items = table.items()
    assert list(zip(items.keys.to_pylist(), items.values.tolist(), strict=True)) == pairs
    assert (len(table), table.key_count) == (len(pairs), len({key for key, _ in pairs}))
