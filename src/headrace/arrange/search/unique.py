"""Finds distinct keys: a sort, a mark for each key that differs from the one before it, and a selection of the marked ones."""

from __future__ import annotations

from typing import Any, NamedTuple

from headrace.arrange.gather.take import take
from headrace.arrange.search.search import (
    few_distinct_of,
    first_of_runs,
    lengths_of,
    marks_of,
    numbers_like,
    positions_of,
    ranks_of,
)
from headrace.arrange.sort.key_order import KeyOrder
from headrace.arrange.sort.sort import argsort, sort
from headrace.arrays.arrays import Array
from headrace.arrays.inputs import as_array, converted, flattened, type_of
from headrace.arrays.placement import placed
from headrace.core.budget import Budget
from headrace.core.context import Context, context_of
from headrace.core.errors import OptionError
from headrace.core.options import flag
from headrace.primitives.select import select


class Distinct(NamedTuple):
    """The distinct keys of an array, and what was asked for of them; None otherwise.

    Parameters
    ----------
    values
        The keys, ascending.
    indices
        Index of the first occurrence of each, int64.
    inverse
        Index among `values` of each key of the array, int64, in the array's shape.
    counts
        Number of occurrences of each, int64.
    """

    values: Any
    indices: Any = None
    inverse: Any = None
    counts: Any = None


def unique(
    items: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    *,
    equal_nan: bool = True,
    sorted: bool = True,  # noqa: A002 (NumPy's name)
    context: Context | None = None,
) -> Any:
    """Return the distinct items of an array, ascending.

    Parameters
    ----------
    items
        Array of any shape, a list or a Series. The types are those of `headrace.sort`. The work runs on its device.
    return_index
        Whether to return the index of the first occurrence of each.
    return_inverse
        Whether to return the index among the distinct items of each item, in the shape of `items`.
    return_counts
        Whether to return the number of occurrences of each.
    equal_nan
        True: all NaN are one item, the last one, and so are all NaT. Other values are refused.
    sorted
        Accepted; the items are ascending in any case.
    context
        Threads, instruction set and memory that may be used, and the GPU to which a host array is copied.

    Returns
    -------
    array or tuple of arrays
        The distinct items, or a tuple with index, inverse and counts after them. Of -0 and 0 only the first is an item, in the
        order of `headrace.sort`.

    Raises
    ------
    OptionError
        `items` has another type or nulls.
    MemoryLimitError
        The results and scratch memory do not fit the context's limit.

    Examples
    --------
    >>> unique([3, 1, 3, 2])
    array([1, 2, 3])
    >>> unique([3, 1, 3, 2], return_inverse=True, return_counts=True)
    (array([1, 2, 3]), array([2, 0, 2, 1]), array([1, 1, 2]))
    """
    if not flag("equal_nan", equal_nan):
        raise OptionError("equal_nan=False is not supported: all NaN are one item; remove the argument")
    flag("sorted", sorted)
    wanted = flag("return_index", return_index), flag("return_inverse", return_inverse), flag("return_counts", return_counts)
    found = distinct(items, *wanted, context=context)
    chosen = [part for part in found[1:] if part is not None]
    return (found.values, *chosen) if chosen else found.values


def distinct(items: Any, indices: bool, inverse: bool, counts: bool, *, context: Context | None = None) -> Distinct:
    """Return the distinct items of an array, with indices, inverse and counts as wanted."""
    items = as_array(items, "items")
    shape = getattr(items, "shape", (0,))
    is_bfloat16 = type_of(items) == "bfloat16"
    flat = flattened(items, "items")
    given, context = context, context_of(context)
    budget = context.new_budget()
    source = placed(flat, "items", context, budget)
    few = None if indices or counts else few_distinct_of(source, context, budget)
    if few is not None:
        values = sort(few, context=given)
        return Distinct(values, inverse=_in_shape(_places(values, source, context, budget), shape) if inverse else None)
    is_on_host = source.device.kind == "cpu"
    has_order = indices or (inverse and (is_on_host or KeyOrder.of(source.typestr).has_equals))
    order = argsort(source.owner, context=given) if has_order else None  # a default context repeats earlier calls
    found: dict[str, Any] = {}
    keys = sort(source.owner, context=given) if order is None else take(source.owner, order, context=context)
    ascending = placed(keys, "items", context, budget)
    if is_on_host or indices or counts:
        marks = marks_of(ascending, context, budget)
        values = select(keys, marks.owner, context=context)
    else:
        values = first_of_runs(ascending, context, budget)
    if indices or counts:
        numbers = numbers_like(ascending, ascending.length, context, budget)
        begins = placed(select(numbers.owner, marks.owner, context=context), "begins", context)
        if indices:
            found["indices"] = take(order, begins.owner, context=context)
        if counts:
            found["counts"] = lengths_of(begins, ascending.length, context, budget).owner
    if inverse and is_on_host:
        places = ranks_of(marks, placed(order, "order", context), budget).owner
        found["inverse"] = _in_shape(places, shape)
    elif inverse:
        found["inverse"] = _in_shape(_places(values, source, context, budget), shape)
    return Distinct(converted(values, "bfloat16") if is_bfloat16 else values, **found)


def _places(values: Any, source: Array, context: Context, budget: Budget) -> Any:
    return positions_of(placed(values, "values", context), source, (False, False), context, budget).owner


def _in_shape(places: Any, shape: tuple[int, ...]) -> Any:
    return places.reshape(shape) if len(shape) > 1 and hasattr(places, "reshape") else places
