"""Tests the CPU histogram with each instruction set and number of threads against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import headrace
from headrace import _native
from tests.arrange.bucket.expression_cases import CASES
from tests.arrange.histogram.histogram_kernels_cases import (
    DTYPES,
    edge_keys,
    edges_of,
    expected_between,
    expected_even,
    keys_of,
    limits,
)
from tests.isas import EACH_ISA

ISAS = _native.isas()
BLOCK, PIECE = 64, 1 << 16
RANGES = {
    "u4": [(0, 2**32), (1000, 2**31 + 77_777)],
    "i4": [(-(2**31), 2**31), (-70_001, 123_456)],
    "f4": [(-3, 1024)],
    "u2": [(0, 2**16)],
    "i8": [(-(2**63), 2**63), (-(2**40), 2**50 + 1)],
    "f8": [(-3, 1024)],
}


@pytest.mark.covering(default=1)
@pytest.mark.long_except("uniform-*", "skewed-5000-f4", "constant-256-f8", "skewed-65536-u2", "constant-2-u2")
@pytest.mark.parametrize("dtype", RANGES)
@pytest.mark.parametrize("bins", [2, 256, 1000, 5000, 65536])
@pytest.mark.parametrize("kind", ["uniform", "skewed", "constant"])
def test_even(dtype: str, bins: int, kind: str) -> None:
    counts = (1, BLOCK - 1, BLOCK, BLOCK + 1, PIECE + 1) + ((14 * PIECE + 5,) if bins == 1000 else (5 * PIECE - 1,))
    for low, high in RANGES[dtype]:
        for count in counts:
            keys = keys_of(dtype, kind, count, low, high)
            expected = expected_even(keys, low, high, bins)
            for isa in ISAS:
                for threads in (1, 2, 3, 7) if count > 2 * PIECE else (1,):
                    context = headrace.Context(threads=threads, isa=isa)
                    np.testing.assert_array_equal(
                        headrace.bucket_counts(keys, bins, range=(low, high), context=context), expected
                    )


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("dtype", ["u4", "i4", "f4"])
@pytest.mark.parametrize("buckets", [2, 3, 256, 10_000, 65_536])
def test_splitters(isa: str, dtype: str, buckets: int) -> None:
    random = np.random.default_rng(buckets)
    lowest = {"u4": 0, "i4": -(2**31), "f4": -1000}[dtype]
    for width in (3, 5000, 2**31 - 1):
        edges = lowest + np.sort(random.integers(0, width, buckets + 1))
        edges[-1] = lowest + width
        edges = edges.astype(dtype)
        keys = np.concatenate([(lowest + random.integers(0, 2 * width, 400_000)).astype(dtype), edges])
        if dtype == "f4":
            keys[::97], keys[5], keys[6] = np.nan, np.inf, -np.inf
        places = np.searchsorted(edges, keys, "right") - 1
        inside = (places >= 0) & (places < buckets) & ~np.isnan(keys)
        expected = np.bincount(places[inside], minlength=buckets)
        for threads in (1, 3):
            context = headrace.Context(threads=threads, isa=isa)
            np.testing.assert_array_equal(headrace.bucket_counts(keys, splitters=edges, context=context), expected)


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type(isa: str, dtype: str) -> None:
    """Return buckets by shift and by multiplication, and distant and crowded edges, inside a type and at its ends."""
    lowest, highest = (-1000, 1000) if dtype[0] == "f" else limits(dtype)
    middle = (lowest + highest) // 2
    for low, high, bins in ((lowest, highest, 128), (middle - 64, middle + 64, 32), (lowest + 1, middle + 3, 100)):
        keys = np.concatenate([keys_of(dtype, "uniform", 70_001, lowest, highest), edge_keys(dtype, low, high)])
        for threads in (1, 3):
            counts = headrace.bucket_counts(keys, bins, range=(low, high), context=headrace.Context(threads=threads, isa=isa))
            np.testing.assert_array_equal(counts, expected_even(keys, low, high, bins))
    for kind in ("spread", "crowded", "narrow"):
        for buckets in (3, 200):
            if kind == "narrow" and dtype in {"u1", "i1"} and buckets == 200:
                continue
            edges = edges_of(dtype, buckets, kind)
            low, high = edges[0].item(), edges[-1].item()
            keys = np.concatenate([keys_of(dtype, "uniform", 70_001, low, high), edges, edge_keys(dtype, low, high)])
            counts = headrace.bucket_counts(keys, splitters=edges, context=headrace.Context(isa=isa))
            np.testing.assert_array_equal(counts, expected_between(keys, edges))


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("name", CASES)
def test_expressions(isa: str, name: str) -> None:
    expression, plain = CASES[name]
    memory = np.random.default_rng(5).integers(0, 256, 4 * 200_003 + 1, dtype="u1")
    for past in (0, 1):
        keys = np.frombuffer(memory.data, "<u4", 200_003, past)
        values = plain(keys.astype("i8"))
        expected = np.bincount(values[values < 100], minlength=100)
        for threads in (1, 2):
            context = headrace.Context(threads=threads, isa=isa)
            np.testing.assert_array_equal(headrace.bucket_counts(keys, 100, bucket=expression, context=context), expected)


@pytest.mark.parametrize("isa", EACH_ISA)
def test_edges_that_all_lie_in_one_cell(isa: str) -> None:
    edges = np.concatenate([[0], np.arange(1000, 2000), [2**32 - 1]]).astype("u4")
    keys = np.concatenate([np.arange(900, 2100), [0, 2**32 - 2, 2**32 - 1]]).astype("u4")
    expected = np.histogram(keys[:-1].astype("i8"), edges.astype("i8"))[0]
    np.testing.assert_array_equal(headrace.bucket_counts(keys, splitters=edges, context=headrace.Context(isa=isa)), expected)


@pytest.mark.parametrize("isa", EACH_ISA)
def test_bounds_are_exact_at_every_part(isa: str) -> None:
    for low, high, bins in ((0, 2**32, 7), (3, 2**32 - 1, 65535), (10, 10 + 65537, 65536), (5, 8, 3), (0, 2**32, 4096)):
        bounds = [low + -(-i * (high - low) // bins) for i in range(bins + 1)]
        for keys in (np.array(bounds[:-1], "u4"), np.array([bound - 1 for bound in bounds[1:]], "u4")):
            counts = headrace.bucket_counts(keys, bins, range=(low, high), context=headrace.Context(isa=isa))
            assert counts.tolist() == [1] * bins


@pytest.mark.parametrize("isa", EACH_ISA)
def test_keys_anywhere(isa: str) -> None:
    memory = np.random.default_rng(3).integers(0, 256, 4 * 100_000 + 64, dtype="u1")
    for past in (1, 2, 4, 60):
        keys = np.frombuffer(memory.data, "<u4", 100_000, past)
        counts = headrace.bucket_counts(keys, 256, context=headrace.Context(isa=isa))
        np.testing.assert_array_equal(counts, np.bincount(keys >> 24, minlength=256))
