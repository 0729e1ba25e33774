"""Tests running sums of floats: the order of float_scan.hpp in NumPy against `scan` and the kernels in the fiber harness."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

import headrace
from headrace.primitives.float_scan import scan_on
from headrace.testing.fibers.launcher import FiberLauncher
from tests.primitives.float_sum_cases import floats_of

GROUP = 64
SIZES = (1, 2, 63, 64, 65, 4095, 4096, 4097, 20_000)


def summed(items: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return running sums in the order of primitives/float_scan.hpp."""
    groups = -(-len(items) // GROUP)
    padded = np.full(groups * GROUP, -0.0, items.dtype)
    padded[: len(items)] = items
    rows = padded.reshape(groups, GROUP)
    local = rows.copy()
    for column in range(1, GROUP):
        local[:, column] = local[:, column - 1] + rows[:, column]
    if groups > 1:
        local[1:] = summed(local[:, -1])[:-1, None] + local[1:]
    found = local.reshape(-1)[: len(items)]
    return np.where(np.isnan(found), np.array(np.nan, items.dtype), found)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_scan(dtype: str, threads: int) -> None:
    context = headrace.Context(threads=threads)
    for count in (*SIZES, GROUP**3 + 1):
        items = floats_of(dtype, count)
        expected = summed(items)
        assert headrace.scan(items, context=context).tobytes() == expected.tobytes()
        exclusive = headrace.scan(items, exclusive=True, context=context)
        assert exclusive.tobytes() == np.concatenate([np.zeros(1, dtype), expected[:-1]]).tobytes()
        initial = headrace.cumulative_sum(items, include_initial=True, context=context)
        assert initial.tobytes() == np.concatenate([np.zeros(1, dtype), expected]).tobytes()


def test_values_that_are_no_numbers() -> None:
    items = np.array([-0.0, 1, np.inf, 2, -np.inf, -np.nan, 3])
    quiet = float("nan")
    assert headrace.scan(items).tobytes() == np.array([-0.0, 1, np.inf, np.inf, quiet, quiet, quiet]).tobytes()
    assert headrace.scan(np.full(1000, -0.0)).tobytes() == np.full(1000, -0.0).tobytes()
    assert headrace.scan(np.zeros(0)).tolist() == []
    assert headrace.cumulative_sum(np.zeros(0), include_initial=True).tolist() == [0.0]


def test_the_promised_error() -> None:
    items = floats_of("f8", 50_000)
    found, size = headrace.scan(items), 0.0
    for at in (10, 5000, 49_999):
        size = math.fsum(np.abs(items[: at + 1]).tolist())
        assert abs(float(found[at]) - math.fsum(items[: at + 1].tolist())) <= 64 * 3 * 2.0**-53 * size


@pytest.mark.fibers
@pytest.mark.parametrize(("item", "dtype"), [("float", "f4"), ("double", "f8")])
@pytest.mark.parametrize("order", ["forward", "reverse", "random"])
def test_kernels(item: str, dtype: str, order: str) -> None:
    launcher = FiberLauncher(order, 7)
    for count in (1, 63, 64, 65, 4097, 9000):
        items = floats_of(dtype, count)
        expected = summed(items)
        for shift, length in ((0, count), (1, count), (1, count + 1)):
            target = launcher.allocate(length * items.itemsize)
            scan_on(launcher, item, launcher.put(items), target, (shift, length))
            wanted = np.concatenate([np.zeros(shift, dtype), expected])[:length]
            assert launcher.fetch(target).tobytes() == wanted.tobytes()
