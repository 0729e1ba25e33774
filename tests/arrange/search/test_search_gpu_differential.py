"""Compares searches, distinct items and counts on a GPU with the CPU."""

from __future__ import annotations

import numpy as np
import pytest

import headrace
from headrace import Context, DeviceArray, OptionError, UnsupportedDeviceError
from headrace.arrange.search.tuning import DISTINCT_TABLE
from tests.arrange.search.search_cases import DTYPES, keys_of

pytestmark = pytest.mark.gpu


def same(found: DeviceArray, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(found.to_numpy(), expected)
    assert np.dtype(found.typestr) == expected.dtype


@pytest.mark.parametrize("dtype", DTYPES)
def test_searches_and_distinct_items(dtype: str) -> None:
    context = Context(device="cuda")
    for count in (1, 17, 5000):
        keys = keys_of(dtype, count)
        found = headrace.unique(keys, True, True, True, context=context)
        for ours, expected in zip(found, headrace.unique(keys, True, True, True), strict=True):
            same(ours, expected)
        ascending = np.sort(keys)
        for side in ("left", "right"):
            same(headrace.searchsorted(ascending, keys, side, context=context), np.searchsorted(ascending, keys, side))


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("dtype", ["i4", "u8", "M8[s]", "f4"])
@pytest.mark.parametrize("distinct", [3, 1 << 20, 1 << 22])
def test_distinct_items_of_large_arrays(dtype: str, distinct: int) -> None:
    """Few distinct integers are collected in a table, and others sorted; -1 has the bits of an empty slot."""
    context, random, count = Context(device="cuda"), np.random.default_rng(6), DISTINCT_TABLE.min_keys + 5
    values = np.arange(distinct) * 389 - (0 if dtype == "u8" else 389 * (distinct // 2) + 1)
    pool = values.astype(dtype)
    if dtype == "u8":
        pool[-1] = np.iinfo(dtype).max
    places = random.integers(0, distinct, count)
    places[:distinct] = np.arange(distinct)
    keys = pool[places]
    same(headrace.unique(keys, context=context), pool)
    found, inverse = headrace.unique(keys, return_inverse=True, context=context)
    same(found, pool)
    same(inverse, places)


def test_few_distinct_items_after_many() -> None:
    """Many distinct items of an array are noted for the next one of its length; few are as well."""
    context, count = Context(device="cuda"), DISTINCT_TABLE.min_keys + 11
    for distinct in (count, 1000, 1000, count, 1000):
        keys = (np.arange(count, dtype=np.int32) * 7919 % distinct).astype(np.int32)
        same(headrace.unique(keys, context=context), np.unique(keys))


def test_counts() -> None:
    context = Context(device="cuda")
    for limit in (1, 100, 70_000):
        keys = np.random.default_rng(1).integers(0, limit, 5000)
        for dtype in ("i8", "u8", "i4", "u4", "u2", "u1") if limit <= 100 else ("i8", "u8", "i4", "u4"):
            same(headrace.bincount(keys.astype(dtype), context=context), np.bincount(keys))
    same(headrace.bincount([], context=context), np.bincount(np.zeros(0, int)))
    with pytest.raises(OptionError, match="a negative integer, -1"):
        headrace.bincount(np.array([1, -1], "i2"), context=context)
    same(headrace.histogram(keys, 50, context=context).counts, np.histogram(keys, 50)[0])
    same(headrace.digitize(keys, [10, 100, 1000], context=context), np.digitize(keys, [10, 100, 1000]))
    with pytest.raises(UnsupportedDeviceError, match="weights are summed on the CPU"):
        headrace.bincount(keys, np.ones(5000), context=context)


def test_running_sums_of_floats() -> None:
    for count in (1, 64, 65, 300_000):
        items = np.random.default_rng(count).standard_normal(count)
        for how in ({}, {"exclusive": True}):
            found = headrace.scan(items, context=Context(device="cuda"), **how)
            assert found.to_numpy().tobytes() == headrace.scan(items, **how).tobytes()
