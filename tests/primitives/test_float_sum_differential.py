"""Tests sums of floats: the order of float_sum.hpp in NumPy against `reduce` and the kernel in the fiber harness."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

import headrace
from headrace.testing import fibers
from tests.primitives.float_sum_cases import floats_of

PIECE, LANES = 4096, 128
SIZES = (1, 2, 127, 129, 4095, 4096, 4097, 3 * 4096 + 77, 40_000)


def summed(items: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return the sum in the order of primitives/float_sum.hpp, as an array of one item."""
    while True:
        pieces = -(-len(items) // PIECE)
        padded = np.full(pieces * PIECE, -0.0, items.dtype)
        padded[: len(items)] = items
        rows = padded.reshape(pieces, PIECE // LANES, LANES)
        lanes = np.full((pieces, LANES), -0.0, items.dtype)
        for row in range(PIECE // LANES):
            lanes = lanes + rows[:, row]
        while lanes.shape[1] > 1:
            half = lanes.shape[1] // 2
            lanes = lanes[:, :half] + lanes[:, half:]
        items = lanes[:, 0]
        if pieces == 1:
            return np.where(np.isnan(items), np.array(np.nan, items.dtype), items)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_reduce(dtype: str, threads: int) -> None:
    context = headrace.Context(threads=threads)
    for count in (*SIZES, PIECE * 70 + 1):
        items = floats_of(dtype, count)
        assert headrace.reduce(items, context=context).tobytes() == summed(items).tobytes()


@pytest.mark.long
def test_reduce_with_three_levels() -> None:
    items = floats_of("f4", PIECE * PIECE + 5 * PIECE + 3)
    assert headrace.reduce(items).tobytes() == summed(items).tobytes()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_the_promised_error(dtype: str) -> None:
    for count, levels in ((4096, 1), (1_000_000, 2)):
        items = floats_of(dtype, count)
        exact = math.fsum(items.tolist())
        bound = 38 * levels * np.finfo(dtype).eps / 2 * math.fsum(np.abs(items).tolist())
        assert abs(float(headrace.reduce(items)[0]) - exact) <= bound


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_what_is_no_number(dtype: str) -> None:
    quiet = np.array([np.nan], dtype).tobytes()
    for items in ([np.inf, -np.inf], [-np.nan, 1], [1, np.inf, np.nan], [-np.inf] * 4000 + [np.inf] * 4000):
        assert headrace.reduce(np.array(items, dtype)).tobytes() == quiet
    assert headrace.reduce(np.array([np.inf, 1], dtype)).tolist() == [np.inf]
    for items, wanted in (([], 0.0), ([-0.0], -0.0), ([-0.0, 0.0], 0.0), ([-0.0] * 5000, -0.0)):
        assert headrace.reduce(np.array(items, dtype)).tobytes() == np.array([wanted], dtype).tobytes()


@pytest.mark.parametrize(("item", "dtype"), [("float", "f4"), ("double", "f8")])
@pytest.mark.parametrize("order", ["forward", "reverse", "random"])
def test_kernel(item: str, dtype: str, order: str) -> None:
    program = fibers.program(source="primitives/float_sum.cu", defines={"HR_ITEM": item, "HR_THREADS": 64, "HR_ROWS": 4})
    ended = np.zeros(2, "u4")
    for count in SIZES:
        items = floats_of(dtype, count + 1)
        firsts = -(-count // PIECE)
        for at in (0, 1):
            pieces, result = np.empty(-(-firsts // 4) * 4 + 1, dtype), np.empty(1, dtype)
            args = [items[at : count + at], count, pieces, ended, result]
            program.launch("float_sum", -(-firsts // 2), 64, args, order=order, seed=count)
            assert result.tobytes() == summed(items[at : count + at]).tobytes()
            assert ended.tolist() == [0, 0]


@pytest.mark.long
def test_kernel_with_three_levels() -> None:
    program = fibers.program(
        source="primitives/float_sum.cu", defines={"HR_ITEM": "float", "HR_THREADS": 64, "HR_ROWS": 4}, build="fast"
    )
    count = PIECE * PIECE + 5 * PIECE + 3
    items, firsts = floats_of("f4", count), PIECE + 6
    pieces, result, ended = np.empty(-(-firsts // 4) * 4 + 2, "f4"), np.empty(1, "f4"), np.zeros(3, "u4")
    program.launch("float_sum", -(-firsts // 2), 64, [items, count, pieces, ended, result])
    assert result.tobytes() == summed(items).tobytes()
    assert ended.tolist() == [0, 0, 0]
