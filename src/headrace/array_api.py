"""Offers the array functions under the names and parameters of the Python array API standard, as far as headrace has them.

Arrays are those of NumPy, CuPy, PyTorch and other libraries, and `DeviceArray`: there is no array type of its own. In one point
the functions differ from the standard: all NaN are one value for the functions `unique_*`.

>>> import numpy as np
>>> unique_counts(np.array([3, 1, 3]))
UniqueCounts(values=array([1, 3]), counts=array([1, 2]))
"""

from __future__ import annotations

from typing import Any, NamedTuple

from headrace.arrange.gather.take import take as _take
from headrace.arrange.search.searchsorted import searchsorted as _searchsorted
from headrace.arrange.search.unique import distinct as _distinct
from headrace.arrange.sort.sort import argsort as _argsort
from headrace.arrange.sort.sort import sort as _sort
from headrace.arrays.inputs import as_array, checked_axis, dimensions
from headrace.core.errors import OptionError
from headrace.core.options import flag
from headrace.primitives.cumulative import cumulative_sum as _cumulative_sum
from headrace.primitives.scan import reduce

__all__ = [
    "__array_api_version__",
    "__array_namespace_info__",
    "argsort",
    "cumulative_sum",
    "max",
    "min",
    "searchsorted",
    "sort",
    "sum",
    "take",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]

__array_api_version__ = "2024.12"


class UniqueAll(NamedTuple):
    """Distinct values, the index of the first of each, the index of the value of each item, and counts."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    """Distinct values and their counts."""

    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    """Distinct values and the index of the value of each item."""

    values: Any
    inverse_indices: Any


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Return a sorted copy of an array, as `headrace.sort`."""
    return _sort(x, axis, descending=descending, stable=stable)


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Return the indices that sort an array, as `headrace.argsort`."""
    return _argsort(x, axis, descending=descending, stable=stable)


def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Any:
    """Return the positions of `x2` in the sorted array `x1`, as `headrace.searchsorted`."""
    return _searchsorted(x1, x2, side, sorter)


def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Any:
    """Return the items of an array at indices along an axis, which is needed if there are several, as `headrace.take`."""
    x = as_array(x, "x")
    if axis is None and dimensions(x) != 1:
        raise OptionError(f"x has {dimensions(x)} dimensions; pass axis=")
    return _take(x, indices, axis=0 if axis is None else axis)


def unique_values(x: Any, /) -> Any:
    """Return the distinct values of an array, ascending, as `headrace.unique`."""
    return _distinct(x, False, False, False).values


def unique_counts(x: Any, /) -> UniqueCounts:
    """Return the distinct values of an array, ascending, and their counts."""
    found = _distinct(x, False, False, True)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: Any, /) -> UniqueInverse:
    """Return the distinct values of an array, ascending, and the index of the value of each item."""
    found = _distinct(x, False, True, False)
    return UniqueInverse(found.values, found.inverse)


def unique_all(x: Any, /) -> UniqueAll:
    """Return the distinct values of an array, ascending, with first indices, inverse indices and counts."""
    return UniqueAll(*_distinct(x, True, True, True))


def cumulative_sum(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Any:
    """Return the sums of all items up to each item, as `headrace.cumulative_sum`."""
    return _cumulative_sum(x, axis=axis, dtype=dtype, include_initial=include_initial)


def sum(x: Any, /, *, axis: int | None = None, dtype: Any = None, keepdims: bool = False) -> Any:  # noqa: A001 (the name of the standard)
    """Return the sum along an axis, or of all items, as `headrace.reduce`."""
    return _reduced(x, "sum", axis, keepdims, dtype)


def max(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Any:  # noqa: A001 (the name of the standard)
    """Return the largest item along an axis, or of all items; NaN if one is."""
    return _reduced(x, "max", axis, keepdims)


def min(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Any:  # noqa: A001 (the name of the standard)
    """Return the smallest item along an axis, or of all items; NaN if one is."""
    return _reduced(x, "min", axis, keepdims)


def _reduced(x: Any, operator: str, axis: int | None, keepdims: bool, dtype: Any = None) -> Any:
    x = as_array(x, "x")
    if axis is not None:
        axis = checked_axis(axis, dimensions(x), "x")
    found = reduce(x, operator, axis=axis, dtype=dtype)
    if not hasattr(found, "reshape"):
        return found  # a `DeviceArray`, which has one dimension
    each = range(dimensions(x)) if axis is None else [axis]
    shape = [1 if at in each else count for at, count in enumerate(x.shape)]
    result_shape = shape if flag("keepdims", keepdims) else [count for at, count in enumerate(shape) if at not in each]
    return found.reshape(result_shape)


class Info:
    """Answers the standard's inspection functions.

    Examples
    --------
    >>> __array_namespace_info__().capabilities()["boolean indexing"]
    False
    """

    def capabilities(self) -> dict[str, Any]:
        """Return the optional abilities of the namespace."""
        return {"boolean indexing": False, "data-dependent shapes": True, "max dimensions": None}

    def default_device(self) -> str:
        """Return the device of lists and numbers."""
        return "cpu"

    def devices(self) -> list[str]:
        """Return the kinds of devices that arrays may be on."""
        return ["cpu", "cuda"]

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """Return the types of results without a type of their own. `device` has no effect."""
        import numpy as np

        return {"real floating": np.dtype("f8"), "integral": np.dtype("i8"), "indexing": np.dtype("i8")}

    def dtypes(self, *, device: Any = None, kind: str | tuple[str, ...] | None = None) -> dict[str, Any]:
        """Return the types of items by name, all or those of one or several kinds. `device` has no effect."""
        import numpy as np

        families = {"bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu", "real floating": "f"}
        families |= {"numeric": "iuf"}
        kinds = [*families] if kind is None else [kind] if isinstance(kind, str) else kind
        letters = {letter for each in kinds for letter in families.get(each, "")}
        names = ["bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)), "float32", "float64"]
        return {name: np.dtype(name) for name in names if np.dtype(name).kind in letters}


def __array_namespace_info__() -> Info:  # noqa: N807 (the name of the standard)
    """Return the object that answers the standard's inspection functions."""
    return Info()
