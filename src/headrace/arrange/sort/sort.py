"""Sorts arrays and columns on their device, alone or with values, or returns their indices: radix sorts for GPU and CPU."""

from __future__ import annotations

from typing import Any, NamedTuple

from headrace.arrange.sort.arguments import (
    INDEX_TYPES,
    KeysOptions,
    begin,
    check_apart,
    check_order,
    check_places,
    check_stability,
    check_values,
    checked_k,
    is_column,
    no_out,
    outs_of,
    run,
    target_of,
)
from headrace.arrange.sort.request import ColumnMove, sort_task
from headrace.arrange.sort.small_arrays import argsorted_few, argsorted_rows, sorted_few, sorted_rows
from headrace.arrays.inputs import array_and_lines, converted, is_only_axis, named_type
from headrace.arrays.placement import empty_like, placed, same_device
from headrace.arrays.repeated import empty_beside, repeated_call
from headrace.core.context import Context


class SortedPairs(NamedTuple):
    """The result of `sort_pairs`.

    Parameters
    ----------
    keys
        The sorted keys.
    values
        The values in the order of their keys: one array, or a list of arrays.
    """

    keys: Any
    values: Any


class TopK(NamedTuple):
    """The result of `top_k`.

    Parameters
    ----------
    keys
        The first keys, in order.
    indices
        Their indices, int64: the keys are ``keys[indices]`` of the argument.
    """

    keys: Any
    indices: Any


def sort(
    keys: Any,
    axis: int | None = -1,
    *,
    descending: bool = False,
    total_order: bool = False,
    nulls: str = "last",
    stable: bool | None = None,
    kind: str | None = None,
    out: Any = None,
    strategy: str | None = None,
    context: Context | None = None,
) -> Any:
    """Sort keys.

    Parameters
    ----------
    keys
        Array of integers of 1 to 8 bytes, float16, bfloat16, float32, float64, bools, or NumPy's times; a list or a Series of
        them; or a `Column`. The sort runs on its device. Arrays with gaps or of big-endian items are copied first.
    axis
        Axis to sort along; None sorts all items as one dimension. Lines of more than 16,384 keys are sorted one after another,
        as all lines on a GPU.
    descending
        Whether the largest key comes first.
    total_order
        Whether floats are in IEEE's totalOrder: -NaN, -inf, .. -0, 0, .. inf, NaN, and NaT before all times. If not, NaN and NaT
        are last in both directions (as in NumPy's ascending sort), and -0 equals 0.
    nulls
        Position of a column's nulls in both directions: ``"last"`` or ``"first"``. Their values become zeros. On a GPU the host
        waits if their number is unknown, as in a slice.
    stable, kind
        Accepted, as in NumPy, without an effect: equal keys are alike, and there is one order of their bits.
    out
        Output array of the same type, length and device; `keys` itself to sort in place, which Ctrl-C does not end. None for a
        new array. Columns, and arrays of several dimensions, take no `out`.
    strategy
        Algorithm on a GPU; None for an automatic choice. ``"hybrid"``: from the highest digit down, by buckets that are finished
        on chip. ``"digits"``: from the lowest digit up.
    context
        Threads, instruction set and memory to use, and the GPU for arrays of the host.

    Returns
    -------
    array
        An array of the library of `keys`, or `out`. The bits are the same on every device and for any number of threads. The
        order is -0 before 0, and NaN are in the order of their bits, positive ones first. If the sort is descending, this is
        reversed.

    Raises
    ------
    OptionError
        An array is not supported; an option is unknown; `out` overlaps `keys` without being `keys`, or is read-only.
    MemoryLimitError
        The result and scratch memory (on the CPU as much again) do not fit the context's limit. Nothing has changed.

    Examples
    --------
    >>> import numpy as np
    >>> sort(np.array([3.0, np.nan, -1.0, 2.0]))
    array([-1.,  2.,  3., nan])
    >>> sort(np.array([3.0, np.nan, -1.0, 2.0]), descending=True)
    array([ 3.,  2., -1., nan])
    """
    check_order(nulls, descending=descending, total_order=total_order)
    check_stability(stable, kind)
    call = None
    if is_only_axis(axis) and context is None and strategy is None and (out is None or out is keys):
        found = sorted_few(keys, descending=descending, total_order=total_order, in_place=out is not None)
        if found is not None:
            return found
        call = repeated_call(("sort", descending, total_order, out is None), keys, by_class=True)
        if call is not None and call.is_known:
            result, addresses = (keys, ()) if out is keys else empty_beside(keys)
            if call.replay(*addresses):
                return result
    if is_column(keys):
        no_out(out)
        from headrace.arrange.sort.column_sort import sort_column

        return sort_column(keys, KeysOptions(descending, total_order, nulls), strategy, context)
    keys, lines = array_and_lines(keys, axis, "keys")
    if lines is not None:
        no_out(out)
        options: dict[str, Any] = {"descending": descending, "total_order": total_order, "strategy": strategy, "context": context}
        return lines.restored(sorted_rows(lines, lambda row: sort(row, **options), descending, total_order, context))
    context, budget, source, order = begin(keys, descending, total_order, strategy, context)
    target = target_of(source, source.length, source.typestr, out, budget)
    if out is not None:
        check_apart([(source, target)])
    plan = run("sort_keys", sort_task(source, order, target, (), None, True, strategy, context, budget))
    if call is not None:
        call.keep(plan, [source], [target])
    return target.owner


def argsort(
    keys: Any,
    axis: int | None = -1,
    *,
    descending: bool = False,
    total_order: bool = False,
    nulls: str = "last",
    stable: bool | None = True,
    kind: str | None = None,
    dtype: Any = "int64",
    out: Any = None,
    strategy: str | None = None,
    context: Context | None = None,
) -> Any:
    """Return the indices that sort keys: ``keys[argsort(keys)]`` is sorted.

    Parameters
    ----------
    keys, axis, descending, total_order, nulls, strategy, context
        As in `sort`.
    stable
        Whether keys that compare equal keep their order (also descending); False if it does not matter.
    kind
        NumPy's name of an algorithm: ``"stable"`` and ``"mergesort"`` mean ``stable=True``; others have no effect.
    dtype
        Type of the indices, in any spelling: int64, uint64, int32 or uint32; 4 bytes only if they can count the keys.
    out
        Output array of that type, as long as `keys`, on their device. None for a new one.

    Returns
    -------
    array
        An array of the library of `keys` (for a column, NumPy's or a `DeviceArray`), or `out`.

    Raises
    ------
    OptionError
        As `sort`; or indices do not fit `dtype`.
    MemoryLimitError
        The result and scratch memory (on the CPU 16 bytes a key) do not fit the context's limit.

    Examples
    --------
    >>> import numpy as np
    >>> argsort(np.array([30, 10, 20, 10], np.uint8))
    array([1, 3, 2, 0])
    """
    check_order(nulls, descending=descending, total_order=total_order)
    stable = check_stability(stable, kind)
    dtype = dtype if isinstance(dtype, str) and dtype in INDEX_TYPES else named_type(dtype)
    check_places(dtype, 0)
    call = None
    if is_only_axis(axis) and context is None and strategy is None and out is None and dtype == "int64":
        found = argsorted_few(keys, descending=descending, total_order=total_order)
        if found is not None:
            return found
        call = repeated_call(("argsort", descending, total_order, stable), keys, by_class=True)
        if call is not None and call.is_known:
            result, addresses = empty_beside(keys, INDEX_TYPES[dtype])
            if call.replay(*addresses):
                return result
    if is_column(keys):
        from headrace.arrange.sort.column_sort import argsort_column

        no_out(out)
        options = KeysOptions(descending, total_order, nulls, stable=stable, dtype=dtype)
        return argsort_column(keys, options, strategy, context)
    keys, lines = array_and_lines(keys, axis, "keys")
    if lines is not None:
        no_out(out)
        how: dict[str, Any] = {
            "descending": descending,
            "total_order": total_order,
            "stable": stable,
            "strategy": strategy,
            "context": context,
        }
        found = argsorted_rows(lines, lambda row: argsort(row, **how), descending, total_order, context)
        return converted(lines.restored(found, keeps_type=False), dtype)
    context, budget, source, order = begin(keys, descending, total_order, strategy, context)
    check_places(dtype, source.length)
    target = target_of(source, source.length, INDEX_TYPES[dtype], out, budget)
    if out is not None:
        check_apart([(source, None), (None, target)])
    plan = run("argsort", sort_task(source, order, None, (), target, stable, strategy, context, budget))
    if call is not None:
        call.keep(plan, [source], [target])
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
    """Sort keys, and move values with them.

    Parameters
    ----------
    keys, descending, total_order, nulls, strategy, context
        As in `sort`; the keys have one dimension.
    values
        An array or a list of arrays, as long as `keys` and on the same device. Items have 1, 2, 4, 8 or 16 bytes. Columns may
        have any type.
    stable
        Whether values of keys that compare equal keep their order (also descending); False if it does not matter.
    out
        Output arrays for the keys and for the values, as `values`; ``(keys, values)`` to sort in place. None for new arrays.

    Returns
    -------
    SortedPairs
        Keys with their original bits (-0 and 0 are equal, so they keep their order), and values.

    Raises
    ------
    OptionError
        As `sort`; or the lengths differ.
    MemoryLimitError
        As `argsort`.

    Examples
    --------
    >>> import numpy as np
    >>> sort_pairs(np.array([3, 1, 2, 1]), np.array([10, 20, 30, 40]))
    SortedPairs(keys=array([1, 1, 2, 3]), values=array([20, 40, 30, 10]))
    """
    check_order(nulls, descending=descending, total_order=total_order, stable=stable)
    call = None
    if context is None and strategy is None and out is None:
        call = repeated_call(("sort_pairs", descending, total_order, stable), keys, values, by_class=True)
        if call is not None and call.is_known:
            (result, first), (moved_values, second) = empty_beside(keys), empty_beside(values)
            if call.replay(*second, *first):
                return SortedPairs(result, moved_values)
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
        target_of(column, column.length, column.typestr, output, budget) for column, output in zip(columns, outs[1:], strict=True)
    ]
    moves = tuple(ColumnMove(a, b) for a, b in zip(columns, moved_to, strict=True))
    if out is not None:
        check_apart([(source, target), *((move.source, move.target) for move in moves)])
    plan = run("sort_pairs", sort_task(source, order, target, moves, None, stable, strategy, context, budget))
    if call is not None:
        call.keep(plan, [source, *columns], [*moved_to, target])
    owners = [move.target.owner for move in moves]
    return SortedPairs(target.owner, owners if several else owners[0])


def is_sorted(
    keys: Any, *, descending: bool = False, total_order: bool = False, nulls: str = "last", context: Context | None = None
) -> bool:
    """Return whether keys are in the order of `sort`, except for the order of equal keys.

    Parameters
    ----------
    keys, descending, total_order, nulls, context
        As in `sort`; the keys have one dimension. On a GPU the host waits once, for a column with nulls twice.

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
    axis: int | None = -1,
    largest: bool = True,
    total_order: bool = False,
    strategy: str | None = None,
    context: Context | None = None,
) -> TopK:
    """Return the first keys of their order and their indices, without sorting the others.

    Parameters
    ----------
    keys, axis, total_order, strategy, context
        As in `sort`, without nulls. NaN and NaT are taken last, for the largest as for the smallest keys.
    k
        Number of keys to return, at most the number of keys.
    largest
        Whether to return the largest keys; if not, the smallest.

    Returns
    -------
    TopK
        The first k keys and their indices; of equal keys the earliest, in their order.

    Raises
    ------
    OptionError
        As `sort`; or there are fewer than k keys.
    MemoryLimitError
        The result and scratch memory do not fit the context's limit.

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
    keys, lines = array_and_lines(keys, axis, "keys")
    if lines is not None:
        how: dict[str, Any] = {"largest": largest, "total_order": total_order, "strategy": strategy, "context": context}
        indices = lines.each(lambda row: top_k(row, k, **how).indices)
        return TopK(lines.restored(lines.gathered(indices)), lines.restored(indices, keeps_type=False))
    context, budget, source, order = begin(keys, largest, total_order, strategy, context)
    k = checked_k(k, source.length)
    target = empty_like(source, k, budget=budget)
    indices = empty_like(source, k, "<i8", budget)
    run("top_k", sort_task(source, order, target, (), indices, True, strategy, context, budget))
    return TopK(target.owner, indices.owner)
