"""Counts small integers, or sums their weights."""

from __future__ import annotations

from typing import Any

from headrace import _native
from headrace.arrange.bucket.buckets import MAX_BUCKETS
from headrace.arrange.histogram.histogram import bucket_counts
from headrace.arrange.search.search import lengths_of, numbers_like, positions_of
from headrace.arrange.sort.sort import sort
from headrace.arrays.arrays import Array
from headrace.arrays.inputs import as_array, converted, type_of
from headrace.arrays.placement import empty_like, placed, same_device
from headrace.core.context import Context, context_of
from headrace.core.errors import OptionError, UnsupportedDeviceError
from headrace.core.options import integer
from headrace.primitives.scan import reduce

_LIMIT = 1 << 30  # maximum number of bins


def bincount(x: Any, weights: Any = None, minlength: int = 0, *, context: Context | None = None) -> Any:
    """Count the occurrences of each integer from 0 to the largest one.

    Parameters
    ----------
    x
        Array of one dimension of integers or bools, none negative; a list or a Series. The work runs on its device.
    weights
        Weights of the items, as long as `x`, on the CPU. They are converted to float64 and added in the order of the items.
    minlength
        Minimum number of results.
    context
        Threads, instruction set and memory that may be used, and the GPU to which a host array is copied.

    Returns
    -------
    array
        Counts, int64, or sums of weights, float64: result `i` is that of the integer `i`. On a GPU the host waits for the
        largest integer.

    Raises
    ------
    OptionError
        An integer is negative or 2**40 or more, or the lengths differ.
    UnsupportedDeviceError
        `weights` are given for an array on a GPU.
    MemoryLimitError
        The results do not fit the context's limit.

    Examples
    --------
    >>> bincount([0, 1, 1, 3])
    array([1, 2, 0, 1])
    >>> bincount([0, 1, 1], weights=[0.5, 1.0, 2.0], minlength=3)
    array([0.5, 3. , 0. ])
    """
    minlength = integer("minlength", minlength, "an integer from 0 to 2**30", 0, _LIMIT)
    x = as_array(x, "x")
    if type_of(x) == "bool":
        x = converted(x, "uint8", "x")
    context = context_of(context)
    budget = context.new_budget()
    source = placed(x, "x", Context(), budget)
    if source.length == 0 and source.typestr[1] == "f":
        source = empty_like(source, 0, "<i8", budget)  # an empty list
    if source.typestr[1] not in "iu":
        raise OptionError(f"x is of type {source.typestr!r}; integers from 0 on can be counted, histogram counts other numbers")
    count = max(minlength, _largest(source, context) + 1)
    if source.device.kind == "cpu" and context.device.kind != "cpu":  # no library converts the copy on the GPU
        source = placed(converted(source.owner, "int64", "x"), "x", context, budget)
    if weights is not None:
        return _weighted(source, weights, count, context)
    if 2 <= count <= min(MAX_BUCKETS, 1 << (8 * source.width - (source.typestr[1] == "i"))):
        return bucket_counts(source.owner, count, range=(0, count), context=context)
    if source.device.kind != "cpu":
        return _on_gpu(source, count, context)
    result = empty_like(source, count, "<i8", budget)
    _native.count_integers((source.address, source.length, source.width, count), result.address)
    return result.owner


def _largest(source: Array, context: Context) -> int:
    """Return the largest integer, -1 if there is none, after a check that no integer is negative or too large."""
    if source.length == 0:
        return -1
    if source.device.kind == "cpu":
        items = source.as_numpy()
        high = int(items.view(f"u{source.width}").max())  # negative integers are the largest ones
        low = int(items.min()) if high >> (8 * source.width - 1) else 0
    else:
        low, high = (int(_on_host(reduce(source.owner, operator, context=context))) for operator in ("min", "max"))
    if low < 0:
        raise OptionError(f"x has a negative integer, {low}; only integers from 0 on can be counted")
    if high >= _LIMIT:
        raise OptionError(f"x has the integer {high}, and counts for each up to it do not fit; use unique(x, return_counts=True)")
    return high


def _on_host(found: Any) -> Any:
    return found.to_numpy()[0] if hasattr(found, "to_numpy") else found[0]


def _on_gpu(source: Array, count: int, context: Context) -> Any:
    """Count by the positions of all integers among the sorted ones."""
    budget = context.new_budget()
    ascending = placed(sort(source.owner, context=context), "x", context, budget)
    numbers = numbers_like(source, count, context, budget)
    if source.typestr != "<i8":
        ascending = placed(converted(ascending.owner, "int64", "x"), "x", context, budget)
    begins = positions_of(ascending, numbers, (False, False), context, budget)
    return lengths_of(begins, source.length, context, budget).owner


def _weighted(source: Array, weights: Any, count: int, context: Context) -> Any:
    if source.device.kind != "cpu":
        raise UnsupportedDeviceError("weights are summed on the CPU; copy x and weights to the host, or count without weights")
    budget = context.new_budget()
    given = placed(converted(as_array(weights, "weights"), "float64", "weights"), "weights", context, budget)
    same_device(source, given)
    if given.length != source.length:
        raise OptionError(f"weights has {given.length} items for {source.length} items of x")
    result = empty_like(source, count, "<f8", budget)
    _native.sum_weights((source.address, source.length, source.width, count), given.address, result.address)
    return result.owner
