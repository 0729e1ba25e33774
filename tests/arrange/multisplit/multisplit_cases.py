"""Defines bucket functions for the tests of multisplit, with their buckets by NumPy."""

from __future__ import annotations

import bisect
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
    """Return MurmurHash3's finaliser in Python integers; of 64 bits the upper half."""
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
    """Return functions of keys, each with the bucket of every key."""
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
        found.append((buckets.computed(100, key / 10.5), (keys / dtype.type(10.5)).astype("i8")))
        inside = (keys > dtype.type(3.1)) & (keys <= dtype.type(500)) ^ (keys == 77)
        found.append((buckets.where((key > 3.1) & (key <= 500) ^ (key == 77)), ~inside))
        found.append((buckets.computed(7, (key < 9) * 5 + (key > 100)), (keys < 9) * 5 + (keys > 100)))
        steps = keys * dtype.type(0.3) - dtype.type(2) + (keys < 9) * dtype.type(5)
        found.append((buckets.computed(301, key * 0.3 - 2 + (key < 9) * 5), steps.astype("i8")))
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
    found += [(buckets.computed(m, expression), own) for m, expression, own in expressions(keys)]
    if dtype == "u1":
        found.append((buckets.identity(256), keys))
    if dtype == "u4":
        found.append((buckets.where(key < 2**31), keys >= 2**31))
        found.append((buckets.where((key & 5 == 1) | (key > 2**30)), ~((keys & 5 == 1) | (keys > 2**30))))
        found.append((buckets.computed(21, (key >> 7) % 21), (keys >> 7) % 21))
        found.append((buckets.computed(250, key * 2654435761 % 250), keys.astype("u8") * 2654435761 % 2**32 % 250))
    return [(function, np.asarray(own, "i8")) for function, own in found]


def expressions(keys: Array) -> list[tuple[int, Any, Any]]:
    """Return integer expressions with their values in Python: modulo 2 to the number of bits, at least 32."""
    bits = max(32, keys.itemsize * 8)

    def wrapped(number: int) -> int:
        number %= 1 << bits
        return number - (1 << bits) if keys.dtype.kind == "i" and number >> (bits - 1) else number

    plain = keys.tolist()
    large = 2**60 + 3 if bits == 64 else 2**30 + 3
    return [
        (29, (key * large - 5) % 29, [wrapped(k * large - 5) % 29 for k in plain]),
        (50, (7 - key // 3 ^ key) % 50, [(wrapped(7 - k // 3) ^ k) % 50 for k in plain]),
        (8, (key << 3 | key >> 2) & 7, [(wrapped(k << 3) | k >> 2) & 7 for k in plain]),
        (300, (key > 70) * 40 + (key % 2 != 0) + (key <= 3), [(k > 70) * 40 + (k % 2 != 0) + (k <= 3) for k in plain]),
    ]


def wide_keys_of(kind: str, count: int) -> Array:
    """Return keys of 16 bytes as pairs of words; many share one of their words."""
    random = np.random.default_rng(count)
    keys = random.integers(0, 2**64, (count, 2), "u8")
    if kind == "few":
        keys &= np.array([7, 3], "u8")
    elif kind == "near":
        keys[:, 1] = random.integers(0, 2, count, "u8")
    return keys


def wide_cases(keys: Array) -> list[tuple[BucketFunction, Array]]:
    """Return functions of keys of 16 bytes, with their buckets in Python integers."""
    plain = [low | high << 64 for low, high in keys.tolist()]

    def hashed_wide(k: int, m: int) -> int:
        return mixed(_all_mixed((k >> 64) + 0x9E3779B97F4A7C15 & 2**64 - 1) ^ k & 2**64 - 1, 8) * m >> 32

    edges = [0, 3, 3, 1 << 63, 1 << 64, (1 << 64) + 2, 3 << 64, 1 << 127, (1 << 128) - 1]
    between = [bisect.bisect_right(edges, k) - 1 for k in plain]
    found: list[tuple[BucketFunction, Any]] = [
        (buckets.bits(0, 5), [k & 31 for k in plain]),
        (buckets.bits(60, 71), [k >> 60 & 2047 for k in plain]),
        (buckets.bits(64, 66), [k >> 64 & 3 for k in plain]),
        (buckets.bits(120, 128), [k >> 120 for k in plain]),
        (buckets.modulo(1000), [k % 1000 for k in plain]),
        (buckets.modulo(1), [0 for k in plain]),
        (buckets.modulo(2**24), [k % 2**24 for k in plain]),
        (buckets.hash(33), [hashed_wide(k, 33) for k in plain]),
        (buckets.splitters(edges), between),
        (buckets.splitters(np.array([[k % 2**64, k >> 64] for k in edges], "u8")), between),
        (buckets.where(key.high < 2), [k >> 64 >= 2 for k in plain]),
        (buckets.computed(77, (key.low ^ key.high) % 77), [((k ^ k >> 64) & 2**64 - 1) % 77 for k in plain]),
    ]
    return [(function, np.asarray(own, "i8").reshape(-1)) for function, own in found]


def _all_mixed(word: int) -> int:
    """Return all bits of the finaliser of which `mixed` returns the upper half."""
    for shift, factor in ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53), (33, 1)):
        word = (word ^ word >> shift) * factor & 2**64 - 1
    return word


def columns_of(count: int) -> list[Array]:
    """Return columns of values of each width; values of 1 and 2 bytes repeat."""
    wide = np.arange(count).astype(np.longdouble)
    return [
        np.arange(count, dtype="u4"),
        np.arange(count, dtype="u1"),
        np.arange(count, dtype="i2"),
        np.arange(count) * 1.5,
        wide,
    ]


def odd_columns_of(count: int) -> list[Array]:
    """Return columns whose items are not single numbers, of widths with kernels and of others."""
    words = np.arange(count * 6, dtype="u4")
    return [
        words[: count * 3].reshape(count, 3),
        words.reshape(count, 6).view("u8"),
        words[: count * 2].reshape(count, 2),
        words[: count * 2].view([("a", "u2"), ("b", "u4"), ("c", "u2")]),
        (np.arange(count * 5) % 251).astype("u1").view("V5"),
        (np.arange(count * 7) % 3 == 0).reshape(count, 7),
    ]


def check(keys: Array, values: list[Array], own: Array, m: int, split: Any) -> None:
    """Compare a split with NumPy's stable sort."""
    order = np.argsort(own, kind="stable")
    flat = words if keys.ndim == 1 else np.asarray  # pairs of words are compared as they are
    np.testing.assert_array_equal(flat(split.keys), flat(keys)[order])
    for found, given in zip(split.values or [], values, strict=True):
        np.testing.assert_array_equal(found, given[order])
    np.testing.assert_array_equal(np.diff(split.offsets), np.bincount(own, minlength=m))
    assert split.offsets[0] == 0
