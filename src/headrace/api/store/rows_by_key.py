"""Finds rows by ranges of keys: by the sorted dictionary of the main, and a `SortedMap` or a dictionary of the delta.

Keys are distinct, so the code of a key is its place in the order of the main's keys. A merge has made that order.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any

from headrace.columns.column import Column
from headrace.core.context import Context
from headrace.core.errors import MissingDependencyError
from headrace.index.sorted_map.sorted_map import SortedMap
from headrace.store.dictionary.encode import encode
from headrace.store.dictionary.packing import codes_of
from headrace.store.keys.key_values import integers_of, keys_of
from headrace.store.state import StoreState

try:
    import numpy as np
except ImportError:
    raise MissingDependencyError.of("numpy", "numpy", "a store") from None


class RowsByKey:
    """Row numbers of a state in the order of the keys.

    `name`: the column of the key, of distinct values. `context`: threads that may be used.
    """

    def __init__(self, state: StoreState, name: str, context: Context) -> None:
        self._state, self._name, self._context = state, name, context
        self._dictionary = state.main.columns[name].dictionary
        self._places = state.main.places_by_code(name, context)
        self._removed = state.removed_numbers
        column, numbers = state.delta_column(name, context)
        self._delta = (_TextOrder if column.type.is_string else _NumberOrder)(column, numbers, context)

    def between(self, low: Any, high: Any) -> Any:
        """Return the row numbers of the keys from a low to a high one, arrays of one key, in the order of the keys."""
        begin, end = _borders(self._dictionary, low[0], high[0])
        main = self._state.main.rows.at(self._places[begin:end])
        main = main[~np.isin(main, self._removed)] if len(self._removed) else main
        delta = self._delta.numbers(low, high)
        if not len(main) or not len(delta):
            return main if len(main) else delta
        numbers = np.concatenate((main, delta))
        keys = self._state.rows_at(numbers, [self._name], self._context)[self._name]
        return numbers[np.argsort(codes_of(encode(keys, context=self._context), context=self._context))]


class _NumberOrder:
    """Row numbers in the order of distinct numbers, dates or timestamps."""

    def __init__(self, column: Column, numbers: Any, context: Context) -> None:
        keys = keys_of(column)
        self._map = SortedMap(keys.dtype, "uint64", context=Context(threads=context.threads))
        self._map.insert(keys, numbers)

    def numbers(self, low: Any, high: Any) -> Any:
        """Return the row numbers of the keys from a low to a high one."""
        return self._map.range(low, high).values


class _TextOrder:
    """Row numbers in the order of distinct texts."""

    def __init__(self, column: Column, numbers: Any, context: Context) -> None:
        encoded = encode(column, context=context)
        self._texts = encoded.dictionary
        self._numbers = numbers.copy()
        self._numbers[codes_of(encoded, context=context)] = numbers  # the code of a text is its place in the order

    def numbers(self, low: Any, high: Any) -> Any:
        """Return the row numbers of the texts from a low to a high one."""
        begin, end = _borders(self._texts, low[0], high[0])
        return self._numbers[begin:end]


def _borders(dictionary: Column, low: Any, high: Any) -> tuple[int, int]:
    """Return the begin and the end of the values of a sorted dictionary that are from a low to a high one."""
    if dictionary.type.is_string:
        places, texts = range(len(dictionary)), dictionary.__getitem__
        return bisect_left(places, low, key=texts), bisect_right(places, high, key=texts)
    integers = integers_of(dictionary)
    return bisect_left(integers, low), bisect_right(integers, high)
