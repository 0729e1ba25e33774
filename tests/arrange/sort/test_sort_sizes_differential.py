"""Sorts and multisplit of as many keys as 31 and 32 bits can count, and one more."""

from __future__ import annotations

import numpy as np
import pytest

import headrace
from headrace import buckets

PERIOD = 1_000_003
CHUNK = 1 << 26


def repeated(dtype: str, count: int) -> np.ndarray:
    """Keys that come again after `PERIOD`, so that their order is known without a sort of all."""
    return np.resize(period(dtype), count)


def period(dtype: str) -> np.ndarray:
    limits = np.iinfo(dtype)
    return np.random.default_rng(5).integers(limits.min, limits.max, PERIOD, dtype, endpoint=True)


def check_in_order(found: np.ndarray, dtype: str, count: int) -> None:
    """Each key as often as it was given, the lowest first."""
    rounds, rest = divmod(count, PERIOD)
    values, times = np.unique(period(dtype), return_counts=True)
    more = np.searchsorted(values, period(dtype)[:rest])
    times = times * rounds + np.bincount(more, minlength=len(values))
    ends = np.cumsum(times)
    assert len(found) == count == ends[-1]
    for begin in range(0, count, CHUNK):
        part = found[begin : begin + CHUNK]
        places = np.searchsorted(ends, [begin, begin + len(part) - 1], "right")
        own = slice(places[0], places[1] + 1)
        firsts = np.maximum(ends[own] - times[own], begin)
        assert np.array_equal(part, np.repeat(values[own], np.minimum(ends[own], begin + len(part)) - firsts))


@pytest.mark.long
def test_on_the_cpu() -> None:
    count = 2**31 + 1
    keys = repeated("u1", count)
    headrace.sort(keys, out=keys)
    check_in_order(keys, "u1", count)


@pytest.mark.gpu
@pytest.mark.parametrize(("dtype", "count"), [("u1", 2**31 - 1), ("u1", 2**31), ("u4", 2**31 + 1), ("u1", 2**32 + 1)])
def test_on_a_gpu(dtype: str, count: int) -> None:
    given = headrace.DeviceArray.from_host(repeated(dtype, count))
    check_in_order(headrace.sort(given).to_numpy(), dtype, count)


@pytest.mark.gpu
def test_multisplit_on_a_gpu() -> None:
    count = 2**31 + 1
    given = headrace.DeviceArray.from_host(repeated("u1", count))
    split = headrace.multisplit(given, buckets.identity(256))
    check_in_order(split.keys.to_numpy(), "u1", count)
    np.testing.assert_array_equal(split.offsets.to_numpy()[[0, 256]], [0, count])
