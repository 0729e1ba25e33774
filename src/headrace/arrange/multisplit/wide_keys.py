"""Keys of 16 bytes as callers have them: arrays of pairs of words, or of NumPy's voids and structures; and as words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from headrace.arrange.bucket.functions import WIDE
from headrace.core.arrays import Array
from headrace.core.errors import OptionError
from headrace.core.gpu.device_array import DeviceArray
from headrace.core.gpu.device_memory import Budget
from headrace.core.placement import empty_like

Restored = Callable[[Any], Any]
"""Makes of words what the caller's keys were."""


def as_words(keys: Any) -> tuple[Any, Restored | None]:
    """Keys of 16 bytes as an array of words of 8, and the way back; other keys as they are, and None.

    Raises
    ------
    OptionError
        There are gaps between them.

    Examples
    --------
    >>> import numpy as np
    >>> words, restored = as_words(np.array([[1, 2], [3, 4]], np.uint64))
    >>> words, restored(words).shape
    (array([1, 2, 3, 4], dtype=uint64), (2, 2))
    """
    shape: tuple[int, ...] = tuple(getattr(keys, "shape", ()))
    dtype: Any = getattr(keys, "dtype", None)
    if len(shape) == 2 and shape[1] == 2 and str(dtype).rpartition(".")[2] == "uint64":
        if not _is_contiguous(keys):
            raise OptionError("keys have gaps between their items; pass a contiguous copy")
        return keys.reshape(-1), _as_pairs
    if getattr(dtype, "kind", "") == "V" and dtype.itemsize == 16 and len(shape) == 1 and not dtype.hasobject:
        if not _is_contiguous(keys):
            raise OptionError("keys have gaps between their items; pass a contiguous copy")
        return keys.view("<u8"), lambda words: _as_items(words) if isinstance(words, DeviceArray) else words.view(dtype)
    if isinstance(keys, DeviceArray) and keys.typestr == WIDE:
        return DeviceArray(keys.buffer, "<u8", 2 * keys.length, 2 * keys.first), _as_items
    return keys, None


def _is_contiguous(keys: Any) -> bool:
    if hasattr(keys, "is_contiguous"):  # PyTorch
        return bool(keys.is_contiguous())
    return bool(keys.flags.c_contiguous)


def _as_pairs(words: Any) -> Any:
    return _as_items(words) if isinstance(words, DeviceArray) else words.reshape(-1, 2)


def _as_items(words: DeviceArray) -> DeviceArray:
    return DeviceArray(words.buffer, WIDE, words.length // 2, words.first // 2)


def new_like(array: Array, budget: Budget) -> Array:
    """A new array as long, whose owner is one of words where items are keys of 16 bytes."""
    if array.typestr != WIDE:
        return empty_like(array, array.length, budget=budget)
    words = empty_like(replace(array, typestr="<u8", length=2 * array.length), 2 * array.length, "<u8", budget)
    return replace(words, typestr=WIDE, length=array.length)
