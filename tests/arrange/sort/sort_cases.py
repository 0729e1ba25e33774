"""Keys that are hard to sort, and orders of them made by NumPy's own means, which know nothing of codes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

TYPES = ["?", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "M8[D]", "M8[ns]", "m8[us]"]
Keys = np.ndarray[Any, Any]


def bits_of(keys: Keys) -> Keys:
    """The same memory as whole numbers without a sign."""
    return keys.view(f"u{keys.dtype.itemsize}")


def order_of(keys: Keys, *, descending: bool = False, total_order: bool = False) -> Keys:
    """Places of keys in order, stable."""
    return np.lexsort(_ranks(keys, descending, total_order)[::-1])


def sorted_alone(keys: Keys, *, descending: bool = False, total_order: bool = False) -> Keys:
    """Keys alone: those that are equal and differ by sign and bits, which go where the direction does."""
    ranks = _ranks(keys, descending, total_order)
    if keys.dtype.kind == "f":
        whole = _magnitude_order(keys)
        sign = np.signbit(keys)
        is_nan = np.isnan(keys)
        ranks += [np.where(is_nan, sign, False) ^ descending, ~whole if descending else whole]
    return keys[np.lexsort(ranks[::-1])]


def _ranks(keys: Keys, descending: bool, total_order: bool) -> list[Any]:
    """Return the ranks that keys are compared by, one after the other."""
    kind = keys.dtype.kind
    if kind == "b":
        keys = keys.view("u1")
    if kind in "mM":
        whole = keys.view("i8")
        ranks = [] if total_order else [np.isnat(keys)]
        return [*ranks, ~whole if descending else whole]
    if kind != "f":
        return [~keys if descending else keys]
    if total_order:
        whole = _magnitude_order(keys)
        return [~whole if descending else whole]
    wide = np.where(np.isnan(keys), 0, keys).astype("f8")
    return [np.isnan(keys), -wide if descending else wide]


def _magnitude_order(keys: Keys) -> Keys:
    """Whole numbers that come as IEEE 754-2019, 5.10 has it: by sign, then by magnitude."""
    bits = bits_of(keys)
    highest = keys.dtype.itemsize * 8 - 1
    magnitude = (bits & bits.dtype.type((1 << highest) - 1)).astype("i8")
    return np.where(np.signbit(keys), ~magnitude, magnitude)


def random_keys(dtype: str, n: int, rng: np.random.Generator, ands: int = 0) -> Keys:
    """Random bits, several of them taken together by AND: the entropies of Stehle and Jacobsen 2017 (section 5)."""
    kind = np.dtype(dtype)
    if kind == "?":
        return rng.integers(0, 2 + ands, n) == 1
    raw = rng.integers(0, 256, n * kind.itemsize, np.uint8)
    for _ in range(ands):
        raw &= rng.integers(0, 256, n * kind.itemsize, np.uint8)
    return raw.view(kind)


def special_keys(dtype: str, n: int, rng: np.random.Generator) -> Keys:
    """The ends of the type, and of floats zeros, infinities and NaN of many bits, among a few others."""
    kind = np.dtype(dtype)
    if kind == "?":
        return random_keys(dtype, n, rng)
    bits = kind.itemsize * 8
    one, top = 1, 1 << (bits - 1)
    found = {0, one, top - 1, top, top + 1, 2 * top - 1, 2 * top - 2, top >> 1}
    if kind.kind == "f":
        infinity = int(bits_of(np.array([np.inf], kind))[0])
        found |= {
            infinity,
            infinity + top,
            infinity - 1,
            infinity + top - 1,
            infinity + 1,
            infinity + top + 1,
            infinity | top >> 3,
        }
        found |= {infinity + 3, infinity + top + 3}
    chosen = np.array(sorted(found), f"u{kind.itemsize}")
    return rng.choice(chosen, n).view(kind)


def shapes(dtype: str, n: int, rng: np.random.Generator) -> Iterator[tuple[str, Keys]]:
    """Inputs of one length, by name."""
    keys = random_keys(dtype, n, rng)
    yield "random", keys
    for ands in (1, 3, 7):
        yield f"{ands} ands", random_keys(dtype, n, rng, ands)
    yield "special", special_keys(dtype, n, rng)
    up = keys[order_of(keys)]
    yield "rises", up
    yield "falls", up[::-1].copy()
    yield "constant", np.repeat(keys[:1], n)
    yield "few", rng.choice(keys[:5], n) if n else keys
    if n > 2:
        almost = up.copy()
        almost[n // 2 :: max(n // 3, 1)] = keys[0]
        yield "almost", almost
    if np.dtype(dtype).kind == "f":
        yield "normal", rng.standard_normal(n).astype(dtype)
    elif np.dtype(dtype).kind in "iu":
        yield "near zero", rng.integers(0, 100, n).astype(dtype)
        outlier = rng.integers(0, 50, n).astype(dtype)
        outlier[n // 2 : n // 2 + 1] = np.iinfo(dtype).max
        yield "outlier", outlier
