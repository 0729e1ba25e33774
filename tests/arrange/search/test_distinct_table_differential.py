"""Tests the hash table of distinct keys in the fiber harness against sets of Python."""

from __future__ import annotations

import numpy as np
import pytest

from headrace.arrange.search.distinct_table import DistinctTable
from headrace.arrange.search.tuning import TableTuning
from headrace.testing.fibers.launcher import FiberLauncher

pytestmark = pytest.mark.fibers

TUNING = TableTuning(threads=64, rows=2, blocks=1, bits=10, sample_keys=1 << 10)


def found_of(keys: np.ndarray, order: str, multiprocessors: int = 3) -> np.ndarray | None:
    """Return the keys that the table lists."""
    launcher = FiberLauncher(order, 11)
    table = DistinctTable(launcher, keys.dtype.itemsize, TUNING)
    count = table.count(launcher.put(keys), len(keys), multiprocessors)
    if count is None:
        return None
    found = launcher.allocate(count * keys.dtype.itemsize)
    table.write(found)
    return launcher.fetch(found).view(keys.dtype)


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("dtype", ["u4", "i4", "u8", "i8"])
@pytest.mark.parametrize("order", ["forward", "reverse", "random"])
def test_few_distinct_keys_are_listed_once(dtype: str, order: str) -> None:
    random = np.random.default_rng(4)
    limits = np.iinfo(dtype)
    for count in (1, 3, 512, 513, 5000):
        for distinct in (1, 2, 40, 300):
            pool = random.integers(limits.min, limits.max, distinct, dtype, endpoint=True)
            pool[: distinct // 2] = np.array(-1).astype(dtype)  # the bits of an empty slot
            keys = pool[random.integers(0, distinct, count)]
            found = found_of(keys, order)
            assert found is not None
            assert sorted(found.tolist()) == sorted(set(keys.tolist()))


@pytest.mark.parametrize("dtype", ["u4", "u8"])
def test_keys_of_one_slot(dtype: str) -> None:
    """Keys whose hashes are equal in the lowest bits fill the slots after it."""
    keys = np.arange(1 << 20, dtype=dtype)
    hashes = keys.astype(np.uint32)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        hashes = (hashes ^ hashes >> np.uint32(shift)) * np.uint32(factor)
    hashes ^= hashes >> np.uint32(16)
    chosen = keys[hashes % 1024 == 1000][:100]
    found = found_of(np.tile(chosen, 5), "random")
    assert found is not None
    assert sorted(found.tolist()) == chosen.tolist()


@pytest.mark.parametrize("order", ["forward", "random"])
def test_many_distinct_keys_are_given_up(order: str) -> None:
    """A sample shows it, or the number of keys, or that the table is full."""
    assert found_of(np.arange(20_000, dtype=np.uint32), order) is None
    repeated = np.repeat(np.arange(600, dtype=np.uint32), 30)
    assert found_of(repeated, order) is None
    assert found_of(np.arange(3000, dtype=np.uint32) * np.uint32(1 << 12), order, multiprocessors=20) is None
