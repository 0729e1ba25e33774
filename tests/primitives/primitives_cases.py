"""Draws items for scan, reduce and select, and gives their results by NumPy."""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

AFFINE = np.dtype([("scale", "u4"), ("offset", "u4")])


NUMPY_TYPE = {"u32": "u4", "i32": "i4", "u64": "u8", "i64": "i8", "float": "f4", "double": "f8"}


def items_of(operator: str, item: str, count: int) -> NDArray[np.generic]:
    random = np.random.default_rng(zlib.crc32(f"{operator} {item} {count}".encode()))
    if operator == "Compose":
        items = np.empty(count, AFFINE)
        items["scale"], items["offset"] = random.integers(0, 2**32, (2, count), dtype="u4")
        return items
    dtype = np.dtype(NUMPY_TYPE[item])
    if dtype.kind == "f":
        return (random.integers(-1000, 1000, count) / 8).astype(dtype)
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, count, dtype=dtype, endpoint=True)


def scanned(operator: str, items: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return the inclusive scan by NumPy; for maps, one by one."""
    if operator == "Compose":
        result, scale, offset = np.empty_like(items), 1, 0
        for i, (a, b) in enumerate(items.tolist()):
            scale, offset = a * scale % 2**32, (a * offset + b) % 2**32
            result[i] = scale, offset
        return result
    if operator == "Sum":
        return np.cumsum(items, dtype=items.dtype)
    return {"Min": np.minimum, "Max": np.maximum}[operator].accumulate(items)


def identity(operator: str, items: NDArray[np.generic]) -> object:
    if operator == "Compose":
        return (1, 0)
    if operator == "Sum":
        return 0
    limits = np.iinfo(items.dtype) if items.dtype.kind in "iu" else None
    if operator == "Min":
        return limits.max if limits else np.inf
    return limits.min if limits else -np.inf
