"""Tests the public scan, reduce and select on the CPU against NumPy, with several numbers of threads."""

from __future__ import annotations

import numpy as np
import pytest

import headrace
from headrace import _native
from headrace.core.errors import OptionError
from tests.primitives.primitives_cases import items_of, scanned
from tests.primitives.scan_cases import CASES

SIZES = (1, 2, 1000, (1 << 17) - 1, (1 << 17) + 3, 700_001)


@pytest.mark.covering(default=2)
@pytest.mark.parametrize(("join", "item"), CASES)
@pytest.mark.parametrize("threads", [1, 3])
def test_scan_and_reduce(join: str, item: str, threads: int) -> None:
    context = headrace.Context(threads=threads)
    for count in SIZES:
        items = items_of(join, item, count)
        expected = scanned(join, items)
        np.testing.assert_array_equal(headrace.scan(items, join.lower(), context=context), expected)
        shifted = headrace.scan(items, join.lower(), exclusive=True, context=context)
        np.testing.assert_array_equal(shifted[1:], expected[:-1])
        whole = sum(items.tolist()) if join == "Sum" and items.itemsize == 4 else expected[-1]  # sums are 64 bits wide
        assert headrace.reduce(items, join.lower(), context=context).tolist() == [whole]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_native_twin_keeps_the_order_of_maps(threads: int) -> None:
    items = items_of("Compose", "u32", 400_003)  # 3 items are left over from the runs of a piece
    expected, out, one = scanned("Compose", items), np.empty_like(items), np.empty(1, items.dtype)
    _native.scan(("Compose", "u32"), (items.ctypes.data, out.ctypes.data, len(items)), False, "", threads)
    np.testing.assert_array_equal(out, expected)
    _native.reduce(("Compose", "u32"), (items.ctypes.data, one.ctypes.data, len(items)), "", threads)
    assert one[0] == expected[-1]


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "i8"])
@pytest.mark.parametrize("share", [0, 0.1, 1])
def test_select(dtype: str, share: float) -> None:
    random = np.random.default_rng(7)
    for count in (0, 1, 999, 300_001):
        items, mask = random.integers(0, 100, count).astype(dtype), random.random(count) < share
        for threads in (1, 3):
            np.testing.assert_array_equal(headrace.select(items, mask, context=headrace.Context(threads=threads)), items[mask])
        np.testing.assert_array_equal(headrace.select(items, mask.astype("u1") * 200), items[mask])


def test_of_nothing() -> None:
    none = np.empty(0, "u4")
    assert headrace.scan(none).tolist() == []
    assert headrace.reduce(none).tolist() == [0]
    with pytest.raises(OptionError, match="there is no min"):
        headrace.reduce(none, "min")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: headrace.scan(np.zeros(3, "M8[s]")), "of type '<M8"),
        (lambda: headrace.scan(np.zeros(3), dtype="word"), "dtype must be a type of numbers"),
        (lambda: headrace.scan(np.zeros((2, 3)), axis=2), "axis must be an integer from -2 to 1"),
        (lambda: headrace.cumulative_sum(np.zeros((2, 3))), "x has 2 dimensions; pass axis="),
        (lambda: headrace.scan(np.zeros(3, "i4"), "mean"), "unknown operator 'mean'"),
        (lambda: headrace.scan({1, 2}), "items must be an array"),
        (lambda: headrace.select(np.zeros(3), np.ones(2, bool)), "2 flags for 3 items"),
        (lambda: headrace.select(np.zeros(3), np.ones(3)), "mask must be of bools"),
    ],
)
def test_misuse(call, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        call()
