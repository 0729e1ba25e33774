"""Tests the histogram kernels in the fiber harness against NumPy and Python integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from headrace.arrange.bucket.buckets import KEYS, Edges, between, even
from headrace.testing import fibers
from tests.arrange.histogram.histogram_kernels_cases import (
    DTYPES,
    Array,
    edge_keys,
    edges_of,
    expected_between,
    expected_even,
    keys_of,
    limits,
)

CELLS = 1450
THREADS, ROWS = 64, 2


def program(dtype: str) -> Any:
    defines = {"HR_KEY": KEYS[np.dtype(dtype).str], "HR_THREADS": THREADS, "HR_ROWS": ROWS}
    return fibers.program(source="arrange/histogram/histogram.cu", defines=defines)


def tile(dtype: str) -> int:
    return THREADS * ROWS * 16 // np.dtype(dtype).itemsize


def launched_even(keys: Array, buckets: int, description: bytes, window: int = 0, blocks: int = 3) -> Array:
    """Count keys, with packed counters if a window is given. A single block must write the whole result."""
    alone = blocks == 1 and (not window or len(keys) <= tile(keys.dtype.str))
    result = np.full(buckets, 77, "u8") if alone else np.zeros(buckets, "u8")
    if window:
        args = [keys, len(keys), result, buckets, window, description]
        grid = (blocks, -(-buckets // window))
        program(keys.dtype.str).launch("histogram_packed", grid, THREADS, args, shared=window * 2, order="random")
        return result
    replicas = 8 if buckets <= 256 else 1
    args = [keys, len(keys), result, buckets, replicas, description]
    program(keys.dtype.str).launch("histogram", blocks, THREADS, args, shared=(buckets + 1) * replicas * 4, order="random")
    return result


def launched_between(keys: Array, edges: Edges, window: int = 0, kept: bool = True) -> Array:
    buckets, cells = len(edges.given) - 1, edges.cells(CELLS)
    words, result = np.zeros(CELLS + 1, "u4"), np.zeros(buckets, "u8")
    code = program(keys.dtype.str)
    code.launch("histogram_cells", -(-(CELLS + 1) // THREADS), THREADS, [cells, edges.wide, words])
    shared = (CELLS + 4) // 4 * 16
    if window:
        args = [keys, len(keys), result, window, cells, words, edges.wide]
        grid = (2, -(-buckets // window))
        code.launch("histogram_packed_between", grid, THREADS, args, shared=shared + window * 2, order="random")
        return result
    shared += (edges.wide.nbytes + 15) // 16 * 16 * kept + (buckets + 1) * 4
    args = [keys, len(keys), result, 1, int(kept), cells, words, edges.wide]
    code.launch("histogram_between", 3, THREADS, args, shared=shared, order="random")
    return result


def ranges(dtype: str, buckets: int) -> list[tuple[Any, Any]]:
    if dtype[0] == "f":
        return [(0, 1024), (-3.5, 1e-3)]
    low, end = limits(dtype)
    found = [(low, end), (low, end - 1), (low + 1, end), (low + 7, low + 7 + buckets), (0, buckets * 4 - 1), (0, end - 3)]
    return [(a, b) for a, b in found if low <= a < b <= end and b - a >= buckets]


@pytest.mark.covering(default=1)
@pytest.mark.long_except("32-uniform-*", "*-uniform-u4", "*-constant-f4", "32-skewed-u4")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["uniform", "skewed", "constant"])
@pytest.mark.parametrize("buckets", [2, 3, 32, 256, 1000])
def test_even(dtype: str, kind: str, buckets: int) -> None:
    for low, high in ranges(dtype, buckets):
        description = even(np.dtype(dtype), buckets, (low, high))
        for count, blocks in ((1, 1), (3, 2), (tile(dtype) + 1, 1), (2 * tile(dtype) + 13, 3)):
            keys = keys_of(dtype, kind, count + 1, low, high)
            near = edge_keys(dtype, low, high)
            keys[: min(len(near), len(keys))] = near[: len(keys)]
            result = launched_even(keys[1:], buckets, description, blocks=blocks)
            np.testing.assert_array_equal(result, expected_even(keys[1:], low, high, buckets))


@pytest.mark.covering(default=1)
@pytest.mark.long_except("65536-uniform-*", "*-constant-u4")
@pytest.mark.parametrize("dtype", ["u2", "u4", "i8", "f4", "f8"])
@pytest.mark.parametrize("kind", ["uniform", "constant"])
@pytest.mark.parametrize("window", [65536, 32768, 1024])
def test_packed(dtype: str, kind: str, window: int) -> None:
    buckets = 65536 if window > 1024 else 2500
    low, high = (-1, 3) if dtype[0] == "f" else limits(dtype)
    many = 150_000 if kind == "constant" else 5000  # enough that counters are swept
    for count, blocks in ((many, 2), (many, 1), (tile(dtype) - 3, 1), (tile(dtype) + 30, 1)):
        keys = keys_of(dtype, kind, count, low, high)
        result = launched_even(keys, buckets, even(np.dtype(dtype), buckets, (low, high)), window, blocks)
        np.testing.assert_array_equal(result, expected_even(keys, low, high, buckets))


@pytest.mark.long_except("31-spread-*", "*-crowded-u4", "*-narrow-f4")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["spread", "crowded", "narrow"])
@pytest.mark.parametrize("buckets", [2, 31, 256, 3000])
def test_between(dtype: str, kind: str, buckets: int) -> None:
    if kind == "narrow" and dtype[1] == "1" and buckets > 127:
        pytest.skip("there are no so many values")
    edges = edges_of(dtype, buckets, kind)
    low, high = edges[0].item(), edges[-1].item()
    count = tile(dtype) + 999
    beside = (edges.astype("O") - 1) if dtype[0] != "f" else np.nextafter(edges, edges.dtype.type(-np.inf))
    beside = np.array([k for k in beside.tolist() if dtype[0] == "f" or limits(dtype)[0] <= k], dtype)
    keys = np.concatenate([keys_of(dtype, "uniform", count, low, high), edges, beside, edge_keys(dtype, low, high)])
    expected = expected_between(keys, edges)
    described = between(np.dtype(dtype), edges)
    for kept in (True, False):
        np.testing.assert_array_equal(launched_between(keys, described, kept=kept), expected)
    for window in (2048, 1024) if buckets > 256 else (320,):
        np.testing.assert_array_equal(launched_between(keys, described, window), expected)


def test_cells_are_seldom_crowded() -> None:
    for dtype in ("u4", "i4", "f4"):
        edges = between(np.dtype(dtype), edges_of(dtype, 256, "spread"))
        words = np.zeros(CELLS * 10 + 1, "u4")
        program(dtype).launch("histogram_cells", -(-len(words) // THREADS), THREADS, [edges.cells(CELLS * 10), edges.wide, words])
        assert np.count_nonzero(words >> 31) < 256 / 8
