"""The public histogram on the CPU, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import headrace
from headrace.arrange.histogram import plan_for
from headrace.core.errors import OptionError
from tests.arrange.test_histogram_kernels_differential import expected_even, keys_of


@pytest.mark.parametrize("dtype", ["u4", "i4", "f4"])
@pytest.mark.parametrize("kind", ["uniform", "skewed", "constant"])
@pytest.mark.parametrize("bins", [2, 32, 256, 5000, 65536])
def test_even(dtype: str, kind: str, bins: int) -> None:
    low, high = {"u4": (0, 2**32), "i4": (-(2**31), 2**31), "f4": (-3, 1024)}[dtype]
    for count in (0, 5, 200_003):
        keys = keys_of(dtype, kind, count, low, high)
        given = None if dtype != "f4" else (low, high)
        for threads in (1, 3):
            result = headrace.histogram(keys, bins, range=given, context=headrace.Context(threads=threads))
            np.testing.assert_array_equal(result, expected_even(keys, low, high, bins))


@pytest.mark.parametrize("dtype", ["u4", "i4", "f4"])
@pytest.mark.parametrize("buckets", [2, 256, 10_000])
def test_splitters(dtype: str, buckets: int) -> None:
    random = np.random.default_rng(buckets)
    for width in (3, 5000, 10**9):
        edges = np.sort(random.integers(0, width, buckets + 1)).astype(dtype)
        edges[-1] = width
        keys = np.concatenate([random.integers(0, 2 * width, 5000).astype(dtype), edges])
        places = np.searchsorted(edges, keys, "right") - 1
        inside = (places >= 0) & (places < buckets)
        expected = np.bincount(places[inside], minlength=buckets)
        np.testing.assert_array_equal(headrace.histogram(keys, splitters=edges), expected)
        np.testing.assert_array_equal(headrace.histogram(keys, splitters=edges.tolist()), expected)


def test_bounds_are_exact_at_every_bucket() -> None:
    for low, high, bins in ((0, 2**32, 7), (3, 2**32 - 1, 65535), (10, 10 + 65537, 65536), (5, 8, 3)):
        bounds = [low + -(-i * (high - low) // bins) for i in range(bins + 1)]
        first = np.array(bounds[:-1], "u4")
        last = np.array([bound - 1 for bound in bounds[1:]], "u4")
        for keys in (first, last):
            assert headrace.histogram(keys, bins, range=(low, high)).tolist() == [1] * bins


def test_nans_and_keys_outside_are_not_counted() -> None:
    keys = np.array([np.nan, -np.inf, np.inf, -1, 4, 0, 3.999], "f4")
    assert headrace.histogram(keys, 2, range=(0, 4)).tolist() == [1, 1]
    assert headrace.histogram(keys, splitters=[0, 2, 4]).tolist() == [1, 1]


@pytest.mark.parametrize("capability", [(8, 0), (8, 6), (9, 0), (10, 0), (12, 0)])
def test_plans_fit(capability: tuple[int, int]) -> None:
    limit = 160 << 10 if capability in {(8, 0), (9, 0), (10, 0)} else 99 << 10
    for buckets in (2, 3, 255, 256, 257, 8192, 16384, 16385, 65535, 65536):
        plan = plan_for(capability, buckets)
        assert plan.nbytes + 4096 * 4 + (buckets * 4 if buckets <= 2048 else 0) <= limit
        assert plan.factor % 2 == 0 if plan.packed else plan.factor & (plan.factor - 1) == 0


@pytest.mark.parametrize(
    ("keys", "options", "said"),
    [
        (np.zeros(1, "f4"), {}, "range must be given"),
        (np.zeros(1), {"range": (0, 1)}, "keys are of type"),
        (np.zeros(1, "u4"), {"bins": 1}, "bins must be"),
        (np.zeros(1, "u4"), {"bins": 8, "range": (0, 7)}, "fewer numbers"),
        (np.zeros(1, "u4"), {"range": (-1, 700)}, "two whole numbers"),
        (np.zeros(1, "f4"), {"range": (1, 1)}, "two finite numbers"),
        (np.zeros(1, "u4"), {"splitters": [3, 2, 4]}, "must ascend"),
        (np.zeros(1, "u4"), {"splitters": [0, 0.5, 4]}, "as the keys are"),
        (np.zeros(1, "u4"), {"splitters": [0, 4]}, "3 to 65537 numbers"),
    ],
)
def test_misuse(keys, options, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        headrace.histogram(keys, **options)
