"""Removes duplicates: returns the distinct values of a column, ascending, and the index of each row's value (step 1a)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from headrace import _native
from headrace.arrange.gather.take import take_rows
from headrace.arrange.search.searchsorted import searchsorted
from headrace.arrange.search.unique import unique
from headrace.arrange.sort.sort import sort
from headrace.columns.column import Column
from headrace.columns.plan.native_errors import native_errors
from headrace.columns.types import DataType, has_offsets
from headrace.core.context import Context
from headrace.index.hash_map.hash_map import HashMap
from headrace.store.dictionary.items import TextItems, address_of, column_of_items, items_at, items_of
from headrace.store.dictionary.validity import flags_of

METHODS = ("sort", "hash")


class DistinctValues(NamedTuple):
    """Distinct values of a column, ascending, and for each row the index of its value, uint32."""

    values: Column
    codes: Any


def distinct_values(column: Column, method: str, context: Context) -> DistinctValues:
    """Return the distinct values of a host column, and the index of each row's value; nulls have the index 0.

    Parameters
    ----------
    column
        Column that has no views and no codes.
    method
        ``"sort"``: sort and remove duplicates, then search each row's value. ``"hash"``: find the distinct values with a hash
        table, then sort these alone. Texts are hashed in any case.
    context
        Threads and memory that may be used.
    """
    if has_offsets(column.type):
        return _distinct_texts(column, context)
    rows = _present(column)
    present = column if rows is None else replace(take_rows(column, rows, context.thread_count), null_count=0, validity=None)
    items = items_of(present)
    if isinstance(items, TextItems):
        values, codes = _distinct_decimals(items)
    else:
        found, codes = _distinct_numbers(items.sortable, method, context)
        values = items.of_sortable(found)
    return DistinctValues(column_of_items(values, column.type), _with_nulls(codes, rows, column.length))


def _present(column: Column) -> Any:
    """Return the numbers of the rows with values; None for all rows."""
    import numpy as np

    return None if column.validity is None else np.flatnonzero(flags_of(column.validity, column.length, column.offset))


def _with_nulls(codes: Any, rows: Any, length: int) -> Any:
    import numpy as np

    if rows is None:
        return codes.astype(np.uint32)
    result = np.zeros(length, np.uint32)
    result[rows] = codes
    return result


def _distinct_numbers(sortable: Any, method: str, context: Context) -> tuple[Any, Any]:
    import numpy as np

    if method == "sort" or not len(sortable):
        values = unique(sortable, context=context)
        return values, searchsorted(values, sortable, context=context)
    # Maps have keys of 4 or 8 bytes.
    keys = sortable if sortable.dtype.itemsize >= 4 else sortable.astype(np.int32)
    numbers = HashMap(keys.dtype, "uint32", context=context)
    numbers.insert(keys, np.zeros(len(keys), np.uint32))
    found = sort(numbers.items().keys, context=context)
    numbers.replace(found, np.arange(len(found), dtype=np.uint32))
    return found.astype(sortable.dtype), numbers.find(keys).values


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
    with native_errors():
        codes, texts, count = _native.text_dictionary(replace(column, type=as_string), threads)
    first = Column(DataType(texts[0]), count, 0, texts[1], offsets=texts[3])
    order = np.empty(count, np.uint32)
    found = items_of(first)
    assert isinstance(found, TextItems)
    _native.sort_texts(found.given, address_of(order), threads)
    ranks = np.zeros(max(count, 1), np.uint32)
    ranks[order] = np.arange(count, dtype=np.uint32)
    values = items_of(take_rows(first, order, threads))
    numbers = items_at(codes[1], "<u4", column.length)
    result = ranks[numbers]
    rows = _present(column)
    if rows is not None:
        result = _with_nulls(result[rows], rows, column.length)
    return DistinctValues(column_of_items(values, column.type), result)
