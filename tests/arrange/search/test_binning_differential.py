"""Tests histograms with NumPy's rules against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import headrace
from headrace import OptionError

BINS: list[tuple[Any, ...]] = [
    (), (7,), (1,), ([0, 1, 5],), ([3, 3, 4.5, 1e3],), (5, (0, 256)), (100, (10, 20)), ([-1.5, 0, 300],), ([10, 10],),
    (20, (3, 50), True), (np.linspace(0, 90, 400),),
]  # fmt: skip


def check(keys: np.ndarray, *args: Any, **options: Any) -> None:
    found = headrace.histogram(keys, *args, **options)
    with np.errstate(all="ignore"):
        counts, edges = np.histogram(keys, *args, **options)
    np.testing.assert_allclose(found.counts, counts, rtol=1e-12)
    np.testing.assert_array_equal(found.edges, edges)
    assert found.counts.dtype == counts.dtype and found.edges.dtype == edges.dtype


@pytest.mark.covering(default=1)
@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"])
@pytest.mark.parametrize("bins", BINS, ids=lambda bins: str(bins)[:30])
def test_histogram(dtype: str, bins: tuple[Any, ...]) -> None:
    for count in (0, 1, 2, 50, 3000):
        random = np.random.default_rng(count)
        keys = random.integers(0, 100, count).astype(dtype)
        weights = random.integers(0, 9, count).astype(float)
        check(keys, *bins)
        check(keys, *bins, weights=weights)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_keys_at_the_edges(dtype: str) -> None:
    edges = np.linspace(-3, 5, 37)
    with np.errstate(all="ignore"):
        given = np.concatenate([edges, np.nextafter(edges, -9), np.nextafter(edges, 9), [np.nan, np.inf, -np.inf]]).astype(dtype)
    check(given, edges)
    check(given, 36, (-3, 5))
    check(given, [-1, 0.1, np.inf])
    check(given, [-np.inf, 0.1, 2])


def test_extremes_of_integers() -> None:
    check(np.array([2**64 - 1, 0, 5], "u8"), 4)
    check(np.array([255, 254, 0], "u1"), 5, (0, 255))
    check(np.array([-128, 127, 3], "i1"), [-128, 0, 127])
    check(np.array([-128, 127, 3], "i1"), [-1000, -500, 500, 1000])
    check(np.array([-128, 127, 3], "i1"), [500, 600])


@pytest.mark.parametrize("edges", [[0, 2**32], [0, 10, 2**36], [5, 2**40, 2**41], [1, 2**33 - 1, 2**50]], ids=str)
def test_keys_beyond_wide_edges(edges: list[int]) -> None:
    """Keys up to twice the last edge have one bit more than those between the edges."""
    top = edges[-1]
    keys = np.array([0, 1, 5, top - 1, top, top + 1, top + 12345, 2 * top - 1, 2 * top, 2**62] * 200, "u8")
    check(keys, edges)
    check(keys.astype("i8"), edges)


@pytest.mark.parametrize("dtype", ["i8", "u8"])
def test_integers_that_floats_round(dtype: str) -> None:
    """NumPy compares integers with edges of floats as floats; no key is lost at the last edge."""
    random = np.random.default_rng(1)
    for base in (2**52, 2**53, 2**62, 2**63 - 2**14, *([2**63, 2**64 - 2**14] if dtype == "u8" else [-(2**62), -(2**63)])):
        keys = np.array([base + int(step) for step in random.integers(0, 2**14, 3000)], dtype)
        low, high = float(keys.min()), float(keys.max())
        for bins in (1, 2, 7):
            check(keys, np.linspace(low, high, bins + 1))
            assert headrace.histogram(keys, bins).counts.sum() == len(keys)
        check(keys, [float(key) for key in np.unique(keys)[::100]])
        check(keys, np.unique(keys)[::100])
    check(np.array([0, 2**62 + 1], dtype), 2)
    check(np.array([2**62, 2**62 + 2048], dtype), 2)


def test_other_forms() -> None:
    assert headrace.histogram([[1, 2], [3, 9]], 2).counts.tolist() == [3, 1]
    assert headrace.histogram([True, False, True], 2).counts.tolist() == [1, 2]
    assert headrace.histogram(np.array([1, 2.5], "f2"), 2, (0, 4)).counts.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (([1.0], 0), "bins must be"),
        (([1.0], 70_000), "bins must be"),
        (([1.0], [3, 1]), "bins must ascend"),
        (([1.0], "auto"), "bins must be"),
        (([1.0, np.nan],), "not finite; pass range="),
        (([1.0], 3, (2, 1)), "range must be"),
        (([1.0], 3, 2), "range must be"),
        (([1.0], 3, None, False, [1, 2]), "weights has 2 items for 1"),
        (([2**62, 2**62 + 1], 2), "bins=2 are too many for keys between"),
        (([1.0, 1.0000000000000002], 10), "bins=10 are too many for keys between"),
        (([-1e308, 1e308],), "bins=10 are too many for keys between"),
    ],
)
def test_misuse(args: tuple[Any, ...], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        headrace.histogram(*args)
