"""Keys in order where they lie, alone, with what belongs to them, or as places: radix sorts for GPU and CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple

from headrace.arrange.sort.key_order import KeyOrder
from headrace.arrange.sort.task import STRATEGIES, Moved, SortTask
from headrace.core.arrays import Array, take
from headrace.core.context import Context
from headrace.core.errors import OptionError
from headrace.core.gpu.device_memory import Budget
from headrace.core.placement import empty_like, placed, same_device

_WIDTHS = (1, 2, 4, 8, 16)
_INDEX_TYPES = {"int64": "<i8", "uint64": "<u8", "int32": "<i4", "uint32": "<u4"}


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
        Of a column: ``"last"`` or ``"first"``, whatever the direction.
    out
        Array of that type and length on that device that gets the keys; `keys` itself to sort them in place. None for a new one.
        Columns do not change.
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
    _check_nulls(nulls)
    if _is_column(keys):
        _no_out(out)
        from headrace.arrange.sort.columns import sort_column

        return sort_column(keys, KeysOptions(descending, total_order, nulls), strategy, context)
    context, budget, source, order = _begin(keys, descending, total_order, strategy, context)
    target = _target(source, source.length, source.typestr, out, budget)
    _check_apart([(source, target)])
    _run("sort_keys", SortTask(source, order, target, (), None, True, strategy, context, budget))
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
    _check_nulls(nulls)
    if dtype not in _INDEX_TYPES:
        raise OptionError.unknown("dtype", dtype, _INDEX_TYPES)
    if _is_column(keys):
        from headrace.arrange.sort.columns import argsort_column

        _no_out(out)
        options = KeysOptions(descending, total_order, nulls, stable=stable, dtype=dtype)
        return argsort_column(keys, options, strategy, context)
    context, budget, source, order = _begin(keys, descending, total_order, strategy, context)
    if source.length > 1 << (31 if dtype == "int32" else 32) and dtype.endswith("32"):
        raise OptionError(f"dtype {dtype!r} cannot count {source.length:_} keys; int64 can")
    target = _target(source, source.length, _INDEX_TYPES[dtype], out, budget)
    _check_apart([(source, None), (None, target)])
    _run("argsort", SortTask(source, order, None, (), target, stable, strategy, context, budget))
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
        An array, or a list of arrays, as long as `keys` and on the same device, of items of 1, 2, 4, 8 or 16 bytes; with a column
        as keys also columns of any type.
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
    _check_nulls(nulls)
    several = isinstance(values, (list, tuple))
    given = list(values) if several else [values]
    if _is_column(keys) or any(_is_column(value) for value in given):
        _no_out(out)
        from headrace.arrange.sort.columns import sort_column_pairs

        options = KeysOptions(descending, total_order, nulls, stable=stable)
        keys_sorted, moved = sort_column_pairs(keys, given, options, strategy, context)
        return SortedPairs(keys_sorted, moved if several else moved[0])
    context, budget, source, order = _begin(keys, descending, total_order, strategy, context)
    columns = [placed(value, "values", context, budget) for value in given]
    same_device(source, *columns)
    for column in columns:
        _check_values(source, column)
    outs = _outs(out, len(columns), several=several)
    target = _target(source, source.length, source.typestr, outs[0], budget)
    moved_to = [
        _target(column, column.length, column.typestr, given_out, budget)
        for column, given_out in zip(columns, outs[1:], strict=True)
    ]
    moves = tuple(Moved(a, b) for a, b in zip(columns, moved_to, strict=True))
    _check_apart([(source, target), *((move.source, move.target) for move in moves)])
    _run("sort_pairs", SortTask(source, order, target, moves, None, stable, strategy, context, budget))
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
        As in `sort`. On a GPU the host waits once.

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
    _check_nulls(nulls)
    if _is_column(keys):
        from headrace.arrange.sort.columns import is_column_sorted

        return is_column_sorted(keys, KeysOptions(descending, total_order, nulls), context)
    context, budget, source, order = _begin(keys, descending, total_order, None, context)
    return bool(_run("is_sorted", SortTask(source, order, None, (), None, True, None, context, budget)))


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
    column = None
    if _is_column(keys):
        from headrace.arrange.sort.columns import plain_keys

        column, keys = keys, plain_keys(keys)
    context, budget, source, order = _begin(keys, largest, total_order, strategy, context)
    if not isinstance(k, int) or isinstance(k, bool) or not 0 <= k <= source.length:
        raise OptionError(f"k must be a number from 0 to how many keys there are ({source.length:_}), not {k!r}")
    target = empty_like(source, k, budget=budget)
    indices = empty_like(source, k, "<i8", budget)
    _run("top_k", SortTask(source, order, target, (), indices, True, strategy, context, budget))
    if column is not None:
        from headrace.arrange.sort.columns import column_like

        return TopK(column_like(column, target), indices.owner)
    return TopK(target.owner, indices.owner)


class KeysOptions(NamedTuple):
    """How a column's rows are to be put in order."""

    descending: bool
    total_order: bool
    nulls: str
    stable: bool = True
    dtype: str = "int64"


def _is_column(value: Any) -> bool:
    from headrace.columns.column import Column

    return isinstance(value, Column)


def _no_out(out: Any) -> None:
    if out is not None:
        raise OptionError("out is for arrays: columns do not change")


def _check_nulls(nulls: str) -> None:
    if nulls not in {"first", "last"}:
        raise OptionError.unknown("nulls", nulls, ("first", "last"))


def _begin(
    keys: Any, descending: bool, total_order: bool, strategy: str | None, context: Context | None
) -> tuple[Context, Budget, Array, KeyOrder]:
    """What every call begins with."""
    if strategy is not None and strategy not in STRATEGIES:
        raise OptionError.unknown("strategy", strategy, STRATEGIES)
    context = context or Context()
    budget = context.new_budget()
    source = placed(keys, "keys", context, budget)
    return context, budget, source, KeyOrder.of(source.typestr, descending=bool(descending), total_order=bool(total_order))


def _check_values(source: Array, column: Array) -> None:
    if column.length != source.length:
        raise OptionError(f"values has {column.length} items for {source.length} keys")
    if column.width not in _WIDTHS:
        raise OptionError(f"values have items of {column.width} bytes; 1, 2, 4, 8 and 16 can be taken")


def _outs(out: Any, columns: int, *, several: bool) -> Sequence[Any]:
    """What is given for the keys and for each array of values; None for each where nothing is."""
    if out is None:
        return [None] * (columns + 1)
    if not isinstance(out, (tuple, list)) or len(out) != 2:
        raise OptionError("out must be two things: an array for the keys, and what gets the values")
    values = list(out[1]) if several and isinstance(out[1], (list, tuple)) else [out[1]]
    if len(values) != columns:
        raise OptionError(f"out has {len(values)} arrays for {columns} arrays of values")
    return [out[0], *values]


def _target(source: Array, length: int, typestr: str, out: Any, budget: Budget) -> Array:
    """Memory for a result: what is given, or new."""
    if out is None:
        return empty_like(source, length, typestr, budget)
    if out is source.owner and typestr == source.typestr:
        target = source
    else:
        target = take(out, "out")
        same_device(source, target)
    if target.typestr != typestr:
        raise OptionError(f"out has items of type {target.typestr!r}, and the result is of {typestr!r}")
    if target.length != length:
        raise OptionError(f"out has {target.length} items, and the result {length}")
    if not target.writable:
        raise OptionError("out may not be written")
    if target.address % target.width:
        raise OptionError(f"out begins inside of an item: its address is no multiple of {target.width} bytes")
    return target


def _check_apart(pairs: Sequence[tuple[Array | None, Array | None]]) -> None:
    """Arrays and where they go: a target is where its source is, or apart from all others."""
    for number, (_, target) in enumerate(pairs):
        if target is None:
            continue
        for other_number, (source, other_target) in enumerate(pairs):
            in_place = number == other_number and source is not None and source.address == target.address
            others = [] if in_place or source is None else [source]
            if other_target is not None and other_target is not target:
                others.append(other_target)
            if any(_overlap(target, other) for other in others):
                raise OptionError("out overlaps what is sorted, or another result; pass arrays of their own, or the very ones")


def _overlap(a: Array, b: Array) -> bool:
    return a.address < b.address + b.nbytes and b.address < a.address + a.nbytes


def _run(name: str, task: SortTask) -> Any:
    """A task where its keys lie; what is for a GPU is not needed on the host."""
    place = "cpu" if task.keys.device.kind == "cpu" else "gpu"
    return _on(name, place)(task)


@lru_cache(16)
def _on(name: str, place: str) -> Callable[[SortTask], Any]:
    found: Callable[[SortTask], Any] = getattr(import_module(f"headrace.arrange.sort.sort_{place}"), f"{name}_on_{place}")
    return found
