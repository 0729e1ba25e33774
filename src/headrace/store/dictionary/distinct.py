"""Removes duplicates: returns the distinct values of a column, ascending, and the index of each row's value (step 1a)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from headrace import _native
from headrace.arrange.gather.take import take_rows
from headrace.arrange.search.unique import unique
from headrace.arrange.sort.sort import sort
from headrace.arrays.arrays import needed_numpy
from headrace.columns.column import Column
from headrace.columns.types import DataType, has_offsets
from headrace.core.context import Context, context_of
from headrace.core.options import choice
from headrace.encode.texts import as_dictionary
from headrace.index.hash_map.hash_map import HashMap
from headrace.store.dictionary.items import TextItems, address_of, column_of_items, empty_column, items_at, items_of, on_host
from headrace.store.dictionary.plain import plain_column
from headrace.store.dictionary.validity import flags_of

METHODS = ("sort", "hash")


class DistinctValues(NamedTuple):
    """Distinct values of a column, ascending, and for each row the index of its value, uint32."""

    values: Column
    codes: Any


def distinct_values(column: Column | Any, *, method: str = "sort", context: Context | None = None) -> DistinctValues:
    """Return the distinct values of a column, ascending, and the index of each row's value (Krueger et al. 2011, step 1a).

    Parameters
    ----------
    column
        Column of any type, or array of NumPy of integers or floats, on the host.
    method
        For numbers, ``"sort"``: sort and remove duplicates. ``"hash"``: find the distinct values
        with a hash table, then sort these alone. The result is the same. Texts are hashed in any case.
    context
        Threads and memory that may be used. If its device is a GPU, numbers are sorted or hashed there.

    Returns
    -------
    DistinctValues
        The values in the order that `EncodedColumn` has, and the indices; 0 for a null.

    Raises
    ------
    OptionError
        `column` is not a column, or the method is unknown.
    UnsupportedDeviceError
        The column is on a GPU.

    Examples
    --------
    >>> from headrace import read_csv
    >>> values, codes = distinct_values(read_csv(b"x\\n30\\n10\\n30\\n")["x"])
    >>> values.to_pylist(), codes
    ([10, 30], array([1, 0, 1], dtype=uint32))
    """
    np = needed_numpy("headrace.dictionary")

    choice("method", method, METHODS)
    context = context_of(context)
    column = plain_column(column, context)
    if column.type.name == "null":
        return DistinctValues(empty_column(column.type), np.zeros(column.length, np.uint32))
    if has_offsets(column.type):
        return _distinct_texts(column, context)
    rows = _present(column)
    present = column if rows is None else replace(take_rows(column, rows, context.thread_count), null_count=0, validity=None)
    items = items_of(present)
    if isinstance(items, TextItems):
        decimals, codes = _distinct_decimals(items)
        values = column_of_items(decimals, column.type)
    else:
        found, codes = _distinct_numbers(items.sortable, method, context)
        values = column_of_items(items.of_sortable(found), column.type)
    return DistinctValues(values, _with_nulls(codes, rows, column.length))


def _present(column: Column) -> Any:
    """Return the numbers of the rows with values; None for all rows."""
    import numpy as np

    return None if column.validity is None else np.flatnonzero(flags_of(column.validity, column.length, column.offset))


def _with_nulls(codes: Any, rows: Any, length: int) -> Any:
    import numpy as np

    if rows is None:
        return codes.astype(np.uint32)
    result: Any = np.zeros(length, np.uint32)
    result[rows] = codes
    return result


def _distinct_numbers(sortable: Any, method: str, context: Context) -> tuple[Any, Any]:
    import numpy as np

    if method == "sort" or not len(sortable):
        values, inverse = unique(sortable, return_inverse=True, context=context)
        return on_host(values, context), on_host(inverse, context)
    # Maps have keys of 4 or 8 bytes.
    keys = sortable if sortable.dtype.itemsize >= 4 else sortable.astype(np.int32)
    numbers = HashMap(keys.dtype, "uint32", context=context)
    numbers.insert(keys, np.zeros(len(keys), np.uint32))
    found = on_host(sort(numbers.items().keys, context=context), context)
    numbers.replace(found, np.arange(len(found), dtype=np.uint32))
    return found.astype(sortable.dtype), on_host(numbers.find(keys).values, context)


def _distinct_decimals(items: TextItems) -> tuple[TextItems, Any]:
    import numpy as np

    texts = items.data.view("S16")  # all have 16 bytes, so trailing zeros do not matter
    values, codes = np.unique(texts, return_inverse=True)
    return TextItems(np.arange(len(values) + 1) * 16, values.view(np.uint8)), codes.reshape(-1)


def _distinct_texts(column: Column, context: Context) -> DistinctValues:
    """Number texts with a hash table, sort the distinct ones, and translate the numbers."""
    import numpy as np

    threads = context.thread_count
    as_string = DataType("large_string" if column.type.bits == 64 else "string")
    numbered = as_dictionary(replace(column, type=as_string), threads)
    first = numbered.dictionary
    assert first is not None
    count, texts = len(first), items_of(first)
    assert isinstance(texts, TextItems)
    order: Any = np.empty(count, np.uint32)
    _native.sort_texts(texts.given, address_of(order), threads)
    ranks: Any = np.zeros(max(count, 1), np.uint32)
    ranks[order] = np.arange(count, dtype=np.uint32)
    values = items_of(take_rows(first, order, threads))
    result = ranks[items_at(numbered.values, "<u4", column.length)]
    rows = _present(column)
    if rows is not None:
        result = _with_nulls(result[rows], rows, column.length)
    return DistinctValues(column_of_items(values, column.type), result)
