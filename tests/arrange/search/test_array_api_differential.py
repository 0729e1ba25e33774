"""Tests the names of the array API standard against NumPy, which has the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from headrace import OptionError, array_api

GRID = np.random.default_rng(3).integers(0, 9, (3, 4, 5))


def check(found: Any, expected: Any) -> None:
    np.testing.assert_array_equal(found, expected)
    assert found.shape == expected.shape and found.dtype == expected.dtype


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_along_each_axis(axis: int) -> None:
    for grid in (GRID, GRID.astype("f4"), GRID.astype(">i2"), GRID[:, ::-2], GRID[:0]):
        check(array_api.sort(grid, axis=axis), np.sort(grid, axis=axis).astype(grid.dtype.newbyteorder("=")))
        check(array_api.argsort(grid, axis=axis), np.argsort(grid, axis=axis, kind="stable"))
        check(array_api.cumulative_sum(grid, axis=axis), np.cumulative_sum(grid, axis=axis))
        initial = array_api.cumulative_sum(grid, axis=axis, include_initial=True)
        check(initial, np.cumulative_sum(grid, axis=axis, include_initial=True))
        if grid.shape[axis] > 1:
            check(array_api.take(grid, [1, 0], axis=axis), np.take(grid, [1, 0], axis=axis).astype(grid.dtype.newbyteorder("=")))
        for keepdims in (False, True):
            check(array_api.sum(grid, axis=axis, keepdims=keepdims), np.sum(grid, axis=axis, keepdims=keepdims))
            if grid.size:
                native = grid.astype(grid.dtype.newbyteorder("="))
                check(array_api.max(grid, axis=axis, keepdims=keepdims), np.max(native, axis=axis, keepdims=keepdims))
                check(array_api.min(grid, axis=axis, keepdims=keepdims), np.min(native, axis=axis, keepdims=keepdims))


def test_all_items() -> None:
    check(array_api.sum(GRID), np.asarray(np.sum(GRID)))
    check(array_api.max(GRID, keepdims=True), np.max(GRID, keepdims=True))
    check(array_api.min(GRID.astype("f8")), np.asarray(np.min(GRID.astype("f8"))))
    for found, expected in zip(array_api.unique_all(GRID), np.unique_all(GRID), strict=True):
        check(found, expected)
    check(array_api.unique_values(GRID), np.unique(GRID))
    assert [each.tolist() for each in array_api.unique_counts(np.array([3, 1, 3]))] == [[1, 3], [1, 2]]
    assert [each.tolist() for each in array_api.unique_inverse(np.array([3, 1, 3]))] == [[1, 3], [1, 0, 1]]
    check(array_api.searchsorted(np.array([1, 2]), GRID, side="right"), np.searchsorted(np.array([1, 2]), GRID, side="right"))


def test_misuse() -> None:
    with pytest.raises(OptionError, match="x has 3 dimensions; pass axis="):
        array_api.take(GRID, [0])
    with pytest.raises(OptionError, match="axis must be an integer from -3 to 2, as x has 3 dimensions"):
        array_api.sum(GRID, axis=3)


def test_info() -> None:
    info = array_api.__array_namespace_info__()
    assert info.default_device() in info.devices()
    assert sorted(info.dtypes(kind="integral")) == sorted({**info.dtypes(kind=("signed integer", "unsigned integer"))})
    assert info.default_dtypes()["indexing"] == np.int64 and info.capabilities()["data-dependent shapes"]
    assert all(hasattr(array_api, name) for name in array_api.__all__)
