"""Encodes and decodes columns, and merges an encoded column with a delta."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headrace import _native
from headrace.arrange.gather.take import check_outside, take_rows
from headrace.columns.column import Column
from headrace.columns.types import DataType, has_offsets
from headrace.core.buffer import copy_of, empty_buffer
from headrace.core.context import Context, context_of
from headrace.core.errors import OptionError, UnsupportedDeviceError
from headrace.core.options import choice, instance
from headrace.encode.texts import as_plain
from headrace.store.dictionary import validity
from headrace.store.dictionary.dictionaries import merge_dictionaries
from headrace.store.dictionary.distinct import METHODS, distinct_values
from headrace.store.dictionary.encoded_column import EncodedColumn, code_bits, words_of_codes
from headrace.store.dictionary.items import address_of, empty_column, items_at
from headrace.store.dictionary.packing import Translation, codes_of, pack, packed_source


def encode(column: Column, *, method: str = "sort", context: Context | None = None) -> EncodedColumn:
    """Return a column as a sorted dictionary and packed codes.

    Parameters
    ----------
    column
        Column of any type, on the host. String views and dictionaries of strings become plain strings.
    method
        Step 1a for numbers: ``"sort"`` sorts all values; ``"hash"`` removes duplicates with a hash table before the sort. The
        result is the same.
    context
        Threads and memory that may be used.

    Raises
    ------
    OptionError
        `column` is not a column, or the method is unknown.
    UnsupportedDeviceError
        The column is on a GPU.

    Examples
    --------
    >>> from headrace import read_csv
    >>> encoded = encode(read_csv(b"x\\n30\\n10\\n30\\n")["x"])
    >>> encoded.dictionary.to_pylist(), encoded.bits
    ([10, 30], 1)
    """
    choice("method", method, METHODS)
    context = context_of(context)
    column = _plain(column, context)
    if column.type.name == "null":
        nulls = validity.all_null(column.length)
        return EncodedColumn(empty_column(column.type), empty_buffer(0), column.length, nulls.null_count, nulls.bits)
    values, codes = distinct_values(column, method, context)
    words = pack(codes, code_bits(len(values)), context=context)
    found = validity.of_column(column)
    return EncodedColumn(values, words, column.length, found.null_count, found.bits)


def decode(column: EncodedColumn, rows: Any = None, *, context: Context | None = None) -> Column:
    """Return an encoded column as a plain one.

    Parameters
    ----------
    column
        Column of `encode` or `merge`.
    rows
        Row numbers, an array of integers from 0 on, in any order; None for all rows.
    context
        Threads that may be used.

    Raises
    ------
    OptionError
        A row number is out of range; a code has no value; or the rows' texts have too many bytes for the type.

    Examples
    --------
    >>> from headrace import read_csv
    >>> encoded = encode(read_csv(b"x\\n30\\n10\\n30\\n")["x"])
    >>> decode(encoded).to_pylist(), decode(encoded, [1]).to_pylist()
    ([30, 10, 30], [10])
    """
    import numpy as np

    instance("column", column, EncodedColumn)
    context = context_of(context)
    if rows is not None:
        rows = np.ascontiguousarray(rows, np.int64)
        check_outside(int(np.count_nonzero((rows < 0) | (rows >= column.length))), column.length)
    length = column.length if rows is None else len(rows)
    if not len(column.dictionary):
        return _nulls(column.type, length)
    codes = codes_of(column, rows, context=context)
    if length and int(codes.max()) >= len(column.dictionary):
        raise OptionError(f"a code is {int(codes.max())}, and the dictionary has {len(column.dictionary)} values")
    found = take_rows(column.dictionary, codes, context.thread_count)
    if column.validity is None:
        return found
    if rows is None:
        return replace(found, validity=column.validity, null_count=column.null_count)
    bits, nulls = validity.of_flags(validity.of_rows(column.validity, rows))
    return replace(found, validity=bits, null_count=nulls)


def merge(
    main: EncodedColumn, delta: EncodedColumn | Column, keep: Any = None, *, context: Context | None = None
) -> EncodedColumn:
    """Return the rows of a main column and then those of a delta as one encoded column (Krueger et al. 2011, section 2.2).

    The dictionaries are merged in one pass, which also finds the new code of each old one. Then the packed codes are translated.

    Parameters
    ----------
    main
        The main column.
    delta
        Column of the same type, plain or encoded.
    keep
        Mask of the rows that survive, an array of bools: those of the main column, then those of the delta. Values that no
        surviving row has leave the dictionary. None for all rows; then the dictionary is the union of both.
    context
        Threads and memory that may be used.

    Raises
    ------
    OptionError
        The types differ, the mask has another length, or the merged dictionary is too large.
    UnsupportedDeviceError
        A column is on a GPU.

    Examples
    --------
    >>> from headrace import read_csv
    >>> main = encode(read_csv(b"x\\n30\\n10\\n")["x"])
    >>> merged = merge(main, read_csv(b"x\\n20\\n")["x"])
    >>> merged.dictionary.to_pylist(), merged.bits, decode(merged).to_pylist()
    ([10, 20, 30], 2, [30, 10, 20])
    >>> merge(main, read_csv(b"x\\n20\\n")["x"], keep=[True, False, True]).dictionary.to_pylist()
    [20, 30]
    """
    context = context_of(context)
    instance("main", main, EncodedColumn)
    added = delta if isinstance(delta, EncodedColumn) else encode(delta, context=context)
    if added.type != main.type:
        raise OptionError(f"delta is of type {added.type}, and main of {main.type}; cast one of them")
    if keep is not None:
        flags = _mask(keep, main.length + added.length)
        first, second = flags[: main.length], flags[main.length :]
        main, added = filtered(main, first, context=context), filtered(added, second, context=context)
    return _merged(main, added, context)


def filtered(column: EncodedColumn, keep: Any, *, context: Context | None = None) -> EncodedColumn:
    """Return the rows of a column for which a mask is true. Values that no such row has leave the dictionary.

    Parameters
    ----------
    column
        An encoded column.
    keep
        Array of bools, one for each row.
    context
        Threads that may be used.

    Raises
    ------
    OptionError
        The mask has another length or type.

    Examples
    --------
    >>> from headrace import read_csv
    >>> found = filtered(encode(read_csv(b"x\\n30\\n10\\n")["x"]), [True, False])
    >>> found.dictionary.to_pylist(), found.bits, len(found)
    ([30], 0, 1)
    """
    import numpy as np

    context = context_of(context)
    keep = _mask(keep, column.length)
    if keep.all():
        return column
    rows = np.flatnonzero(keep)
    codes = codes_of(column, rows, context=context)
    is_there = np.ones(len(rows), bool) if column.validity is None else validity.of_rows(column.validity, rows)
    is_used = np.zeros(max(1 << column.bits, 1), bool)
    is_used[codes[is_there]] = True
    used = np.flatnonzero(is_used[: len(column.dictionary)])
    table = np.zeros(len(is_used), np.uint32)
    table[used] = np.arange(len(used), dtype=np.uint32)
    dictionary = take_rows(column.dictionary, used, context.thread_count)
    bits, nulls = validity.of_flags(is_there)
    words = pack(table[codes] * is_there, code_bits(len(used)), context=context)
    return EncodedColumn(dictionary, words, len(rows), nulls, bits)


def _merged(main: EncodedColumn, delta: EncodedColumn, context: Context) -> EncodedColumn:
    joined, nulls = validity.joined(main, delta)
    length = main.length + delta.length
    if main.type.name == "null":
        return EncodedColumn(main.dictionary, main.words, length, nulls, joined)
    dictionary, main_codes, delta_codes = merge_dictionaries(main.dictionary, delta.dictionary, context)
    bits = code_bits(len(dictionary))
    words = empty_buffer(8 * words_of_codes(length, bits))
    sources = (
        packed_source(part.words, part.length, part.bits, part.validity, Translation(table=address_of(table)))
        for part, table in ((main, main_codes), (delta, delta_codes))
    )
    _native.translate_codes(*sources, (words.address, bits), context.thread_count)
    return EncodedColumn(dictionary, words, length, nulls, joined)


def _plain(column: Column, context: Context) -> Column:
    instance("column", column, Column)
    if column.device.kind != "cpu":
        raise UnsupportedDeviceError(f"the column is on {column.device}; copy it to the host with .to('cpu')")
    if column.dictionary is not None:
        column = _of_codes(column, context)
    return as_plain(column, context.thread_count)


def _of_codes(column: Column, context: Context) -> Column:
    """Return a column of dictionary codes as its texts. The code of a null may be any number."""
    assert column.dictionary is not None
    if not len(column.dictionary):
        return _nulls(column.dictionary.type, column.length)
    codes = items_at(column.values, "<i4", column.length, column.offset).astype("u8")
    if column.validity is not None:
        codes *= validity.flags_of(column.validity, column.length, column.offset)
    bits, nulls = validity.of_column(column)
    return replace(take_rows(column.dictionary, codes, context.thread_count), validity=bits, null_count=nulls)


def _nulls(type_: DataType, length: int) -> Column:
    """Return a column of nulls."""
    if type_.name == "null":
        return Column(type_, length, length, empty_buffer(0))
    bits = validity.all_null(length).bits
    if has_offsets(type_):
        width = type_.bits // 8
        return Column(type_, length, length, empty_buffer(0), bits, copy_of(bytes((length + 1) * width)))
    return Column(type_, length, length, copy_of(bytes(-(-length * type_.bits // 8))), bits)


def _mask(given: Any, length: int) -> Any:
    import numpy as np

    mask = np.asarray(given)
    if mask.dtype != np.bool_ or mask.shape != (length,):
        raise OptionError(f"keep must be an array of {length} bools, not of shape {mask.shape} and type {mask.dtype}")
    return mask
