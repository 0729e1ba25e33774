"""Keys in order where they lie, alone, with what belongs to them, or as places: radix sorts for GPU and CPU."""

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
    """What `sort_pairs` gives.

    Parameters
    ----------
    keys
        The keys in order.
    values
        What was given as values, each where its key is: one array, or a list of arrays.
    """

    keys: Any
    values: Any


class TopK(NamedTuple):
    """What `top_k` gives.

    Parameters
    ----------
    keys
        The first keys, in order.
    indices
        Their places, int64: ``keys[indices]`` of what was given.
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
    """Put keys in order.

    Parameters
    ----------
    keys
        Array of one dimension of whole numbers of 1 to 8 bytes, float16, float32, float64, bools, or NumPy's times, or a `Column`
        of such. Work runs where it lies.
    descending
        Whether the largest comes first.
    total_order
        Whether floats come in IEEE's totalOrder: -NaN, -inf, .. -0, 0, .. inf, NaN, and NaT before all times. Otherwise NaN and
        NaT are last in either direction, as NumPy has it ascending, and -0 equals 0.
    nulls
        Of a column: ``"last"`` or ``"first"``, whatever the direction; their values become zeros. On a GPU the host waits where
        nobody has counted them, as in a slice.
    out
        Array of that type and length on that device that gets the keys; `keys` itself to sort them in place, which Ctrl-C does
        not end. None for a new one. Columns do not change.
    strategy
        How it is done on a GPU; None chooses. ``"hybrid"``: from the highest digit down, by buckets that are finished on chip.
        ``"digits"``: from the lowest digit up.
    context
        Threads, instruction set and memory that may be used, and the GPU that arrays of the host go to.

    Returns
    -------
    array
        Of the library of `keys`, or `out`. The same bits on every device, and for any number of threads: of keys that are equal
        and differ, -0 is before 0, and NaN are in the order of their bits, those without a sign first; descending the other way
        round.

    Raises
    ------
    OptionError
        They are no such arrays; an option is unknown; `out` overlaps `keys` without being it, or may not be written.
    MemoryLimitError
        The result, and what is needed on the way (on the CPU as much again), do not fit the context's limit. Nothing has changed.

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
    """Places of keys in their order: ``keys[argsort(keys)]`` is in order.

    Parameters
    ----------
    keys, descending, total_order, nulls, strategy, context
        As in `sort`.
    stable
        Whether keys that compare equal keep their order (also descending); False where it does not matter.
    dtype
        Of the places: ``"int64"``, ``"uint64"``, ``"int32"`` or ``"uint32"``; those of 4 bytes where there are no more keys than
        they can count.
    out
        Array of that type, as long as `keys`, on their device. None for a new one.

    Returns
    -------
    array
        Of the library of `keys` (of a column, NumPy's or a `DeviceArray`), or `out`.

    Raises
    ------
    OptionError
        As `sort`; or places do not fit `dtype`.
    MemoryLimitError
        The result, and what is needed on the way (on the CPU 16 bytes a key), do not fit the context's limit.

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
    """Put keys in order, and values where their keys go.

    Parameters
    ----------
    keys, descending, total_order, nulls, strategy, context
        As in `sort`.
    values
        An array, or a list of arrays, as long as `keys` and on the same device, of items of 1, 2, 4, 8 or 16 bytes; also columns
        of any type.
    stable
        Whether values of keys that compare equal keep their order (also descending); False where it does not matter.
    out
        Arrays for the keys and for the values, as `values` has them; ``(keys, values)`` to sort in place. None for new ones.

    Returns
    -------
    SortedPairs
        Keys, with their own bits (-0 and 0 are equal, so they keep their order), and values.

    Raises
    ------
    OptionError
        As `sort`; or they have different lengths.
    MemoryLimitError
        As `argsort`.

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
    """Whether keys are in order, as `sort` would leave them but for the order of equal ones.

    Parameters
    ----------
    keys, descending, total_order, nulls, context
        As in `sort`. On a GPU the host waits once, for a column with nulls twice.

    Returns
    -------
    bool

    Raises
    ------
    OptionError
        As `sort`.

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
    """The first keys of their order and where they are, without putting the others in order.

    Parameters
    ----------
    keys, total_order, strategy, context
        As in `sort`, without nulls. NaN and NaT are the last to be taken, whether the largest are wanted or the smallest.
    k
        How many, up to as many as there are.
    largest
        Whether the largest come first; else the smallest.

    Returns
    -------
    TopK
        Keys and places of the first k; of equal keys those that come first, in their order.

    Raises
    ------
    OptionError
        As `sort`; or there are not so many keys.
    MemoryLimitError
        The result, and what is needed on the way, do not fit the context's limit.

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
