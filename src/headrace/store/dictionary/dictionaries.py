"""Merges two sorted dictionaries, and returns the new code of each old one (step 1b)."""

from __future__ import annotations

from typing import Any, NamedTuple

from headrace import _native
from headrace.columns.column import Column
from headrace.core.context import Context
from headrace.core.errors import OptionError
from headrace.store.dictionary.encoded_column import MAX_VALUES
from headrace.store.dictionary.items import NumberItems, TextItems, address_of, column_of_items, items_of


class DictionaryMerge(NamedTuple):
    """A merged dictionary, and the new codes of the values of main and delta, uint32.

    The tables may be longer than the dictionaries; entries after the last value are 0.
    """

    dictionary: Column
    main_codes: Any
    delta_codes: Any


def merge_dictionaries(main: Column, delta: Column, context: Context) -> DictionaryMerge:
    """Return the union of two dictionaries of one type, ascending, and both translation tables.

    The dictionaries are cut into pieces of equal size of the merged sequence, which threads merge in one pass (Green, McColl and
    Bader 2012).

    Raises
    ------
    OptionError
        The merged dictionary may have more than 2**32 values, or too many bytes for its type.
    """
    if len(main) + len(delta) > MAX_VALUES:
        raise OptionError(f"dictionaries of {len(main):_} and {len(delta):_} values are too large to be merged")
    main_codes, delta_codes = new_table(len(main)), new_table(len(delta))
    tables = address_of(main_codes), address_of(delta_codes)
    old, new = items_of(main), items_of(delta)
    if isinstance(old, NumberItems) and isinstance(new, NumberItems):
        merged: Any = _merged_numbers(old, new, tables, context)
    else:
        assert isinstance(old, TextItems) and isinstance(new, TextItems)
        merged = _merged_texts(old, new, tables, context)
    return DictionaryMerge(column_of_items(merged, main.type), main_codes, delta_codes)


def new_table(count: int) -> Any:
    """Return a table for `count` codes. It has an entry for each number that a code's bits can represent."""
    import numpy as np

    table = np.empty(1 << (count - 1).bit_length() if count else 1, np.uint32)
    table[count:] = 0
    return table


def _merged_numbers(main: NumberItems, delta: NumberItems, tables: tuple[int, int], context: Context) -> NumberItems:
    import numpy as np

    merged = np.empty(len(main) + len(delta), main.items.dtype)
    given = (address_of(main.items), len(main)), (address_of(delta.items), len(delta))
    count = _native.merge_numbers(*given, main.order.packed, address_of(merged), tables, context.thread_count)
    return NumberItems(merged[:count], main.order)


def _merged_texts(main: TextItems, delta: TextItems, tables: tuple[int, int], context: Context) -> TextItems:
    import numpy as np

    merged: list[TextItems] = []

    def allocated(count: int, nbytes: int) -> tuple[int, int]:
        merged.append(TextItems(np.empty(count + 1, np.int64), np.empty(nbytes, np.uint8)))
        return merged[0].given[:2]

    _native.merge_texts(main.given, delta.given, tables, allocated, context.thread_count)
    return merged[0]
