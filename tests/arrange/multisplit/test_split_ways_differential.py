"""Tests every way to split a tile: keys alone, values together with keys or after them, positions of 32 and of 64 bits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from headrace.arrange.gather.moved_items import MovedItems
from headrace.arrange.multisplit.gpu.launches import Splitter, bits_pass
from headrace.arrange.multisplit.gpu.tuning import SMALL_TUNING, BlockTuning
from headrace.testing.fibers.launcher import FiberLauncher
from tests.arrange.multisplit.multisplit_cases import columns_of, keys_of

pytestmark = pytest.mark.fibers

TUNING = replace(SMALL_TUNING, with_values=BlockTuning(256, 6, 1), long_keys_with_values=BlockTuning(256, 2, 1))


@pytest.mark.long_except("u4-5-u32", "u8-8-u64")
@pytest.mark.parametrize("max_keys_u32", [0, 1 << 20], ids=["u64", "u32"])
@pytest.mark.parametrize(("dtype", "bits"), [("u4", 5), ("u4", 8), ("u8", 8)])
def test_ways(max_keys_u32: int, dtype: str, bits: int) -> None:
    for count in (1, 1535, 1537, 5001):
        keys = keys_of(dtype, "skewed", count)
        columns_here = columns_of(count)
        for values in ([], columns_here[:1], columns_here[3:4], columns_here, [keys], [keys, keys]):
            launcher = FiberLauncher("random", count)
            columns = [
                MovedItems(launcher.put(array), launcher.allocate(array.nbytes), array.itemsize) for array in (keys, *values)
            ]
            splitter = Splitter(launcher, count, replace(TUNING, max_keys_u32=max_keys_u32))
            splitter.run(bits_pass(f"u{8 * keys.itemsize}", 3, 3 + bits), columns, None)
            own = np.argsort(keys >> 3 & ((1 << bits) - 1), kind="stable")
            for column, array in zip(columns, (keys, *values), strict=True):
                np.testing.assert_array_equal(column.target.array.view(array.dtype), array[own])
