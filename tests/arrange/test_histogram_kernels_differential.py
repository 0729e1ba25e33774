"""Histogram kernels under the fiber harness, against NumPy."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest
from numpy.typing import NDArray

from headrace.testing import fibers

CELLS = 1450
THREADS, ROWS = 64, 2
TILE = THREADS * ROWS * 4
KEYS = {"u32": "u4", "i32": "i4", "float": "f4"}


def even(dtype: str, low: float, high: float, parts: int) -> bytes:
    if dtype == "f4":
        low, high = np.float32(low), np.float32(high)
        return struct.pack("<fffI", low, high, np.float32(parts / (float(high) - float(low))), 0)
    multiplier = 0 if high - low == parts else -(-(parts << 64) // int(high - low))
    return struct.pack("<QII", multiplier, int(low) % 2**32, int(high - low) - 1)


def keys_of(dtype: str, kind: str, count: int, low: float, high: float) -> NDArray[np.generic]:
    random = np.random.default_rng(zlib.crc32(f"{dtype} {kind} {count} {low} {high}".encode()))
    if kind == "constant":
        return np.full(count, (low + high) // 2, dtype)
    if dtype == "f4":
        return (random.random(count) * (high - low) * 1.2 + low - 0.1 * (high - low)).astype("f4")
    limits = np.iinfo(dtype)
    if kind == "skewed":
        return np.minimum(low + random.exponential((high - low) / 50, count), limits.max).astype(dtype)
    return random.integers(limits.min, limits.max, count, dtype=dtype, endpoint=True)


def expected_even(keys: NDArray[np.generic], low: float, high: float, buckets: int) -> NDArray[np.int64]:
    if keys.dtype.kind == "f":
        low, high = np.float32(low), np.float32(high)
        inside = keys[(keys >= low) & (keys < high)]
        scale = np.float32(buckets / (float(high) - float(low)))
        places = np.minimum(((inside - low) * scale).astype("i8"), buckets - 1)
    else:
        wide = [key for key in keys.tolist() if low <= key < high]
        places = np.array([(key - low) * buckets // (high - low) for key in wide], "i8")
    return np.bincount(places, minlength=buckets)


def launch(
    dtype: str, keys: NDArray[np.generic], buckets: int, how: tuple[bytes, object, object], packed: int = 0
) -> NDArray[np.uint64]:
    name = next(name for name, code in KEYS.items() if code == dtype)
    program = fibers.program(source="arrange/histogram.cu", defines={"HR_KEY": name, "HR_THREADS": THREADS, "HR_ROWS": ROWS})
    description, edges, words = how
    address = [0 if array is None else array.__array_interface__["data"][0] for array in (edges, words)]  # type: ignore[attr-defined]
    whole = description + struct.pack("<QQII", *address, CELLS, 0)
    result = np.zeros(buckets, "u8")
    checks = fibers.Checks(reachable=tuple(array for array in (edges, words) if array is not None))
    guide = CELLS * 4 if edges is not None else 0
    if packed:
        args = [keys, len(keys), result, buckets, packed, whole]
        program.launch(
            "histogram_packed",
            (2, -(-buckets // packed)),
            THREADS,
            args,
            shared=guide + packed * 2,
            checks=checks,
            order="random",
        )
    else:
        replicas = 8 if buckets <= 256 else 1
        kept = buckets * 4 if edges is not None and buckets <= 2048 else 0
        args = [keys, len(keys), result, buckets, replicas, whole]
        program.launch("histogram", 3, THREADS, args, shared=guide + kept + buckets * replicas * 4, checks=checks, order="random")
    return result


@pytest.mark.parametrize("dtype", ["u4", "i4", "f4"])
@pytest.mark.parametrize("kind", ["uniform", "skewed", "constant"])
@pytest.mark.parametrize("buckets", [2, 3, 32, 256, 1000])
def test_even(dtype: str, kind: str, buckets: int) -> None:
    ranges = {
        "u4": [(0, 2**32), (10, 10 + buckets), (5, 2**31 + 77)],
        "i4": [(-(2**31), 2**31), (-7, 100_000)],
        "f4": [(0, 1024)],
    }
    for low, high in ranges[dtype]:
        for count in (1, 3, TILE + 1, 5 * TILE + 13):
            keys = keys_of(dtype, kind, count + 1, low, high)[1:]
            result = launch(dtype, keys, buckets, (even(dtype, low, high, buckets), None, None))
            np.testing.assert_array_equal(result, expected_even(keys, low, high, buckets))


@pytest.mark.parametrize("kind", ["uniform", "constant"])
@pytest.mark.parametrize("window", [65536, 32768, 1024])
def test_packed(kind: str, window: int) -> None:
    buckets = 65536 if window > 1024 else 2500
    keys = keys_of("u4", kind, 150_000 if kind == "constant" else 5000, 0, 2**32)
    result = launch("u4", keys, buckets, (even("u4", 0, 2**32, buckets), None, None), window)
    np.testing.assert_array_equal(result, expected_even(keys, 0, 2**32, buckets))


@pytest.mark.parametrize("dtype", ["u4", "i4", "f4"])
@pytest.mark.parametrize(("buckets", "clustered"), [(2, False), (31, False), (256, False), (256, True), (3000, True)])
def test_edges(dtype: str, buckets: int, clustered: bool) -> None:
    low, high = (-1000, 2**31 - 5) if dtype == "i4" else (0, 1024) if dtype == "f4" else (3, 2**32 - 3)
    random = np.random.default_rng(buckets)
    inner = random.uniform(low, low + (high - low) / (100 if clustered else 1), buckets - 1)
    edges = np.sort(np.concatenate([[low], inner, [high]])).astype(dtype)
    keys = np.concatenate([keys_of(dtype, "uniform", 3 * TILE, low, high), edges, keys_of(dtype, "uniform", 999, low, high)])
    name = next(name for name, code in KEYS.items() if code == dtype)
    program = fibers.program(source="arrange/histogram.cu", defines={"HR_KEY": name, "HR_THREADS": THREADS, "HR_ROWS": ROWS})
    words, description = np.zeros(CELLS, "u4"), even(dtype, float(low) if dtype == "f4" else low, high, CELLS)
    program.launch("histogram_cells", -(-CELLS // THREADS), THREADS, [description, edges, buckets, CELLS, words])
    for packed in (0, 2048) if buckets <= 256 else (0,):
        result = launch(dtype, keys, buckets, (description, edges, words), packed)
        places = np.searchsorted(edges, keys, "right") - 1
        inside = (places >= 0) & (places < buckets)
        np.testing.assert_array_equal(result, np.bincount(places[inside], minlength=buckets))
