"""Draws keys with equal ones, extremes, NaN, NaT and both zeros."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

DTYPES = ["?", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "M8[s]", "m8[ms]"]


def keys_of(dtype: str, count: int) -> NDArray[np.generic]:
    """Return `count` keys of a type: few values, and each special one about once in 20."""
    kind = np.dtype(dtype)
    random = np.random.default_rng(count + kind.num)
    keys = random.integers(0, 2 if kind.kind == "b" else 100, count).astype("u1").astype(kind)
    for number, special in enumerate(_specials(kind)):
        keys[random.integers(0, 20, count) == number] = special
    return keys


def _specials(kind: np.dtype[np.generic]) -> list[object]:
    if kind.kind == "f":
        return [np.nan, -np.nan, -0.0, 0.0, np.inf, -np.inf]
    if kind.kind in "mM":
        return [kind.type("NaT")]
    if kind.kind == "b":
        return []
    limits = np.iinfo(kind)
    return [limits.min, limits.max]
