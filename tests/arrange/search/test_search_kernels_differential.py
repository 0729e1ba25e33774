"""Tests the kernels of search.cu and distinct_runs.cu in the fiber harness against NumPy."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from headrace.arrange.search.search_gpu import launch_runs, launch_search
from headrace.arrange.sort.key_order import KeyOrder
from headrace.testing.fibers.launcher import FiberLauncher
from tests.arrange.search.search_cases import keys_of

pytestmark = pytest.mark.fibers

THREADS = 64
TILE = 4 * THREADS
SIZES = (1, 31, TILE - 1, TILE, TILE + 1, 3 * TILE + 7)


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("dtype", ["u1", "i2", "f2", "u4", "f4", "i8", "f8", "M8[s]"])
@pytest.mark.parametrize("order", ["forward", "random"])
def test_positions(dtype: str, order: str) -> None:
    launcher = FiberLauncher(order, 5)
    rule, width = KeyOrder.of(np.dtype(dtype).str).packed, np.dtype(dtype).itemsize
    for there in (0, 1, 2, 3, 64, 1000):
        ascending = np.sort(keys_of(dtype, there))
        for count in SIZES[::2]:
            keys = keys_of(dtype, count)
            for side, after_equal in (("left", 0), ("right", 1)):
                found = launcher.allocate(count * 8)
                options = struct.pack("<2I", after_equal, order == "random")
                args = (launcher.put(ascending), there, launcher.put(keys), count, rule, options, found)
                launch_search(launcher, "search_keys", width, args, threads=THREADS)
                expected = np.searchsorted(ascending, keys, side)
                expected = there - expected if order == "random" else expected
                np.testing.assert_array_equal(launcher.fetch(found).view(np.int64), expected)


@pytest.mark.parametrize("dtype", ["u1", "i4", "f4", "u8", "f8", "m8[ns]"])
def test_runs(dtype: str) -> None:
    launcher = FiberLauncher("random", 3)
    rule, width = KeyOrder.of(np.dtype(dtype).str).packed, np.dtype(dtype).itemsize
    for count in SIZES:
        keys = np.sort(keys_of(dtype, count))
        values, begins, counts = np.unique(keys, return_index=True, return_counts=True)
        found = launcher.allocate(count)
        launch_search(launcher, "mark_runs", width, (launcher.put(keys), count, rule, found), threads=THREADS)
        assert np.flatnonzero(launcher.fetch(found)).tolist() == begins.tolist()
        lengths = launcher.allocate(len(values) * 8)
        args = (launcher.put(begins.astype("i8")), len(values), count, lengths)
        launch_search(launcher, "measure_runs", 8, args, threads=THREADS)
        np.testing.assert_array_equal(launcher.fetch(lengths).view(np.int64), counts)


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("dtype", ["u1", "i2", "f2", "i4", "f4", "u8", "f8", "m8[ns]"])
@pytest.mark.parametrize("order", ["forward", "reverse", "random"])
def test_first_keys_of_runs(dtype: str, order: str) -> None:
    launcher = FiberLauncher(order, 7, resident_blocks=1 if order == "reverse" else 4)
    rule, width = KeyOrder.of(np.dtype(dtype).str).packed, np.dtype(dtype).itemsize
    tile = THREADS * 4 * 16 // width
    for count in (1, 2, 31, tile - 1, tile, tile + 1, 9 * tile + 5):
        for keys in (keys_of(dtype, count), np.zeros(count, dtype), np.arange(count).astype(dtype)):
            ascending = np.sort(keys)
            distinct = launcher.allocate(count * width)
            found = launch_runs(launcher, launcher.put(ascending), count, rule, distinct, threads=THREADS)
            expected = np.unique(ascending, return_index=True)[1]
            assert launcher.fetch(distinct)[: found * width].tobytes() == ascending[expected].tobytes()
