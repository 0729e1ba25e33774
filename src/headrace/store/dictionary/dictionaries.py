"""Merges two sorted dictionaries, and returns the new code of each old one (step 1b)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from headrace import _native
from headrace.arrange.gather.take import MAX_INT32, take_rows, too_long
from headrace.arrays.arrays import needed_numpy
from headrace.columns.column import Column
from headrace.columns.types import DataType, has_offsets
from headrace.core.buffer import Buffer, empty_buffer
from headrace.core.context import Context, context_of
from headrace.core.errors import OptionError
from headrace.core.options import choice, instance
from headrace.encode.texts import as_dictionary
from headrace.store.dictionary.encoded_column import MAX_VALUES
from headrace.store.dictionary.items import (
    NumberItems,
    TextItems,
    address_of,
    column_of_items,
    is_text,
    items_at,
    items_of,
    on_host,
    short_items_of,
)
from headrace.store.dictionary.paper.library_merges import merge_csum, merge_mum
from headrace.store.dictionary.paper.slices import merge_by_slices

NUMBER_METHODS = ("merge_path", "slices", "csum", "mum")
TEXT_METHODS = ("merge_path", "hash")
_KERNELS = ("merge_path", "slices")  # Methods that have kernels. The others run on a GPU as far as the calls of this package do.


class DictionaryMerge(NamedTuple):
    """A merged dictionary, and the new codes of the values of main and delta, uint32.

    The tables may be longer than the dictionaries; entries after the last value are 0.
    """

    dictionary: Column
    main_codes: Any
    delta_codes: Any


def merge_dictionaries(
    main: Column, delta: Column, *, method: str = "merge_path", context: Context | None = None
) -> DictionaryMerge:
    """Return the union of two dictionaries of one type, ascending, and both translation tables.

    Parameters
    ----------
    main, delta
        Columns of distinct values, ascending, without nulls, as `EncodedColumn.dictionary` has them. They are not checked.
    method
        ``"merge_path"``: threads merge pieces of equal size in one pass (Green, McColl and Bader 2012). The others are those of
        Krueger et al. 2011, section 3, for comparison. ``"slices"``: cut main into equal slices and search their begins in delta.
        ``"csum"``: concatenate, sort, unique and map. ``"mum"``: merge, unique and map. ``"hash"``, for texts: find the texts of
        delta that main has with a hash table, and merge the others. All have the same result.
    context
        Threads and memory that may be used. If its device is a GPU, the merge runs there, and the results come back to the host.

    Returns
    -------
    DictionaryMerge
        The merged dictionary and the tables, uint32.

    Raises
    ------
    OptionError
        The types differ, the method is unknown or not one for the type, or the merged dictionary may be too large.

    Examples
    --------
    >>> from headrace import read_csv
    >>> main, delta = read_csv(b"x\\n10\\n30\\n")["x"], read_csv(b"x\\n20\\n30\\n")["x"]
    >>> dictionary, main_codes, delta_codes = merge_dictionaries(main, delta)
    >>> dictionary.to_pylist(), main_codes.tolist(), delta_codes.tolist()
    ([10, 20, 30], [0, 2], [1, 2])
    """
    context = context_of(context)
    for name, column in (("main", main), ("delta", delta)):
        instance(name, column, Column)
    if main.type != delta.type:
        raise OptionError(f"delta is of type {delta.type}, and main of {main.type}; cast one of them")
    choice("method", method, TEXT_METHODS if is_text(main.type) else NUMBER_METHODS)
    if len(main) + len(delta) > MAX_VALUES:
        raise OptionError(f"dictionaries of {len(main):_} and {len(delta):_} values are too large to be merged")
    if context.device.kind != "cpu" and method in _KERNELS:
        from headrace.store.dictionary.merge_gpu import merge_dictionaries_on_gpu  # needs cuda-core

        return DictionaryMerge(*merge_dictionaries_on_gpu(main, delta, in_slices=method == "slices", context=context))
    needed_numpy("headrace.dictionary")
    old, new = short_items_of(main), short_items_of(delta)
    if method == "hash" or type(old) is not type(new):
        old, new = items_of(main), items_of(delta)
    if isinstance(old, NumberItems) and isinstance(new, NumberItems):
        items, *tables = _merged_numbers(old, new, context) if method == "merge_path" else _by_paper(method, old, new, context)
        return DictionaryMerge(column_of_items(items, main.type), *tables)
    assert isinstance(old, TextItems) and isinstance(new, TextItems)
    return (_merged_texts if method == "merge_path" else _by_hash)(old, new, main.type, context)


class _Merge(NamedTuple):
    """Merged numbers and both tables."""

    items: NumberItems
    main_codes: Any
    delta_codes: Any


def new_table(count: int) -> Any:
    """Return a table for `count` codes. It has an entry for each number that a code's bits can represent."""
    import numpy as np

    table: Any = np.empty(1 << (count - 1).bit_length() if count else 1, np.uint32)
    table[count:] = 0
    return table


def _merged_numbers(main: NumberItems, delta: NumberItems, context: Context) -> _Merge:
    import numpy as np

    merged = np.empty(len(main) + len(delta), main.items.dtype)
    tables = new_table(len(main)), new_table(len(delta))
    addresses, counts = (address_of(main.items), address_of(delta.items)), (len(main), len(delta))
    given = *addresses, counts, main.items.dtype.itemsize, main.order.packed
    to = address_of(tables[0]), address_of(tables[1])
    count = _native.merge_numbers(given, address_of(merged), to, context.thread_count)
    return _Merge(replace(main, items=merged[:count]), *tables)


def _by_paper(method: str, main: NumberItems, delta: NumberItems, context: Context) -> _Merge:
    """Merge by a method of the paper, on unsigned codes of 4 or 8 bytes."""
    import numpy as np

    old, new = main.codes, delta.codes
    if method == "slices":
        found = merge_by_slices(old, new, context)
    elif method == "csum":
        found = merge_csum(old, new, np.concatenate([old, new]), context)
    else:
        found = merge_mum(old, new, context)
    tables = new_table(len(main)), new_table(len(delta))
    tables[0][: len(main)] = on_host(found.main_codes, context)
    tables[1][: len(delta)] = on_host(found.delta_codes, context)
    return _Merge(main.of_codes(on_host(found.values, context)), *tables)


def _merged_texts(main: TextItems, delta: TextItems, type_: DataType, context: Context) -> DictionaryMerge:
    created: list[Buffer] = []
    tables = new_table(len(main)), new_table(len(delta))
    is_decimal = not has_offsets(type_)
    width = 8 if is_decimal else type_.bits // 8

    def allocated(count: int, nbytes: int) -> tuple[int, int, int]:
        if width == 4 and nbytes > MAX_INT32:
            raise too_long(nbytes)
        created.extend((empty_buffer((count + 1) * width), empty_buffer(nbytes)))
        return created[0].address, created[1].address, width

    addresses = address_of(tables[0]), address_of(tables[1])
    given = (main.addresses, delta.addresses), (len(main), len(delta))
    _native.merge_texts(given, addresses, allocated, context.thread_count)
    offsets, values = created
    count = offsets.nbytes // width - 1
    if is_decimal:
        texts = TextItems(items_at(offsets, "<i8", count + 1), items_at(values, "|u1", values.nbytes))
        return DictionaryMerge(column_of_items(texts, type_), *tables)
    return DictionaryMerge(Column(type_, count, 0, values, offsets=offsets), *tables)


def _by_hash(main: TextItems, delta: TextItems, type_: DataType, context: Context) -> DictionaryMerge:
    """Number all texts with a hash table. Texts of delta with numbers of main are duplicates, so the others alone are merged."""
    import numpy as np

    large, threads = DataType("large_string"), context.thread_count
    offsets = np.concatenate([main.offsets, main.offsets[-1:] + delta.offsets[1:] - delta.offsets[0]])
    data = np.concatenate([main.data[: main.offsets[-1]], delta.data[delta.offsets[0] : delta.offsets[-1]]])
    joined = column_of_items(TextItems(offsets, data), large)
    numbers = items_at(as_dictionary(joined, threads).values, "<u4", len(joined))[len(main) :]
    is_new = numbers >= len(main)
    added = items_of(take_rows(joined, len(main) + np.flatnonzero(is_new), threads))
    assert isinstance(added, TextItems)
    found = _merged_texts(main, added, type_, context)
    codes = new_table(len(delta))
    codes[: len(delta)][is_new] = found.delta_codes[: len(added)]
    codes[: len(delta)][~is_new] = found.main_codes[numbers[~is_new]]
    return found._replace(delta_codes=codes)
