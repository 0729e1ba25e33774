"""Views arrays whose items are not single numbers as bytes: rows of two dimensions, NumPy voids and structures."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from headrace.arrays.arrays import Array
from headrace.arrays.device_array import DeviceArray
from headrace.arrays.placement import empty_like, placed
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.core.errors import OptionError

Restored = Callable[[Any], Any]  # converts bytes to the type and shape of the caller's array


def placed_items(value: Any, name: str, context: Context, budget: Budget) -> tuple[Array, Restored | None]:
    """Return an array of items of any width, and a function that restores its type and shape in results.

    `value`: array of one dimension; or of two dimensions of NumPy, CuPy or PyTorch, whose rows are the items; or of NumPy voids
    or structures. Items that are not numbers get a type such as ``"|V12"``.
    `name`, `context`, `budget`: as `headrace.arrays.placement.placed` has them.

    >>> import numpy as np
    >>> pairs = np.array([[1, 2], [3, 4]], np.uint64)
    >>> items, restored = placed_items(pairs, "keys", Context(), Context().new_budget())
    >>> items.typestr, items.length, restored(items.owner).shape
    ('|V16', 2, (2, 2))
    """
    found = _as_bytes(value, name)
    if found is None:
        return placed(value, name, context, budget), None
    flat, width, restored = found
    array = placed(flat, name, context, budget)
    return replace(array, typestr=f"|V{width}", length=array.length // width), restored


def are_items(keys: Any) -> bool:
    """Return whether keys are items of several numbers: rows of unsigned integers, or voids."""
    if isinstance(keys, DeviceArray):
        return keys.typestr[1] == "V"
    shape, dtype = _shape(keys), getattr(keys, "dtype", None)
    if len(shape) == 2:
        return str(dtype).rpartition(".")[2].startswith("uint")
    return len(shape) == 1 and _is_void(dtype)


def new_like(array: Array, budget: Budget) -> Array:
    """Return a new array of the same length; if items are not numbers, its owner is an array of bytes."""
    if array.typestr[1] != "V":
        return empty_like(array, array.length, budget=budget)
    nbytes = array.nbytes
    result = empty_like(replace(array, typestr="|u1", length=nbytes), nbytes, "|u1", budget)
    return replace(result, typestr=array.typestr, length=array.length)


def _shape(value: Any) -> tuple[int, ...]:
    return tuple(getattr(value, "shape", ()))


def _is_void(dtype: Any) -> bool:
    return getattr(dtype, "kind", "") == "V" and not dtype.hasobject


def _as_bytes(value: Any, name: str) -> tuple[Any, int, Restored] | None:
    """Return the array as bytes, the bytes per item and the restoring function; None for arrays of numbers or other libraries."""
    if isinstance(value, DeviceArray):
        if value.typestr[1] != "V":
            return None
        width = int(value.typestr[2:])
        return DeviceArray(value.buffer, "|u1", width * value.length, width * value.first), width, _restoring(width, None)
    library, shape = type(value).__module__.partition(".")[0], _shape(value)
    dtype = getattr(value, "dtype", None)
    if library not in {"numpy", "cupy", "torch"} or dtype is None:
        return None
    is_rows = len(shape) == 2 and shape[1] > 0 and getattr(dtype, "kind", "u") in "biufmM"
    if not is_rows and not (len(shape) == 1 and _is_void(dtype)):
        return None
    if not (value.is_contiguous() if library == "torch" else value.flags.c_contiguous):
        raise OptionError(f"{name} has gaps between its items; pass a contiguous copy")
    width = dtype.itemsize * (shape[1] if is_rows else 1)
    flat = value.reshape(-1).view(sys.modules["torch"].uint8 if library == "torch" else "u1")
    return flat, width, _restoring(width, lambda found: found.view(dtype).reshape(-1, *shape[1:]))


def _restoring(width: int, of_library: Restored | None) -> Restored:
    """Return the restoring function. Host arrays that were copied to a GPU return as a `DeviceArray` of one dimension."""

    def restored(found: Any) -> Any:
        if of_library is not None and not isinstance(found, DeviceArray):
            return of_library(found)
        return DeviceArray(found.buffer, f"|V{width}", found.length // width, found.first // width)

    return restored
