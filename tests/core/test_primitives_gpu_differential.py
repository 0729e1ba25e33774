"""The public scan, reduce, select and histogram on a GPU: the same answers as on the CPU, to the bit."""

from __future__ import annotations

import numpy as np
import pytest

import headrace
from headrace.core.device_array import DeviceArray
from headrace.core.device_memory import device_pool
from headrace.core.gpu import gpu
from tests.arrange.test_histogram_kernels_differential import DTYPES, edge_keys, edges_of, keys_of, limits
from tests.core.test_primitives_differential import items_of
from tests.core.test_scan_differential import CASES

pytestmark = pytest.mark.gpu

SIZES = (1, 3, 1023, 4095, 4096, 4097, 100_003, 5_000_011)


def on_gpu(array):
    return DeviceArray.from_host(array, gpu())


@pytest.mark.parametrize(("join", "item"), CASES)
def test_scan_and_reduce(join, item):
    for count in SIZES:
        items = items_of(join, item, count)
        moved = on_gpu(items)
        for exclusive in (False, True):
            result = headrace.scan(moved, join.lower(), exclusive=exclusive).to_numpy()
            assert result.tobytes() == headrace.scan(items, join.lower(), exclusive=exclusive).tobytes()
        assert headrace.reduce(moved, join.lower()).to_numpy().tobytes() == headrace.reduce(items, join.lower()).tobytes()


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "i8"])
@pytest.mark.parametrize("share", [0, 0.1, 1])
def test_select(dtype, share):
    random = np.random.default_rng(3)
    for count in (0, *SIZES):
        items, mask = random.integers(0, 100, count).astype(dtype), (random.random(count) < share).astype("u1")
        np.testing.assert_array_equal(headrace.select(on_gpu(items), on_gpu(mask)).to_numpy(), items[mask != 0])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["uniform", "skewed", "constant"])
def test_histogram(dtype, kind):
    low, high = (-3, 1024) if dtype[0] == "f" else limits(dtype)
    for count in SIZES:
        keys = np.concatenate([keys_of(dtype, kind, count, low, high), edge_keys(dtype, low, high)])
        moved = on_gpu(keys)
        for bins in (2, 3, 32, 256, 2048, 10_000, 65536):
            if dtype[0] == "f" or bins <= high - low:
                result = headrace.histogram(moved, bins, range=(low, high)).to_numpy()
                np.testing.assert_array_equal(result, headrace.histogram(keys, bins, range=(low, high)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["spread", "crowded"])
def test_histogram_between(dtype, kind):
    for buckets in (2, 256, 3000, 50_000):
        edges = edges_of(dtype, buckets, kind)
        for count in SIZES:
            keys = np.concatenate([keys_of(dtype, "uniform", count, edges[0].item(), edges[-1].item()), edges])
            result = headrace.histogram(on_gpu(keys), splitters=edges).to_numpy()
            np.testing.assert_array_equal(result, headrace.histogram(keys, splitters=edges))


def test_splitters_on_the_gpu():
    keys = np.random.default_rng(2).integers(0, 2**32, 100_003, dtype="u4")
    edges, context = np.sort(keys[:257]), headrace.Context()
    result = headrace.histogram(on_gpu(keys), splitters=on_gpu(edges), context=context).to_numpy()
    np.testing.assert_array_equal(result, headrace.histogram(keys, splitters=edges))
    assert (context.crossings.to_host, context.crossings.to_gpu) == (edges.nbytes, edges.nbytes)
    with pytest.raises(headrace.OptionError, match="nothing is copied between devices unasked"):
        headrace.histogram(keys, splitters=on_gpu(edges))


def test_a_histogram_keeps_to_the_memory_limit_and_leaves_nothing():
    keys, edges = on_gpu(np.arange(1000, dtype="u4")), np.arange(0, 1001, 100)
    gpu().synchronize()
    used = device_pool(gpu()).used
    for how in ({"bins": 5000}, {"splitters": edges}):
        with pytest.raises(headrace.MemoryLimitError):
            headrace.histogram(keys, **how, context=headrace.Context(memory_limit=2000))
    assert device_pool(gpu()).used == used
    assert headrace.histogram(keys, 10, context=headrace.Context(memory_limit=2000)).to_numpy().sum() == 1000


def test_histogram_of_an_expression():
    keys = np.random.default_rng(1).integers(0, 2**32, 3_000_001, dtype="u4")
    for bins, bucket in ((256, headrace.key >> 24), (50_000, headrace.key * 2654435761 % 60_013)):
        result = headrace.histogram(on_gpu(keys), bins, bucket=bucket).to_numpy()
        np.testing.assert_array_equal(result, headrace.histogram(keys, bins, bucket=bucket))
