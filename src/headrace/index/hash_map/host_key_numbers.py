"""Numbers keys in host memory that are texts, or rows of several columns, which are packed into texts (row_keys.py)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from headrace import _native
from headrace.arrange.gather.take import take_rows
from headrace.arrange.partition_rows.rows import compared_columns, row_hashes
from headrace.arrange.sort.sort import sort_pairs
from headrace.arrays.arrays import Array, fast_array, host_array, needed_numpy
from headrace.columns.column import Column
from headrace.columns.plan.native_errors import native_errors
from headrace.columns.types import DataType
from headrace.core.buffer import copy_of
from headrace.core.context import Context
from headrace.index.hash_map.pair_types import PairTypes
from headrace.index.hash_map.row_keys import packed_rows, pieces_of, text_column, unpacked_rows

NUMBER = "<i8"  # type of the numbers
_TEXTS = DataType("large_string")


def keys_on_host(keys: Any, types: PairTypes, context: Context) -> Array:
    """Return the keys of a caller as an array whose owner is a column of texts.

    Raise OptionError if they do not have the types of the map's keys, or some are null.
    """
    column = packed_rows(keys, types.columns, context) if types.columns else text_column(keys, "keys")
    return _array_of(column, context)


def _array_of(column: Any, context: Context, length: int | None = None) -> Array:
    return fast_array(0, len(column) if length is None else length, NUMBER, context.device, "numpy", None, True, column)


@dataclass(frozen=True, slots=True)
class HostKeyNumbers:
    """The numbers of texts. `texts` has a lock of its own."""

    types: PairTypes
    context: Context
    texts: _native.TextNumbers

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def nbytes(self) -> int:
        """Bytes of the texts and their table."""
        return self.texts.nbytes

    def find(self, keys: Array) -> Array:
        """Return the number of each key, -1 if it has none."""
        return self._numbered(keys, self.texts.find)

    def add(self, keys: Array) -> Array:
        """Return the number of each key, after keys without a number got one. If memory is refused, none did."""
        return self._numbered(keys, self.texts.add)

    def _numbered(self, keys: Array, number: Callable[[Any, int, int], None]) -> Array:
        column, context = keys.owner, self.context
        numbers: Any = needed_numpy("a map of texts").empty(len(column), NUMBER)
        result = host_array(numbers, NUMBER)
        hashes = row_hashes({"key": column}, ["key"], context, by_secret=True)
        described, _held = compared_columns([column], context)
        with native_errors():
            number((described, hashes.__array_interface__["data"][0], len(column), False), result.address, context.thread_count)
        return result

    def remove_from(self, number: int) -> None:
        """Remove the keys from a number on. Their numbers are given again."""
        self.texts.remove_from(number)

    def keep(self, numbers: Array) -> None:
        """Remove all keys but those of some numbers. The others keep their numbers."""
        self.texts.keep(numbers.address, numbers.length)

    def copy(self) -> HostKeyNumbers:
        """Return a copy."""
        return HostKeyNumbers(self.types, self.context, self.texts.copy())

    def keys_of(self, numbers: Array) -> Array:
        """Return the keys that have these numbers."""
        return _array_of(take_rows(self._all_texts(), numbers.as_numpy(), self.context.thread_count), self.context)

    def sorter(self) -> Callable[[Array, Array | None], tuple[Array, Array | None]]:
        """Return a function that sorts items, which has a copy of all texts."""
        return partial(_sorted_items, self.types, self.context, self._all_texts())

    def _all_texts(self) -> Column:
        """Return the texts of all numbers, in their order."""
        ends, texts = self.texts.texts()
        return Column(_TEXTS, len(ends) // 8, 0, copy_of(texts), offsets=copy_of(bytes(8) + ends))


def _sorted_items(
    types: PairTypes, context: Context, held: Column, numbers: Array, values: Array | None
) -> tuple[Array, Array | None]:
    """Return the keys of numbers, ascending, and their values. `held`: the texts of all numbers."""
    np, threads = needed_numpy("items()"), context.thread_count
    present = np.unique(numbers.as_numpy())
    column = take_rows(held, present, threads)
    texts = pieces_of(column)
    order = np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int64)
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    keys: Any = ranks[np.searchsorted(present, numbers.as_numpy())]
    if values is not None:
        by_value = sort_pairs(values.owner, keys, total_order=True, context=context)
        keys, found = sort_pairs(by_value.values, by_value.keys, context=context)
        values = host_array(found, values.typestr)
    else:
        keys = np.sort(keys)
    result = take_rows(column, order[keys], threads)
    return _array_of(unpacked_rows(result, types.columns, threads) if types.columns else result, context, len(keys)), values
