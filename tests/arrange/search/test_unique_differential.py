"""Tests distinct keys, positions in sorted keys, and counts of integers against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import headrace
from headrace import Context, OptionError
from tests.arrange.search.search_cases import DTYPES, keys_of

SIZES = (0, 1, 2, 17, 1000, 30_000)


def check(found: object, expected: object) -> None:
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype and found.shape == expected.shape


@pytest.mark.parametrize("dtype", DTYPES)
def test_unique(dtype: str) -> None:
    for count in SIZES:
        keys = keys_of(dtype, count)
        for found, expected in zip(headrace.unique(keys, True, True, True), np.unique(keys, True, True, True), strict=True):
            check(found, expected)
        check(headrace.unique(keys, context=Context(threads=1)), np.unique(keys))


def test_unique_of_other_forms() -> None:
    keys = np.arange(24, dtype=">i4").reshape(4, 6)[::-2, ::3] % 7
    values, inverse = headrace.unique(keys, return_inverse=True)
    check(inverse, np.unique(keys, return_inverse=True)[1])
    assert values.tolist() == np.unique(keys).tolist()
    assert headrace.unique([2, 1, 2], return_counts=True)[1].tolist() == [1, 2]
    assert headrace.unique(np.full(5000, 2**64 - 1, "u8")).tolist() == [2**64 - 1]
    assert np.signbit(headrace.unique([0.0, -0.0])).tolist() == [True]
    with pytest.raises(OptionError, match="equal_nan=False is not supported"):
        headrace.unique([1.0], equal_nan=False)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(dtype: str, side: str) -> None:
    for there in (0, 1, 2, 3, 100, 4097):
        ascending, keys = np.sort(keys_of(dtype, there)), keys_of(dtype, 5000)
        for threads in (1, 3):
            found = headrace.searchsorted(ascending, keys, side, context=Context(threads=threads))
            check(found, np.searchsorted(ascending, keys, side))


def test_searchsorted_of_other_forms() -> None:
    keys = np.array([[1.5, 3], [np.nan, -1]])
    ints = np.array([1, 2, 3, 3, 9], np.int32)
    check(headrace.searchsorted(ints, keys), np.searchsorted(ints, keys))
    assert headrace.searchsorted(ints, 3, side="right") == headrace.searchsorted(ints, 3, right=True) == 4
    order = np.array([4, 0, 1, 3, 2])
    shuffled = np.array([2, 3, 9, 3, 1])
    check(headrace.searchsorted(shuffled, [3, 9], sorter=order), np.searchsorted(shuffled, [3, 9], sorter=order))
    with pytest.raises(OptionError, match="unknown side"):
        headrace.searchsorted(ints, keys, "middle")


@pytest.mark.parametrize("bins", [[0, 1, 5, 9], [9, 5, 1, 0], [1, 1, 2], [3], [2.5, -1.0]], ids=str)
@pytest.mark.parametrize("right", [False, True])
def test_digitize(bins: list[float], right: bool) -> None:
    keys = np.array([[-1, 0, 0.5, 1, 2], [5, 9, 10, np.nan, np.inf]])
    check(headrace.digitize(keys, bins, right), np.digitize(keys, bins, right))
    check(headrace.digitize(keys.T, bins, right), np.digitize(keys.T, bins, right))


def test_digitize_of_unsorted_bins() -> None:
    with pytest.raises(OptionError, match="bins must be sorted"):
        headrace.digitize([1.0], [1, 3, 2])


@pytest.mark.parametrize("dtype", ["?", "u1", "i1", "u2", "i4", "u8", "i8"])
@pytest.mark.parametrize("threads", [1, 4])
def test_bincount(dtype: str, threads: int) -> None:
    context = Context(threads=threads)
    for count in (0, 1, 1000, 300_000):
        for limit in (1, 100, 1 << 15, 70_000):
            most = min(limit, 2 if dtype == "?" else int(np.iinfo(dtype).max))
            keys = np.random.default_rng(count).integers(0, most, count).astype(dtype)
            weights = np.random.default_rng(limit).standard_normal(count)
            check(headrace.bincount(keys, context=context), np.bincount(keys.astype("i8")))
            check(headrace.bincount(keys, weights, 7, context=context), np.bincount(keys.astype("i8"), weights, 7).astype(float))


def test_bincount_of_other_forms() -> None:
    assert headrace.bincount([]).tolist() == []
    assert headrace.bincount([3, 1], minlength=2).tolist() == [0, 1, 0, 1]
    for keys, options, said in (
        ([1, -2], {}, "x has a negative integer, -2"),
        ([1.5], {}, "integers from 0 on can be counted"),
        ([2**41], {}, "use unique"),
        ([1], {"weights": [1, 2]}, "weights has 2 items for 1"),
        ([1], {"minlength": -1}, "minlength must be"),
    ):
        with pytest.raises(OptionError, match=said):
            headrace.bincount(keys, **options)


def test_take_of_other_forms() -> None:
    items = np.array([1.5, 2.5, 3.5])
    assert headrace.take(items, [2, 0]).tolist() == [3.5, 1.5]
    assert headrace.take(items, [-1, 0]).tolist() == [3.5, 1.5]
    grid = np.arange(12).reshape(3, 4)
    for axis in (0, 1, -1):
        check(headrace.take(grid, [1, 0, -1], axis=axis), np.take(grid, [1, 0, -1], axis=axis))
    for rows in ([3], [-4]):
        with pytest.raises(OptionError, match="1 row number is outside of the 3 items"):
            headrace.take(items, rows)
