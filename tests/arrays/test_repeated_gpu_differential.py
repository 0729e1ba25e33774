"""Compares calls that repeat earlier ones on a GPU, with other keys in other memory and streams, with NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import headrace
from headrace import buckets

pytestmark = pytest.mark.gpu
COUNTS = [1, 1000, 65_536, 300_001, (1 << 21) + 7, 1 << 22]
CALLS = 4
"""The first launches directly, the second records, the third is kept, the fourth repeats it."""


def on_card(library: str):
    """Return functions that copy an array to the GPU by a library, and back."""
    if library == "cupy":
        cupy = pytest.importorskip("cupy", reason="CuPy is optional")
        return cupy.asarray, cupy.asnumpy
    torch = pytest.importorskip("torch", reason="PyTorch is optional")
    return lambda array: torch.from_numpy(array).cuda(), lambda array: array.cpu().numpy()


@pytest.mark.parametrize("library", ["cupy", "torch"])
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("dtype", ["i4", "i8", "f4", "f8"])
def test_repeated_sorts_and_scans(library: str, count: int, dtype: str) -> None:
    there, back = on_card(library)
    random = np.random.default_rng(count)
    for number in range(CALLS):
        keys = random.integers(-(1 << 31), 1 << 31, count).astype(dtype)
        values = random.integers(0, 1 << 31, count).astype("i4")
        given, moved = there(keys), there(values)
        order = np.argsort(keys, kind="stable")
        pairs = headrace.sort_pairs(given, moved)
        assert np.array_equal(back(headrace.sort(given)), keys[order]), number
        assert np.array_equal(back(headrace.sort(given, descending=True)), keys[order][::-1]), number
        assert np.array_equal(back(headrace.argsort(given)), order), number
        assert np.array_equal(back(pairs.keys), keys[order]) and np.array_equal(back(pairs.values), values[order]), number
        assert np.array_equal(back(headrace.scan(given)), headrace.scan(keys)), number
        assert np.array_equal(back(headrace.scan(given, "max", exclusive=True)), headrace.scan(keys, "max", exclusive=True))
        assert np.array_equal(back(given), keys)
        assert headrace.sort(given, out=given) is given and np.array_equal(back(given), keys[order])


@pytest.mark.parametrize("library", ["cupy", "torch"])
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("dtype", ["u1", "i4", "f8"])
def test_sorts_of_a_new_length_in_each_call(library: str, count: int, dtype: str) -> None:
    there, back = on_card(library)
    random = np.random.default_rng(count)
    for number in range(12):
        keys = random.integers(0, 1 << 31, count + number * (1 + count // 100)).astype(dtype)
        values = np.arange(len(keys), dtype="i4")
        given, moved, order = there(keys), there(values), np.argsort(keys, kind="stable")
        pairs = headrace.sort_pairs(given, moved)
        assert np.array_equal(back(headrace.sort(given)), keys[order]), number
        assert np.array_equal(back(headrace.argsort(given)), order), number
        assert np.array_equal(back(pairs.keys), keys[order]) and np.array_equal(back(pairs.values), values[order]), number
        assert headrace.sort(given, out=given) is given and np.array_equal(back(given), keys[order])


@pytest.mark.parametrize("library", ["cupy", "torch"])
@pytest.mark.parametrize("count", COUNTS)
def test_repeated_splits(library: str, count: int) -> None:
    there, back = on_card(library)
    random = np.random.default_rng(count)
    for function in (buckets.bits(0, 5), buckets.modulo(7), buckets.hash(3)):
        for _ in range(CALLS):
            keys, values = random.integers(0, 1 << 31, count).astype("i4"), np.arange(count, dtype="i8")
            split, expected = (
                headrace.multisplit(there(keys), function, there(values)),
                headrace.multisplit(keys, function, values),
            )
            for ours, wanted in zip(split, expected, strict=True):
                assert np.array_equal(back(ours), wanted)
            assert np.array_equal(back(headrace.multisplit(there(keys), function).keys), expected.keys)


def test_a_repeated_call_runs_in_the_current_stream() -> None:
    cupy = pytest.importorskip("cupy", reason="CuPy is optional")
    for number in range(2 * CALLS):
        with cupy.cuda.Stream(non_blocking=number % 2 == 1):
            keys = cupy.arange(1 << 20, dtype="u4") * np.uint32(2_654_435_761 + 2 * number)
            assert np.array_equal(cupy.asnumpy(headrace.sort(keys)), np.sort(cupy.asnumpy(keys)))
            view = keys[1:]
            assert np.array_equal(cupy.asnumpy(headrace.sort(view)), np.sort(cupy.asnumpy(view)))
