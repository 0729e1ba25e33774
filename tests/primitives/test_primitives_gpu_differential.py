"""Tests the public scan, reduce, select and histogram on a GPU against the CPU, to the bit."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import headrace
from headrace.arrays.device_array import DeviceArray
from headrace.gpu.device.device import gpu
from headrace.gpu.memory.pool import device_pool
from headrace.primitives.scan import scan_shape
from headrace.primitives.select import select_shape
from tests.arrange.histogram.histogram_kernels_cases import DTYPES, edge_keys, edges_of, keys_of, limits
from tests.primitives.float_sum_cases import floats_of
from tests.primitives.primitives_cases import items_of
from tests.primitives.scan_cases import CASES

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


@pytest.mark.parametrize("count", [1, 1000, 30_000])
def test_few_items(count):
    """Run every path of these kernels in little time, for memory checkers."""
    random = np.random.default_rng(count)
    for dtype in ("u4", "i8"):
        items = random.integers(0, 100, count).astype(dtype)
        for operator in ("sum", "max"):
            np.testing.assert_array_equal(headrace.scan(on_gpu(items), operator).to_numpy(), headrace.scan(items, operator))
            assert headrace.reduce(on_gpu(items), operator).to_numpy() == headrace.reduce(items, operator)
        for share in (0.02, 0.9):
            mask = random.random(count) < share
            np.testing.assert_array_equal(headrace.select(on_gpu(items), on_gpu(mask)).to_numpy(), items[mask])
    for dtype in ("f4", "f8"):
        items = floats_of(dtype, count)
        assert headrace.reduce(on_gpu(items)).to_numpy() == headrace.reduce(items)
    keys = random.integers(0, 2**32, count, "u4")
    for how in (
        {"bins": 16},
        {"bins": 1000, "range": (5, 2**31)},
        {"bins": 65536},
        {"splitters": np.arange(0, 2**32, 2**24)},
        {"splitters": np.arange(0, 5000)},
        {"bins": 64, "bucket": headrace.key >> 26},
    ):
        expected = headrace.bucket_counts(keys, **how)
        np.testing.assert_array_equal(headrace.bucket_counts(on_gpu(keys), **how).to_numpy(), expected)


def tile_edges(tile):
    return (tile - 1, tile, tile + 1, 300 * tile - 1, 300 * tile + 1)


@pytest.mark.parametrize("dtype", ["i4", "i8"])
def test_edges_of_a_scans_tile(dtype):
    torch = pytest.importorskip("torch")
    shape = scan_shape(gpu())
    for count in (0, *tile_edges(shape["HR_THREADS"] * shape["HR_ROWS"] * 16 // np.dtype(dtype).itemsize)):
        items = np.random.default_rng(count).integers(-(2**31), 2**31, count + 1, dtype)
        moved = torch.from_numpy(items).cuda()
        for first in (0, 1):
            scanned = headrace.scan(moved[first:]).cpu().numpy()
            np.testing.assert_array_equal(scanned, np.cumsum(items[first:], dtype=items.dtype))


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_edges_of_a_selections_tile(width):
    shape = select_shape(gpu())
    for count in tile_edges(shape["HR_THREADS"] * shape["HR_ROWS"] * 16):
        random = np.random.default_rng(count)
        items = random.integers(0, 256, (count, width), "u1").view(f"u{width}")[:, 0].copy()
        for share in (0.01, 0.2, 0.3, 0.99):
            mask = random.random(count) < share
            assert headrace.select(on_gpu(items), on_gpu(mask)).to_numpy().tobytes() == items[mask].tobytes()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_sums_of_floats(dtype):
    for count in (1, 127, 4095, 4097, 100_003, 5_000_011, (1 << 24) + 4097):
        items = floats_of(dtype, count)
        assert headrace.reduce(on_gpu(items)).to_numpy().tobytes() == headrace.reduce(items).tobytes()
    assert headrace.reduce(on_gpu(np.array([np.inf, -np.inf], dtype))).to_numpy().tobytes() == np.array([np.nan], dtype).tobytes()
    assert headrace.reduce(on_gpu(np.empty(0, dtype))).to_numpy().tolist() == [0]


def test_threads_that_share_a_stream_and_its_memory():
    small, large = on_gpu(np.ones(1000, "u4")), on_gpu(np.ones(3_000_000, "u8"))
    wrong = []

    def work():
        for turn in range(100):
            items = large if turn % 10 == 9 else small
            if int(headrace.scan(items).to_numpy()[-1]) != len(items) or int(headrace.reduce(items).to_numpy()[0]) != len(items):
                wrong.append(turn)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []


def test_streams_and_graphs_of_pytorch():
    torch = pytest.importorskip("torch")
    items = torch.arange(100_000, device="cuda", dtype=torch.int64)
    expected = torch.cumsum(items, 0)
    for _ in range(3):
        with torch.cuda.stream(torch.cuda.Stream()):
            assert torch.equal(headrace.scan(items), expected)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        scanned = headrace.scan(items)
    for step in (2, 3):
        items.copy_(torch.arange(100_000, device="cuda") * step)
        headrace.scan(items)
        graph.replay()
        assert torch.equal(scanned, expected * step)


def test_more_items_than_31_bits_can_count():
    torch = pytest.importorskip("torch")
    count = (1 << 31) + 12_345
    items = torch.full((count,), 3, dtype=torch.int32, device="cuda")
    scanned = headrace.scan(items)
    for at in (0, 1 << 20, (1 << 31) - 1, 1 << 31, count - 1):
        assert int(scanned[at]) % 2**32 == (at + 1) * 3 % 2**32
    del scanned
    assert int(headrace.reduce(items)[0]) % 2**32 == count * 3 % 2**32
    mask = torch.ones(count, dtype=torch.bool, device="cuda")
    mask[5] = False
    items[-1] = 7
    selected = headrace.select(items, mask)
    assert len(selected) == count - 1 and selected[-2:].tolist() == [3, 7]
    del selected, mask
    total = 3 * (count - 1) + 7
    assert abs(float(headrace.reduce(items.float())[0]) - total) <= 38 * 3 * 2.0**-24 * total


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["uniform", "skewed", "constant"])
def test_histogram(dtype, kind):
    low, high = (-3, 1024) if dtype[0] == "f" else limits(dtype)
    for count in SIZES:
        keys = np.concatenate([keys_of(dtype, kind, count, low, high), edge_keys(dtype, low, high)])
        moved = on_gpu(keys)
        for bins in (2, 3, 32, 256, 2048, 10_000, 65536):
            if dtype[0] == "f" or bins <= high - low:
                result = headrace.bucket_counts(moved, bins, range=(low, high)).to_numpy()
                np.testing.assert_array_equal(result, headrace.bucket_counts(keys, bins, range=(low, high)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["spread", "crowded"])
def test_histogram_between(dtype, kind):
    for buckets in (2, 256, 3000, 50_000):
        edges = edges_of(dtype, buckets, kind)
        for count in SIZES:
            keys = np.concatenate([keys_of(dtype, "uniform", count, edges[0].item(), edges[-1].item()), edges])
            result = headrace.bucket_counts(on_gpu(keys), splitters=edges).to_numpy()
            np.testing.assert_array_equal(result, headrace.bucket_counts(keys, splitters=edges))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_histogram_between_infinite_edges(dtype):
    most = float(np.finfo(dtype).max)
    for edges in ([-np.inf, 0, np.inf], [-np.inf, -2, -0.0, 2], [-most, -1, 1, most]):
        given = np.array(edges, dtype)
        for count in SIZES:
            keys = np.concatenate([keys_of(dtype, "uniform", count, -10, 10), given, np.array([np.nan, -0.0], dtype)])
            result = headrace.bucket_counts(on_gpu(keys), splitters=given).to_numpy()
            np.testing.assert_array_equal(result, headrace.bucket_counts(keys, splitters=given))


def test_splitters_on_the_gpu():
    keys = np.random.default_rng(2).integers(0, 2**32, 100_003, dtype="u4")
    edges, context = np.sort(keys[:257]), headrace.Context()
    result = headrace.bucket_counts(on_gpu(keys), splitters=on_gpu(edges), context=context).to_numpy()
    np.testing.assert_array_equal(result, headrace.bucket_counts(keys, splitters=edges))
    assert (context.crossings.to_host, context.crossings.to_gpu) == (edges.nbytes, edges.nbytes)
    with pytest.raises(headrace.OptionError, match="nothing is copied between devices unasked"):
        headrace.bucket_counts(keys, splitters=on_gpu(edges))


def test_a_histogram_keeps_to_the_memory_limit_and_leaves_nothing():
    keys, edges = on_gpu(np.arange(1000, dtype="u4")), np.arange(0, 1001, 100)
    gpu().synchronize()
    used = device_pool(gpu()).used
    for how in ({"bins": 5000}, {"splitters": edges}):
        with pytest.raises(headrace.MemoryLimitError):
            headrace.bucket_counts(keys, **how, context=headrace.Context(memory_limit=2000))
    assert device_pool(gpu()).used == used
    assert headrace.bucket_counts(keys, 10, context=headrace.Context(memory_limit=2000)).to_numpy().sum() == 1000


def test_histogram_of_an_expression():
    keys = np.random.default_rng(1).integers(0, 2**32, 3_000_001, dtype="u4")
    for bins, bucket in ((256, headrace.key >> 24), (50_000, headrace.key * 2654435761 % 60_013)):
        result = headrace.bucket_counts(on_gpu(keys), bins, bucket=bucket).to_numpy()
        np.testing.assert_array_equal(result, headrace.bucket_counts(keys, bins, bucket=bucket))
