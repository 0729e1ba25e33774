"""Removes duplicates: returns the distinct values of a column, ascending, and the index of each row's value (step 1a)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from headrace import _native
from headrace.arrange.gather.take import take_rows
from headrace.arrange.search.unique import unique
from headrace.arrange.sort.sort import argsort, sort, sort_pairs
from headrace.arrays.arrays import needed_numpy
from headrace.columns.column import Column
from headrace.columns.types import DataType, has_offsets
from headrace.core.context import Context, context_of
from headrace.core.options import choice
from headrace.encode.texts import as_dictionary
from headrace.index.hash_map.hash_map import HashMap
from headrace.store.dictionary.items import (
    NumberItems,
    TextItems,
    address_of,
    column_of_items,
    empty_column,
    items_at,
    items_of,
    on_host,
    short_items_of,
)
from headrace.store.dictionary.one_column import ONE_COLUMN
from headrace.store.dictionary.plain import plain_column
from headrace.store.dictionary.validity import Validity, flags_of, of_column

METHODS = ("auto", "sort", "hash")
_CACHED_VALUES = 1 << 18  # distinct numbers whose hash table is about as large as a core's part of a shared cache
_ROWS_OF_VALUE = 8  # rows for each distinct number from which on a hash table is faster than a sort


class DistinctValues(NamedTuple):
    """Distinct values of a column, ascending, and for each row the index of its value, uint32."""

    values: Column
    codes: Any


class NumberedValues(NamedTuple):
    """Distinct values of a column, ascending, and a number for each row."""

    values: Column
    numbers: Any  # number of each row's value in any order, uint32; any one for a null
    ranks: Any  # index in `values` for each number, uint32; None if numbers are indices
    validity: Validity  # validity of the rows


def distinct_values(column: Column | Any, *, method: str = "auto", context: Context | None = None) -> DistinctValues:
    """Return the distinct values of a column, ascending, and the index of each row's value (Krueger et al. 2011, step 1a).

    Parameters
    ----------
    column
        Column of any type on the host, array of NumPy of one dimension, list, Series, or array of PyArrow.
    method
        For numbers, ``"sort"``: sort and remove duplicates. ``"hash"``: find the distinct values with a hash table, then sort
        these alone. ``"auto"``: on a CPU, hash while the table fits a cache, and else sort. The result is the same. Texts are
        hashed in any case.
    context
        Threads and memory that may be used. If its device is a GPU, numbers are sorted or hashed there.

    Returns
    -------
    DistinctValues
        The values in the order that `EncodedColumn` has, and the indices; 0 for a null.

    Raises
    ------
    OptionError
        `column` has values that no column has, or the method is unknown.
    UnsupportedDeviceError
        The column is on a GPU.

    Examples
    --------
    >>> from headrace import read_csv
    >>> values, codes = distinct_values(read_csv(b"x\\n30\\n10\\n30\\n")["x"])
    >>> values.to_pylist(), codes
    ([10, 30], array([1, 0, 1], dtype=uint32))
    """
    found = numbered_values(column, method=method, context=context)
    codes = found.numbers if found.ranks is None else found.ranks[found.numbers]
    if found.validity.bits is not None:
        codes = codes * flags_of(found.validity.bits, len(codes))
    return DistinctValues(found.values, codes)


def numbered_values(column: Column | Any, *, method: str = "auto", context: Context | None = None) -> NumberedValues:
    """Return the distinct values of a column, ascending, and a number of each row's value; arguments as of `distinct_values`."""
    np = needed_numpy("headrace.dictionary")

    choice("method", method, METHODS)
    context = context_of(context)
    column = plain_column(column, context)
    validity = of_column(column)
    if column.type.name == "null":
        return NumberedValues(empty_column(column.type), np.zeros(column.length, np.uint32), None, validity)
    if has_offsets(column.type):
        return _numbered_texts(column, validity, context)
    rows = None if validity.bits is None else np.flatnonzero(flags_of(validity.bits, column.length))
    present = column if rows is None else replace(take_rows(column, rows, context.thread_count), null_count=0, validity=None)
    items = short_items_of(present)
    if isinstance(items, TextItems):
        return _numbered_texts(column, validity, context)
    found, numbers, ranks = _distinct_numbers(items, method, context)
    return NumberedValues(column_of_items(found, column.type), _with_nulls(numbers, rows, column.length), ranks, validity)


def _with_nulls(numbers: Any, rows: Any, length: int) -> Any:
    import numpy as np

    if rows is None:
        return numbers.astype(np.uint32, copy=False)
    result: Any = np.zeros(length, np.uint32)
    result[rows] = numbers
    return result


def _distinct_numbers(items: NumberItems, method: str, context: Context) -> tuple[NumberItems, Any, Any]:
    """Return distinct numbers, ascending, with the number of each item, and the ranks of numbers if those are not ascending."""
    is_on_host = context.device.kind == "cpu"
    if is_on_host and method != "sort":
        limit = len(items) if method == "hash" else min(len(items) // _ROWS_OF_VALUE, _CACHED_VALUES)
        found = _numbered_items(items, limit, context)
        if found is not None:
            return found
    if is_on_host:
        return *_sorted_items(items, context), None
    with ONE_COLUMN:
        if method != "hash" or not len(items):
            values, inverse = unique(items.sortable, return_inverse=True, context=context)
            return items.of_sortable(on_host(values, context)), on_host(inverse, context), None
        return *_hashed_on_gpu(items, context), None


def _numbered_items(items: NumberItems, limit: int, context: Context) -> tuple[NumberItems, Any, Any] | None:
    """Number items with a hash table, and sort the distinct ones; None if there are more than `limit`."""
    import numpy as np

    numbers: Any = np.empty(len(items), np.uint32)
    at, width = address_of(items.items), items.items.dtype.itemsize
    found = _native.number_items((at, len(items), width), limit, address_of(numbers), context.thread_count)
    if found is None:
        return None
    distinct = replace(items, items=np.frombuffer(found, items.items.dtype))
    order = argsort(distinct.sortable, context=context)
    return replace(items, items=distinct.items[order]), numbers, _inverse(order)


def _sorted_items(items: NumberItems, context: Context) -> tuple[NumberItems, Any]:
    """Return the distinct numbers and the index of each item, by a sort of items and their places."""
    import numpy as np

    count, sortable = len(items), items.sortable
    keys, places = sort_pairs(sortable, np.arange(count, dtype=np.uint32), context=context)
    distinct, numbers = np.empty(count, sortable.dtype), np.empty(count, np.uint32)
    given = address_of(keys), address_of(places), count, sortable.dtype.itemsize
    found = _native.number_sorted(given, address_of(distinct), address_of(numbers), context.thread_count)
    return items.of_sortable(distinct[:found]), numbers


def _inverse(order: Any) -> Any:
    """Return the index of each number in a permutation, uint32; at least one."""
    import numpy as np

    ranks: Any = np.zeros(max(len(order), 1), np.uint32)
    ranks[order] = np.arange(len(order), dtype=np.uint32)
    return ranks


def _hashed_on_gpu(items: NumberItems, context: Context) -> tuple[NumberItems, Any]:
    import numpy as np

    # Maps have keys of 4 or 8 bytes.
    sortable = items.sortable
    keys = sortable if sortable.dtype.itemsize >= 4 else sortable.astype(np.int32)
    numbers = HashMap(keys.dtype, "uint32", context=context)
    numbers.insert(keys, np.zeros(len(keys), np.uint32))
    found = on_host(sort(numbers.items().keys, context=context), context)
    numbers.replace(found, np.arange(len(found), dtype=np.uint32))
    return items.of_sortable(found.astype(sortable.dtype)), on_host(numbers.find(keys).values, context)


def _numbered_texts(column: Column, validity: Validity, context: Context) -> NumberedValues:
    """Number texts with a hash table, and sort the distinct ones."""
    import numpy as np

    threads = context.thread_count
    if has_offsets(column.type):
        given = replace(column, type=DataType("large_string" if column.type.bits == 64 else "string"))
    else:
        given = column_of_items(items_of(column), DataType("large_string"))
        given = replace(given, validity=validity.bits, null_count=validity.null_count)
    numbered = as_dictionary(given, threads)
    first = numbered.dictionary
    assert first is not None
    texts = items_of(first)
    assert isinstance(texts, TextItems)
    order: Any = np.empty(len(first), np.uint32)
    _native.sort_texts(texts.addresses, len(first), address_of(order), threads)
    values = take_rows(first, order, threads)
    if values.type.bits == column.type.bits:
        values = replace(values, type=column.type)
    else:
        values = column_of_items(items_of(values), column.type)
    return NumberedValues(values, items_at(numbered.values, "<u4", column.length), _inverse(order), validity)
