"""Bucket functions for the tests of multisplit, and by NumPy which buckets they give."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headrace import buckets, key
from headrace.arrange.bucket.functions import BucketFunction

DTYPES = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"]
Array = NDArray[Any]


def keys_of(dtype: str, kind: str, count: int) -> Array:
    random = np.random.default_rng(zlib.crc32(f"{dtype} {kind} {count}".encode()))
    if kind == "constant":
        return np.full(count, 77, dtype)
    if dtype[0] == "f":
        return (random.random(count) ** (4 if kind == "skewed" else 1) * 1000).astype(dtype)
    limits = np.iinfo(dtype)
    drawn = [random.integers(limits.min, limits.max, count, dtype=dtype, endpoint=True) for _ in range(3)]
    return drawn[0] & drawn[1] & drawn[2] if kind == "skewed" else drawn[0]


def words(keys: Array) -> Array:
    return keys.view(f"u{keys.itemsize}")


def mixed(word: int, width: int) -> int:
    """MurmurHash3's finaliser, by whole numbers of Python."""
    if width == 8:
        steps, mask = ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53), (33, 1)), 2**64 - 1
    else:
        steps, mask = ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)), 2**32 - 1
    for shift, factor in steps:
        word = (word ^ word >> shift) * factor & mask
    return word >> 32 if width == 8 else word


def hashed(keys: Array, m: int) -> Array:
    alike = np.where(keys == 0, keys.dtype.type(0), keys)
    return np.array([mixed(word, keys.itemsize) * m >> 32 for word in words(alike).tolist()], "i8").reshape(-1)


def cases(keys: Array) -> list[tuple[BucketFunction, Array]]:
    """Functions of such keys, with the bucket of each of them."""
    dtype, width = keys.dtype, keys.itemsize * 8
    found: list[tuple[BucketFunction, Any]] = [
        (buckets.bits(1, 7), words(keys) >> 1 & 63),
        (buckets.bits(width - 1, width), words(keys) >> (width - 1)),
        (buckets.hash(33), hashed(keys, 33)),
        (buckets.hash(1), np.zeros(len(keys))),
    ]
    if dtype.kind == "f":
        edges = np.array([0, 1, 7.5, 7.5, 300, 1001], dtype)
        found.append((buckets.even(0, 1000.5, 9), np.minimum(keys * dtype.type(9 / 1000.5), dtype.type(8)).astype("i8")))
        found.append((buckets.splitters(edges), np.searchsorted(edges, keys, "right") - 1))
        return [(function, np.asarray(own, "i8")) for function, own in found]
    limits = np.iinfo(dtype)
    found.append((buckets.modulo(3), [k % 3 for k in keys.tolist()]))
    found.append((buckets.modulo(100), [k % 100 for k in keys.tolist()]))
    span = int(limits.max) + 1 - int(limits.min)
    found.append(
        (buckets.even(int(limits.min), int(limits.max) + 1, 7), [(k - int(limits.min)) * 7 // span for k in keys.tolist()])
    )
    edges = np.array([limits.min, 3, 77, 78, limits.max], dtype)
    if not (keys == limits.max).any():
        found.append((buckets.splitters(edges), np.searchsorted(edges, keys, "right") - 1))
    if width > 8:
        found.append((buckets.modulo(1000), [k % 1000 for k in keys.tolist()]))
        found.append((buckets.bits(2, 14), words(keys) >> 2 & 4095))
        found.append((buckets.hash(60_000), hashed(keys, 60_000)))
    if width > 16:
        found.append((buckets.modulo(70_001), [k % 70_001 for k in keys.tolist()]))
        found.append((buckets.bits(5, 24), words(keys) >> 5 & (2**19 - 1)))
    if dtype == "u1":
        found.append((buckets.identity(256), keys))
    if dtype == "u4":
        found.append((buckets.where(key < 2**31), keys >= 2**31))
        found.append((buckets.where((key & 5 == 1) | (key > 2**30)), ~((keys & 5 == 1) | (keys > 2**30))))
        found.append((buckets.computed(21, (key >> 7) % 21), (keys >> 7) % 21))
        found.append((buckets.computed(250, key * 2654435761 % 250), keys.astype("u8") * 2654435761 % 2**32 % 250))
    return [(function, np.asarray(own, "i8")) for function, own in found]


def columns_of(count: int) -> list[Array]:
    """Values of each width; of 1 and 2 bytes they repeat."""
    wide = np.arange(count).astype(np.longdouble)
    return [
        np.arange(count, dtype="u4"),
        np.arange(count, dtype="u1"),
        np.arange(count, dtype="i2"),
        np.arange(count) * 1.5,
        wide,
    ]


def check(keys: Array, values: list[Array], own: Array, m: int, split: Any) -> None:
    """Against NumPy's stable sort."""
    order = np.argsort(own, kind="stable")
    np.testing.assert_array_equal(words(split.keys), words(keys)[order])
    for found, given in zip(split.values or [], values, strict=True):
        np.testing.assert_array_equal(found, given[order])
    np.testing.assert_array_equal(np.diff(split.offsets), np.bincount(own, minlength=m))
    assert split.offsets[0] == 0
