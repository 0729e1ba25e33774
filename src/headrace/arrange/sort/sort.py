"""Sorts keys on the device of the input: alone, with values, or as indices. Radix sorts for GPU and CPU."""

from __future__ import annotations

from typing import Any, NamedTuple

from headrace.arrange.sort.arguments import (
    INDEX_TYPES,
    KeysOptions,
    begin,
    check_apart,
    check_order,
    check_places,
    check_values,
    checked_k,
    is_column,
    no_out,
    outs_of,
    run,
    target_of,
)
from headrace.arrange.sort.cpu.small_arrays import argsorted_few, sorted_few
from headrace.arrange.sort.request import Moved, sort_task
from headrace.arrays.placement import empty_like, placed, same_device
from headrace.core.context import Context


class SortedPairs(NamedTuple):
    """The result of `sort_pairs`.

    Parameters
    ----------
    keys
        The sorted keys.
    values
        The values in the order of their keys: one array, or a list of arrays, as they were given.
    """

    keys: Any
    values: Any


class TopK(NamedTuple):
    """The result of `top_k`.

    Parameters
    ----------
    keys
        The first k keys, sorted.
    indices
        Their indices in the input, int64.
    """

    keys: Any
    indices: Any


def sort(
    keys: Any,
    *,
    descending: bool = False,
    total_order: bool = False,
    nulls: str = "last",
    out: Any = None,
    strategy: str | None = None,
    context: Context | None = None,
) -> Any:
    """Sort keys.

    Parameters
    ----------
    keys
        One-dimensional array of integers of 1 to 8 bytes, float16, float32, float64, bools or NumPy's times; or a `Column` of
        these types. The work runs on its device.
    descending
        Whether the largest key comes first.
    total_order
        Whether floats are in IEEE's totalOrder: -NaN, -inf, .. -0, 0, .. inf, NaN; and NaT before all times. If False, NaN and
        NaT are last in both directions (NumPy: ascending only), and -0 equals 0.
    nulls
        Position of the nulls of a column, in both directions: ``"last"`` or ``"first"``. Their values become zeros. On a GPU the
        host waits once if the number of nulls is unknown, as for a slice.
    out
        Array for the sorted keys, of the type, length and device of `keys`. Pass `keys` itself to sort in place; Ctrl-C does not
        stop that. None for a new array. Columns are never sorted in place.
    strategy
        Algorithm on a GPU. ``"hybrid"``: from the most significant digit, by buckets that are then sorted in shared memory.
        ``"digits"``: from the least significant digit. None to choose.
    context
        Threads, instruction set and memory limit, and the GPU that host arrays are copied to. None for the defaults.

    Returns
    -------
    array
        The sorted keys, of the library of `keys`; or `out`. The bits are the same on every device, for any number of threads.
        Keys that compare equal with different bits have an order too: -0 is before 0, and NaN are in the order of their bits,
        those without a sign first. Descending is the reverse.

    Raises
    ------
    OptionError
        `keys` has another type; an option is unknown; `out` overlaps `keys` without being the same array, or is read-only.
    MemoryLimitError
        The result and the working memory (on the CPU as large as the keys) exceed the context's limit. Nothing has changed.

    Examples
    --------
    >>> import numpy as np
    >>> sort(np.array([3.0, np.nan, -1.0, 2.0]))
    array([-1.,  2.,  3., nan])
    >>> sort(np.array([3.0, np.nan, -1.0, 2.0]), descending=True)
    array([ 3.,  2., -1., nan])
    """
    check_order(nulls, descending=descending, total_order=total_order)
    if context is None and strategy is None and (out is None or out is keys):
        found = sorted_few(keys, descending=descending, total_order=total_order, in_place=out is not None)
        if found is not None:
            return found
    if is_column(keys):
        no_out(out)
        from headrace.arrange.sort.column_sort import sort_column

        return sort_column(keys, KeysOptions(descending, total_order, nulls), strategy, context)
    context, budget, source, order = begin(keys, descending, total_order, strategy, context)
    target = target_of(source, source.length, source.typestr, out, budget)
    check_apart([(source, target)])
    run("sort_keys", sort_task(source, order, target, (), None, True, strategy, context, budget))
    return target.owner


def argsort(
    keys: Any,
    *,
    descending: bool = False,
    total_order: bool = False,
    nulls: str = "last",
    stable: bool = True,
    dtype: str = "int64",
    out: Any = None,
    strategy: str | None = None,
    context: Context | None = None,
) -> Any:
    """Return the indices that sort keys: ``keys[argsort(keys)]`` is sorted.

    Parameters
    ----------
    keys, descending, total_order, nulls, strategy, context
        As in `sort`.
    stable
        Whether keys that compare equal keep their order, in both directions. False if their order does not matter.
    dtype
        Type of the indices: ``"int64"``, ``"uint64"``, ``"int32"`` or ``"uint32"``. The 4-byte types are refused for more keys
        than they can count.
    out
        Array for the indices, of the type `dtype`, and of the length and device of `keys`. None for a new array.

    Returns
    -------
    array
        The indices, of the library of `keys` (for a column of NumPy, or a `DeviceArray`); or `out`.

    Raises
    ------
    OptionError
        As for `sort`; or the indices do not fit `dtype`.
    MemoryLimitError
        The result and the working memory (on the CPU 16 bytes a key) exceed the context's limit.

    Examples
    --------
    >>> import numpy as np
    >>> argsort(np.array([30, 10, 20, 10], np.uint8))
    array([1, 3, 2, 0])
    """
    check_order(nulls, descending=descending, total_order=total_order, stable=stable)
    check_places(dtype, 0)
    if context is None and strategy is None and out is None and dtype == "int64":
        found = argsorted_few(keys, descending=descending, total_order=total_order)
        if found is not None:
            return found
    if is_column(keys):
        from headrace.arrange.sort.column_sort import argsort_column

        no_out(out)
        options = KeysOptions(descending, total_order, nulls, stable=stable, dtype=dtype)
        return argsort_column(keys, options, strategy, context)
    context, budget, source, order = begin(keys, descending, total_order, strategy, context)
    check_places(dtype, source.length)
    target = target_of(source, source.length, INDEX_TYPES[dtype], out, budget)
    check_apart([(source, None), (None, target)])
    run("argsort", sort_task(source, order, None, (), target, stable, strategy, context, budget))
    return target.owner


def sort_pairs(
    keys: Any,
    values: Any,
    *,
    descending: bool = False,
    total_order: bool = False,
    nulls: str = "last",
    stable: bool = True,
    out: tuple[Any, Any] | None = None,
    strategy: str | None = None,
    context: Context | None = None,
) -> SortedPairs:
    """Sort keys, and bring values into the order of their keys.

    Parameters
    ----------
    keys, descending, total_order, nulls, strategy, context
        As in `sort`.
    values
        Array, or list of arrays, of the length and device of `keys`, with items of 1, 2, 4, 8 or 16 bytes; or columns of any
        type.
    stable
        Whether values of keys that compare equal keep their order, in both directions. False if their order does not matter.
    out
        Pair of an array for the keys, and an array or a list of arrays for the values, as `values` is. Pass ``(keys, values)`` to
        sort in place. None for new arrays.

    Returns
    -------
    SortedPairs
        Keys and values. Keys keep their bits: -0 and 0 are equal, so they keep their order.

    Raises
    ------
    OptionError
        As for `sort`; or the lengths differ.
    MemoryLimitError
        As for `argsort`.

    Examples
    --------
    >>> import numpy as np
    >>> sort_pairs(np.array([3, 1, 2, 1]), np.array([10, 20, 30, 40]))
    SortedPairs(keys=array([1, 1, 2, 3]), values=array([20, 40, 30, 10]))
    """
    check_order(nulls, descending=descending, total_order=total_order, stable=stable)
    several = isinstance(values, (list, tuple))
    given = list(values) if several else [values]
    if is_column(keys) or any(is_column(value) for value in given):
        no_out(out)
        from headrace.arrange.sort.column_sort import sort_column_pairs

        options = KeysOptions(descending, total_order, nulls, stable=stable)
        keys_sorted, moved = sort_column_pairs(keys, given, options, strategy, context)
        return SortedPairs(keys_sorted, moved if several else moved[0])
    context, budget, source, order = begin(keys, descending, total_order, strategy, context)
    columns = [placed(value, "values", context, budget) for value in given]
    same_device(source, *columns)
    for column in columns:
        check_values(source, column)
    outs = outs_of(out, len(columns), several=several)
    target = target_of(source, source.length, source.typestr, outs[0], budget)
    moved_to = [
        target_of(column, column.length, column.typestr, given_out, budget)
        for column, given_out in zip(columns, outs[1:], strict=True)
    ]
    moves = tuple(Moved(a, b) for a, b in zip(columns, moved_to, strict=True))
    check_apart([(source, target), *((move.source, move.target) for move in moves)])
    run("sort_pairs", sort_task(source, order, target, moves, None, stable, strategy, context, budget))
    owners = [move.target.owner for move in moves]
    return SortedPairs(target.owner, owners if several else owners[0])


def is_sorted(
    keys: Any,
    *,
    descending: bool = False,
    total_order: bool = False,
    nulls: str = "last",
    context: Context | None = None,
) -> bool:
    """Return whether keys are sorted as by `sort`, except that equal keys may be in any order.

    Parameters
    ----------
    keys, descending, total_order, nulls, context
        As in `sort`. On a GPU the host waits once, or twice for a column with nulls.

    Returns
    -------
    bool
        True if the keys are sorted.

    Raises
    ------
    OptionError
        As for `sort`.

    Examples
    --------
    >>> import numpy as np
    >>> is_sorted(np.array([1, 2, 2])), is_sorted(np.array([1, 2, 2]), descending=True)
    (True, False)
    """
    check_order(nulls, descending=descending, total_order=total_order)
    if is_column(keys):
        from headrace.arrange.sort.column_sort import is_column_sorted

        return is_column_sorted(keys, KeysOptions(descending, total_order, nulls), context)
    context, budget, source, order = begin(keys, descending, total_order, None, context)
    return bool(run("is_sorted", sort_task(source, order, None, (), None, True, None, context, budget)))


def top_k(
    keys: Any,
    k: int,
    *,
    largest: bool = True,
    total_order: bool = False,
    strategy: str | None = None,
    context: Context | None = None,
) -> TopK:
    """Return the k largest or smallest keys, sorted, with their indices. The other keys are not sorted.

    Parameters
    ----------
    keys, total_order, strategy, context
        As in `sort`, without nulls. NaN and NaT are last, for the largest keys and for the smallest.
    k
        Number of keys, at most the length of `keys`.
    largest
        Whether the largest keys come first; if False, the smallest.

    Returns
    -------
    TopK
        The first k keys and their indices. Equal keys are taken, and stay, in the order of their indices.

    Raises
    ------
    OptionError
        As for `sort`; or there are fewer than k keys.
    MemoryLimitError
        The result and the working memory exceed the context's limit.

    Examples
    --------
    >>> import numpy as np
    >>> top_k(np.array([3.0, np.nan, 7.0, 5.0]), 2)
    TopK(keys=array([7., 5.]), indices=array([2, 3]))
    """
    check_order("last", largest=largest, total_order=total_order)
    if is_column(keys):
        from headrace.arrange.sort.column_sort import top_of_column

        return TopK(*top_of_column(keys, k, KeysOptions(largest, total_order, "last"), strategy, context))
    context, budget, source, order = begin(keys, largest, total_order, strategy, context)
    k = checked_k(k, source.length)
    target = empty_like(source, k, budget=budget)
    indices = empty_like(source, k, "<i8", budget)
    run("top_k", sort_task(source, order, target, (), indices, True, strategy, context, budget))
    return TopK(target.owner, indices.owner)
