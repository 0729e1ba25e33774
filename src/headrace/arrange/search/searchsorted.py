"""Finds positions of keys in sorted arrays: searchsorted and digitize, with the rules of NumPy."""

from __future__ import annotations

from typing import Any

from headrace.arrange.search.search import positions_of
from headrace.arrange.sort.sort import is_sorted
from headrace.arrays.inputs import as_array, as_line, converted, flattened, wider_type
from headrace.arrays.placement import placed, same_device
from headrace.core.context import Context, context_of
from headrace.core.errors import OptionError
from headrace.core.options import choice, flag


def searchsorted(
    sorted_keys: Any,
    keys: Any,
    side: str = "left",
    sorter: Any = None,
    *,
    right: bool | None = None,
    context: Context | None = None,
) -> Any:
    """Return the positions at which keys can be inserted into sorted keys so that these stay sorted.

    Parameters
    ----------
    sorted_keys
        Array of one dimension in the order of `headrace.sort`: ascending, NaN and NaT last. The order is not checked.
    keys
        Array of any shape, a list, a Series or a number, on the same device. If the types differ, both are converted as NumPy
        does.
    side
        ``"left"`` for the position before equal keys, ``"right"`` for the one after.
    sorter
        Indices that sort `sorted_keys`, as of `argsort`; None if these are sorted.
    right
        PyTorch's spelling of `side`: True means ``"right"``.
    context
        Threads and memory that may be used, and the GPU to which host arrays are copied.

    Returns
    -------
    array
        Positions, int64, in the shape of `keys` and of their library. All NaN are equal, and -0 equals 0.

    Raises
    ------
    OptionError
        The arrays have other types or are on two devices.
    MemoryLimitError
        The result exceeds the context's limit.

    Examples
    --------
    >>> searchsorted([1, 3, 3, 7], [0, 3, 8])
    array([0, 1, 4])
    >>> searchsorted([1, 3, 3, 7], 3, side="right")
    3
    """
    choice("side", side, ("left", "right"))
    after_equal = side == "right" if right is None else flag("right", right)
    sorted_keys = as_line(sorted_keys, "sorted_keys")
    if sorter is not None:
        from headrace.arrange.gather.take import take

        sorted_keys = take(sorted_keys, as_line(sorter, "sorter"), context=context)
    return _searched(sorted_keys, keys, "keys", (after_equal, False), context)


def digitize(x: Any, bins: Any, right: bool = False, *, context: Context | None = None) -> Any:
    """Return the number of the bin of each key: bin `i` is from edge `i` - 1 up to, and without, edge `i`.

    Parameters
    ----------
    x
        Array of any shape, a list, a Series or a number.
    bins
        Edges in ascending or descending order, on the same device. Keys before the first edge have the number 0, keys from the
        last edge on the number of edges.
    right
        Whether bins include their right edge instead of the left.
    context
        As in `searchsorted`.

    Returns
    -------
    array
        Numbers, int64, in the shape of `x`. NaN are after all edges in ascending order, and before them in descending order.

    Raises
    ------
    OptionError
        `bins` are in no order; or as `searchsorted`.

    Examples
    --------
    >>> digitize([0.2, 6.4, 3.0], [0.0, 1.0, 2.5, 4.0])
    array([1, 4, 3])
    """
    right = flag("right", right)
    bins = as_line(bins, "bins")
    if is_sorted(bins, context=context):
        return _searched(bins, x, "x", (not right, False), context)
    if not is_sorted(bins, descending=True, context=context):
        raise OptionError("bins must be sorted, ascending or descending; sort them with headrace.sort")
    from headrace.arrange.sort.sort import sort

    return _searched(sort(bins, context=context), x, "x", (not right, True), context)


def _searched(sorted_keys: Any, keys: Any, name: str, options: tuple[bool, bool], context: Context | None) -> Any:
    """Return positions in the shape of `keys`; for a number a number."""
    is_number = isinstance(keys, (int, float)) or getattr(keys, "ndim", 1) == 0
    keys = as_array(keys, name)
    shape = getattr(keys, "shape", None)
    dtype = wider_type(sorted_keys, keys)
    if dtype is not None:
        sorted_keys, keys = converted(sorted_keys, dtype, "sorted_keys"), converted(keys, dtype, name)
    context = context_of(context)
    budget = context.new_budget()
    there = placed(sorted_keys, "sorted_keys", context, budget)
    wanted = placed(flattened(keys, name), name, context, budget)
    same_device(there, wanted)
    if there.typestr != wanted.typestr:
        raise OptionError(f"sorted_keys are of type {there.typestr!r}, and {name} of {wanted.typestr!r}; convert one of them")
    found = positions_of(there, wanted, options, context, budget).owner
    if is_number:
        return int(found[0]) if wanted.device.kind == "cpu" else found
    return found if shape is None or len(shape) == 1 or not hasattr(found, "reshape") else found.reshape(shape)
