"""Draws keys and edges for histograms, and counts them with NumPy and whole numbers of Python."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

DTYPES = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"]


Array = NDArray[Any]


def limits(dtype: str) -> tuple[int, int]:
    found = np.iinfo(dtype)
    return int(found.min), int(found.max) + 1


def keys_of(dtype: str, kind: str, count: int, low: float, high: float) -> Array:
    random = np.random.default_rng(zlib.crc32(f"{dtype} {kind} {count} {low} {high}".encode()))
    if kind == "constant":
        return np.full(count, (low + high) // 2, dtype)
    if dtype[0] == "f":
        return (random.random(count) ** (4 if kind == "skewed" else 1) * (high - low) * 1.2 + low - 0.1 * (high - low)).astype(
            dtype
        )
    least, end = limits(dtype)
    if kind == "skewed":
        return np.minimum(low + random.exponential((high - low) / 50, count), int((end - 1) * (1 - 2**-52))).astype(dtype)
    return random.integers(least, end - 1, count, dtype=dtype, endpoint=True)


def edge_keys(dtype: str, low: float, high: float) -> Array:
    """Return keys around the ends of a range and of its type."""
    if dtype[0] == "f":
        around = np.array([low, high, (low + high) / 2, 0], dtype)
        inf = dtype_inf = np.array([np.inf, -np.inf, np.nan], dtype)
        return np.concatenate([around, np.nextafter(around, dtype_inf[0]), np.nextafter(around, dtype_inf[1]), inf])
    least, end = limits(dtype)
    return np.array(
        [k for at in (low, high, least, end, 0) for k in (int(at) - 1, int(at), int(at) + 1) if least <= k < end], dtype
    )


def expected_even(keys: Array, low: float, high: float, buckets: int) -> NDArray[np.int64]:
    if keys.dtype.kind == "f":
        low, high = keys.dtype.type(low), keys.dtype.type(high)
        inside = keys[(keys >= low) & (keys < high)]
        scale = keys.dtype.type(buckets / (float(high) - float(low)))
        places = np.minimum(((inside - low) * scale).astype("i8"), buckets - 1)
    elif keys.itemsize <= 4:  # products of 33 and 17 bits
        wide = keys.astype("i8")
        places = (wide[(wide >= low) & (wide < high)] - int(low)) * buckets // int(high - low)
    else:
        values, counts = np.unique(keys, return_counts=True)
        inside = [low <= value < high for value in values.tolist()]
        bins = [(value - low) * buckets // (high - low) for value in values[inside].tolist()]
        places = np.repeat(np.array(bins, "i8"), counts[inside])
    return np.bincount(places, minlength=buckets)


def expected_between(keys: Array, edges: Array) -> NDArray[np.int64]:
    places = np.searchsorted(edges, keys, "right") - 1
    inside = (keys >= edges[0]) & (keys < edges[-1])
    return np.bincount(places[inside], minlength=len(edges) - 1)


def edges_of(dtype: str, buckets: int, kind: str) -> Array:
    """Return edges over the range of a type; `crowded`: most in few cells; `narrow`: as close as possible."""
    random = np.random.default_rng(buckets)
    if dtype[0] == "f":
        if kind == "narrow":
            return np.array(np.float64(3.0) + np.arange(buckets + 1) * 2.0**-52 * (2**29 if dtype == "f4" else 1), dtype)
        inner = random.uniform(-7, 1024 / (1000 if kind == "crowded" else 1), buckets - 1)
        return np.sort(np.concatenate([[-7, 1024], inner])).astype(dtype)
    low, end = limits(dtype)
    if kind == "narrow":
        return np.arange(-1 if low else 0, buckets + (0 if low else 1)).astype(dtype)
    top = low + (end - low) // 500 if kind == "crowded" else end
    inner = [int(low + x * (top - low)) for x in random.random(buckets - 1).tolist()]
    return np.array(sorted([low, end - 1, *[min(x, end - 1) for x in inner]]), dtype)
