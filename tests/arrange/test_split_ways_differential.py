"""Every way to split a tile that bench.tune_multisplit measures, under the fiber harness, against NumPy's stable sort."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from headrace.arrange.multisplit.split_gpu import Column, Shapes, Splitter, Ways, bits_pass
from headrace.testing.fibers.launcher import FiberLauncher
from tests.arrange.multisplit_cases import columns_of, keys_of

pytestmark = pytest.mark.fibers

SHAPES = Shapes(
    (256, 4, 1), (256, 6, 1), (256, 4, 1), (256, 2, 1), (256, 4, 1), (256, 4, 1), (256, 1), (64, 2), 2, 2, 3, (2, 2, 1)
)
WAYS = [
    Ways(rank=1),
    Ways(rank=1, ahead=2, to="u32"),
    Ways(keep=1, to="u32", alone=True),
    Ways(keep=2, ahead=1),
    Ways(keep=3, ahead=3, to="u32", alone=True),
    Ways(rank=1, keep=1, ahead=1),
    Ways(rank=1, keep=2, ahead=3, alone=True),
    Ways(rank=1, keep=3, to="u32"),
    Ways(rank=2, stays=True),
    Ways(rank=7, to="u32"),
    Ways(keep=4, ahead=6, to="u32", alone=True, stays=True),
    Ways(rank=6, keep=4, alone=True),
    Ways(rank=3, keep=4, to="u32", alone=True, stays=True),
]


@pytest.mark.parametrize("ways", WAYS, ids=str)
@pytest.mark.parametrize(("dtype", "bits"), [("u4", 5), ("u4", 8), ("u8", 8)])
def test_ways(ways: Ways, dtype: str, bits: int) -> None:
    for count in (1, 1535, 1537, 5001):
        keys = keys_of(dtype, "skewed", count)
        for values in ([], columns_of(count)[:1], columns_of(count)[3:4], columns_of(count)):
            launcher = FiberLauncher("random", count)
            columns = [Column(launcher.put(array), launcher.room(array.nbytes), array.itemsize) for array in (keys, *values)]
            splitter = Splitter(launcher, count, replace(SHAPES, ways=ways))
            splitter.run(bits_pass(f"u{8 * keys.itemsize}", 3, 3 + bits), columns, None)
            own = np.argsort(keys >> 3 & ((1 << bits) - 1), kind="stable")
            for column, array in zip(columns, (keys, *values), strict=True):
                np.testing.assert_array_equal(column.target.array.view(array.dtype), array[own])
