"""Tests the public histogram on the CPU against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import headrace
from headrace.arrange.histogram.histogram import plan_for
from headrace.core.errors import OptionError
from tests.arrange.histogram.histogram_kernels_cases import (
    edge_keys,
    edges_of,
    expected_between,
    expected_even,
    keys_of,
    limits,
)

DTYPES = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"]


@pytest.mark.covering(default=1)
@pytest.mark.long_except("*-uniform-*", "256-*")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["uniform", "skewed", "constant"])
@pytest.mark.parametrize("bins", [2, 32, 100, 256, 5000, 65536])
def test_even(dtype: str, kind: str, bins: int) -> None:
    low, high = (-3, 1024) if dtype[0] == "f" else limits(dtype)
    if high - low < bins and dtype[0] != "f":
        pytest.skip("there are no so many values")
    for count in (0, 5, 150_003):
        keys = np.concatenate([keys_of(dtype, kind, count, low, high), edge_keys(dtype, low, high)[: count // 2]])
        given = None if dtype[0] != "f" else (low, high)
        for threads in (1, 3):
            result = headrace.bucket_counts(keys, bins, range=given, context=headrace.Context(threads=threads))
            np.testing.assert_array_equal(result, expected_even(keys, low, high, bins))


@pytest.mark.covering(default=2)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["spread", "crowded", "narrow"])
@pytest.mark.parametrize("buckets", [2, 256, 10_000, 65536])
def test_splitters(dtype: str, kind: str, buckets: int) -> None:
    if kind == "narrow" and dtype[0] != "f" and buckets + 1 >= limits(dtype)[1]:
        pytest.skip("there are no so many values")
    edges = edges_of(dtype, buckets, kind)
    low, high = edges[0].item(), edges[-1].item()
    keys = np.concatenate([keys_of(dtype, "uniform", 5000, low, high), edges, edge_keys(dtype, low, high)])
    expected = expected_between(keys, edges)
    np.testing.assert_array_equal(headrace.bucket_counts(keys, splitters=edges), expected)
    np.testing.assert_array_equal(headrace.bucket_counts(keys, splitters=edges.tolist()), expected)


def test_bounds_are_exact_at_every_bucket() -> None:
    whole = [
        (dtype, *limits(dtype), bins)
        for dtype in DTYPES[:8]
        for bins in (2, 7, 128, 253, 65535)
        if bins < 2 ** (int(dtype[1]) * 8)
    ]
    others = [("u4", 3, 2**32 - 1, 65535), ("u4", 10, 10 + 65537, 65536), ("u4", 5, 8, 3), ("i8", -(2**63), 2**63 - 1, 65521),
              ("u8", 1, 2**64, 3), ("i8", -5, 2**40 - 1, 1000)]  # fmt: skip
    for dtype, low, high, bins in whole + others:
        bounds = [low + -(-i * (high - low) // bins) for i in range(bins + 1)]
        first = np.array(bounds[:-1], dtype)
        last = np.array([bound - 1 for bound in bounds[1:]], dtype)
        for keys in (first, last):
            assert headrace.bucket_counts(keys, bins, range=(low, high)).tolist() == [1] * bins


def test_nans_and_keys_outside_are_not_counted() -> None:
    keys = np.array([np.nan, -np.inf, np.inf, -1, 4, 0, 3.999], "f4")
    assert headrace.bucket_counts(keys, 2, range=(0, 4)).tolist() == [1, 1]
    assert headrace.bucket_counts(keys, splitters=[0, 2, 4]).tolist() == [1, 1]


@pytest.mark.parametrize("capability", [(8, 0), (8, 6), (9, 0), (10, 0), (12, 0)])
def test_plans_fit(capability: tuple[int, int]) -> None:
    limit = 160 << 10 if capability in {(8, 0), (9, 0), (10, 0)} else 99 << 10
    for buckets in (2, 3, 255, 256, 257, 2047, 2048, 2049, 8192, 16383, 16384, 16385, 65535, 65536):
        for edge_size in (None, 4, 8):
            plan = plan_for(capability, buckets, edge_size)
            assert plan.nbytes <= limit
            assert plan.factor % 64 == 0 if plan.packed else plan.factor & (plan.factor - 1) == 0
            least = (plan.cells + 1) * 4 * (edge_size is not None) + (buckets + 1) * (edge_size or 0) * plan.edges_in_shared
            assert plan.nbytes >= least + (plan.factor * 2 if plan.packed else (buckets + 1) * plan.factor * 4)


@pytest.mark.parametrize(
    ("keys", "options", "said"),
    [
        (np.zeros(1, "f4"), {}, "range must be given"),
        (np.zeros(1, "?"), {"range": (0, 1)}, "keys are of type"),
        (np.zeros(1, "u1"), {"bins": 257}, "fewer numbers"),
        (np.zeros(1, "u8"), {"range": (0, 2**64 + 1)}, "two integers"),
        (np.zeros(1, "f8"), {"range": (-1e308, 1e308)}, "whose difference is finite"),
        (np.zeros(1, "u4"), {"bins": 1}, "bins must be"),
        (np.zeros(1, "u4"), {"bins": 8, "range": (0, 7)}, "fewer numbers"),
        (np.zeros(1, "u4"), {"range": (-1, 700)}, "two integers"),
        (np.zeros(1, "f4"), {"range": (1, 1)}, "two finite numbers"),
        (np.zeros(1, "u4"), {"splitters": [3, 2, 4]}, "must ascend"),
        (np.zeros(1, "u4"), {"splitters": [0, 0.5, 4]}, "as the keys are"),
        (np.zeros(1, "u8"), {"splitters": [-1, 0, 2**64 - 1]}, "as the keys are"),
        (np.zeros(1, "u4"), {"splitters": [0, 4]}, "3 to 65537 numbers"),
    ],
)
def test_misuse(keys, options, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        headrace.bucket_counts(keys, **options)


FAR_EDGES = [
    [-np.inf, 0.0, np.inf],
    [-np.inf, -1.5, -0.0, 1.5, np.inf],
    [0.0, 1.0, np.inf],
    [-np.inf, -3.0, -1.0],
    [-np.inf, -np.inf, 1.0, 1.0, np.inf, np.inf],
    [-np.inf, np.inf, np.inf],
]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("edges", FAR_EDGES, ids=str)
def test_splitters_that_are_infinite(dtype: str, edges: list[float]) -> None:
    check_far(dtype, np.array(edges, dtype))


@pytest.mark.long_except("2-*", "300-*", "32767-f4")
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("buckets", [2, 300, 32767])
def test_splitters_further_apart_than_their_type_goes(dtype: str, buckets: int) -> None:
    most = float(np.finfo(dtype).max)
    inner = np.random.default_rng(buckets).normal(0, 1e3, buckets - 1)
    check_far(dtype, np.concatenate([[-most], np.sort(inner), [most]]).astype(dtype))


def check_far(dtype: str, edges: np.ndarray) -> None:
    rng = np.random.default_rng(0)
    random_bits = rng.integers(0, 2**63, 20_000, np.uint64).view("f8" if dtype == "f8" else "u4")[:20_000]
    with np.errstate(over="ignore"):
        near = np.concatenate([np.nextafter(edges, -np.inf), edges, np.nextafter(edges, np.inf)])
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1.0, -1.0], dtype)
    signed = np.concatenate([random_bits.view(dtype), -random_bits.view(dtype)])
    keys = np.concatenate([signed, near, special, rng.normal(0, 2, 5000).astype(dtype)]).astype(dtype)
    sorted_keys = np.sort(keys)  # NaN last
    expected = np.diff(np.searchsorted(sorted_keys, edges)).tolist()
    for given in (edges, edges.tolist()):
        for threads in (1, 3):
            found = headrace.bucket_counts(keys, splitters=given, context=headrace.Context(threads=threads))
            assert found.dtype == np.int64 and found.tolist() == expected


def test_too_many_splitters_that_reach_far() -> None:
    edges = np.concatenate([[-np.inf], np.arange(32767), [np.inf]])
    with pytest.raises(headrace.OptionError, match="at most 32767 buckets, not 32768"):
        headrace.bucket_counts(np.zeros(3), splitters=edges)
    with pytest.raises(headrace.OptionError, match="must ascend"):
        headrace.bucket_counts(np.zeros(3), splitters=[-np.inf, np.nan, np.inf])
