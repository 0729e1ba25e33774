"""Sorts on a GPU, by their public functions, against those on the CPU."""

from __future__ import annotations

import numpy as np
import pytest

import headrace
from headrace import Context
from headrace.arrange.sort.gpu.tuning import SortTuning
from headrace.arrays.device_array import DeviceArray
from tests.arrange.sort.sort_gpu_cases import columns_of, entropy_keys, keys_of, words

pytestmark = pytest.mark.gpu

COUNTS = [0, 1, 100, 4097, 8193, 1 << 14, 30_000, (1 << 15) + 1, (1 << 17) + 1, 300_000, 700_000, (1 << 21) - 3, (1 << 22) + 5]
"""Counts that take each sort of a single launch, and sorts of many launches."""
ON_GPU = Context(device="cuda")


def host(array):
    return array.to_numpy() if isinstance(array, DeviceArray) else np.asarray(array)


@pytest.mark.parametrize("dtype", ["u1", "i2", "f2", "u4", "f4", "i8", "f8", "M8[us]"])
@pytest.mark.parametrize("descending", [False, True])
def test_types(dtype: str, descending: bool) -> None:
    for count in COUNTS:
        keys = keys_of(dtype, count)
        expected = headrace.sort(keys, descending=descending)
        np.testing.assert_array_equal(words(host(headrace.sort(keys, descending=descending, context=ON_GPU))), words(expected))
        places = headrace.argsort(keys, descending=descending)
        np.testing.assert_array_equal(host(headrace.argsort(keys, descending=descending, context=ON_GPU)), places)
        values = columns_of(count, 2)
        pairs = headrace.sort_pairs(keys, values, descending=descending, context=ON_GPU)
        for made, given in zip(pairs.values, values, strict=True):
            np.testing.assert_array_equal(host(made), given[places])


@pytest.mark.parametrize("dtype", ["u1", "u4", "f8"])
def test_in_place(dtype: str) -> None:
    for count in COUNTS[1:]:
        keys, (numbers, floats, _, bytes_) = keys_of(dtype, count), columns_of(count, 4)
        values = [numbers, floats, bytes_]
        given, carried = DeviceArray.from_host(keys), [DeviceArray.from_host(array) for array in values]
        places = headrace.argsort(keys)
        headrace.sort_pairs(given, carried, out=(given, carried))
        for made, array in zip((given, *carried), (keys, *values), strict=True):
            np.testing.assert_array_equal(words(host(made)), words(array[places]))
        alone = DeviceArray.from_host(keys)
        headrace.sort(alone, out=alone)
        np.testing.assert_array_equal(words(host(alone)), words(headrace.sort(keys)))


@pytest.mark.parametrize("dtype", ["u4", "u8"])
@pytest.mark.parametrize("ands", [-1, *range(11)])
def test_entropies(dtype: str, ands: int) -> None:
    keys = entropy_keys(dtype, (1 << 24) + 77, ands)
    expected = np.sort(keys)
    for strategy in (None, "digits", "hybrid"):
        np.testing.assert_array_equal(host(headrace.sort(keys, strategy=strategy, context=ON_GPU)), expected)


@pytest.mark.parametrize("dtype", ["i4", "f8"])
def test_values_that_many_keys_have(dtype: str) -> None:
    """Heavy hitters are extracted from `min_bytes` bytes on: one value on half of the keys, and 63 on nine tenths."""
    min_bytes = SortTuning().heavy_hitters.min_bytes
    for heavy, share in ((1, 0.5), (63, 0.9)):
        random = np.random.default_rng(heavy)
        count = min_bytes // np.dtype(dtype).itemsize
        keys = random.integers(-(2**31), 2**31, count).astype(dtype)
        is_heavy = random.random(count) < share
        keys[is_heavy] = (random.integers(0, heavy, count) * 1_234_567 - 50_000_000)[is_heavy]
        np.testing.assert_array_equal(host(headrace.sort(keys, context=ON_GPU)), np.sort(keys))
        fewer = keys[: min_bytes // (2 * keys.itemsize)]
        places = headrace.argsort(fewer)
        pairs = headrace.sort_pairs(fewer, [np.arange(len(fewer)).astype(f"i{keys.itemsize}")], context=ON_GPU)
        np.testing.assert_array_equal(host(pairs.keys), fewer[places])
        np.testing.assert_array_equal(host(pairs.values[0]), places)


@pytest.mark.parametrize("kind", ["sorted", "reversed", "rising", "constant", "few"])
def test_orders(kind: str) -> None:
    keys = keys_of("i4", 3_000_000, kind)
    places = np.argsort(keys, kind="stable")
    np.testing.assert_array_equal(host(headrace.argsort(keys, context=ON_GPU)), places)
    assert headrace.is_sorted(keys, context=ON_GPU) == headrace.is_sorted(keys)


@pytest.mark.parametrize("dtype", ["u1", "f4", "i8"])
def test_top_k(dtype: str) -> None:
    keys = keys_of(dtype, 2_000_000)
    for k in (1, 1000, 70_000):
        for largest in (False, True):
            expected, found = headrace.top_k(keys, k, largest=largest), headrace.top_k(keys, k, largest=largest, context=ON_GPU)
            np.testing.assert_array_equal(host(found.indices), expected.indices)
            np.testing.assert_array_equal(words(host(found.keys)), words(expected.keys))
