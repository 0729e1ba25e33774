"""Encodes columns, and merges an encoded column with a delta."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headrace import _native
from headrace.arrange.gather.take import take_rows
from headrace.arrays.arrays import needed_numpy
from headrace.columns.column import Column
from headrace.columns.types import DataType, has_offsets
from headrace.core.buffer import Buffer, empty_buffer
from headrace.core.context import Context, context_of
from headrace.core.errors import OptionError
from headrace.core.options import instance
from headrace.store.dictionary import validity
from headrace.store.dictionary.dictionaries import DictionaryMerge, merge_dictionaries
from headrace.store.dictionary.distinct import NumberedValues, numbered_values
from headrace.store.dictionary.encoded_column import EncodedColumn, code_bits, words_of_codes
from headrace.store.dictionary.items import address_of, column_of_items, host_array, items_of
from headrace.store.dictionary.packing import codes_of, pack, packed_source
from headrace.store.dictionary.plain import plain_column

_NUMBER_BITS = 32
_MAX_GROUP_BITS = 16  # bits of a group of codes that one look-up translates, at most: the table of groups has 256 KB then
_MIN_ROWS = 16  # rows for each item of a table of groups, so that its making takes little of the time


def encode(column: Column | Any, *, method: str = "auto", context: Context | None = None) -> EncodedColumn:
    """Return a column as a sorted dictionary and packed codes.

    Parameters
    ----------
    column
        Column of any type on the host, array of NumPy of one dimension, list, Series, or array of PyArrow. String views and
        dictionaries of strings become plain strings.
    method, context
        As of `distinct_values`.

    Raises
    ------
    OptionError
        `column` has values that no column has, or the method is unknown.
    UnsupportedDeviceError
        The column is on a GPU.

    Examples
    --------
    >>> from headrace import read_csv
    >>> encoded = encode(read_csv(b"x\\n30\\n10\\n30\\n")["x"])
    >>> encoded.dictionary.to_pylist(), encoded.bits
    ([10, 30], 1)
    """
    context = context_of(context)
    found = numbered_values(column, method=method, context=context)
    length, bits = len(found.numbers), code_bits(len(found.values))
    words = empty_buffer(8 * words_of_codes(length, bits))
    nulls = found.validity.bits
    numbered = packed_source(found.numbers, length, _NUMBER_BITS, nulls, address_of(found.ranks))
    none = packed_source(words, 0, bits)
    _native.translate_codes(numbered, none, (words.address, bits), context.thread_count)
    return EncodedColumn(found.values, words, length, found.validity.null_count, nulls)


def merge(
    main: EncodedColumn, delta: EncodedColumn | Column | Any, keep: Any = None, *, context: Context | None = None
) -> EncodedColumn:
    """Return the rows of a main column and then those of a delta as one encoded column (Krueger et al. 2011, section 2.2).

    The dictionaries are merged in one pass, which also finds the new code of each old one. Then the packed codes are translated.

    Parameters
    ----------
    main
        The main column.
    delta
        Column of the same type, plain or encoded, or other values as `encode` takes them. ``string`` and ``large_string`` are one
        type, and so are ``binary`` and ``large_binary``.
    keep
        Mask of the rows that survive, an array of bools: those of the main column, then those of the delta. Values that no
        surviving row has leave the dictionary. None for all rows; then the dictionary is the union of both.
    context
        Threads and memory that may be used. If its device is a GPU, the merge runs there in slices of rows, and the result comes
        back to the host. Only the dictionaries have to fit the GPU's memory.

    Raises
    ------
    OptionError
        The types differ, the mask has another length, or the merged dictionary is too large.
    UnsupportedDeviceError
        A column is on a GPU.

    Examples
    --------
    >>> from headrace import read_csv
    >>> from headrace.store.dictionary.decode import decode
    >>> main = encode(read_csv(b"x\\n30\\n10\\n")["x"])
    >>> merged = merge(main, read_csv(b"x\\n20\\n")["x"])
    >>> merged.dictionary.to_pylist(), merged.bits, decode(merged).to_pylist()
    ([10, 20, 30], 2, [30, 10, 20])
    >>> merge(main, read_csv(b"x\\n20\\n")["x"], keep=[True, False, True]).dictionary.to_pylist()
    [20, 30]
    """
    context = context_of(context)
    instance("main", main, EncodedColumn)
    if not isinstance(delta, EncodedColumn):
        delta = plain_column(delta, context, "delta")
        if keep is None and context.device.kind == "cpu" and main.type.name != "null":
            return _merged_rows(main, numbered_values(delta, context=context), context)
        delta = encode(delta, context=context)
    added = replace(delta, dictionary=_of_type(delta.dictionary, main.type))
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
    np = needed_numpy("headrace.dictionary")

    instance("column", column, EncodedColumn)
    context = context_of(context)
    keep = _mask(keep, column.length)
    if keep.all():
        return column
    rows = np.flatnonzero(keep)
    codes = codes_of(column, rows, context=context)
    is_there = np.ones(len(rows), bool) if column.validity is None else validity.of_rows(column.validity, rows)
    is_used: Any = np.zeros(max(1 << column.bits, 1), bool)
    is_used[codes[is_there]] = True
    used = np.flatnonzero(is_used[: len(column.dictionary)])
    table: Any = np.zeros(len(is_used), np.uint32)
    table[used] = np.arange(len(used), dtype=np.uint32)
    dictionary = take_rows(column.dictionary, used, context.thread_count)
    bits, nulls = validity.of_flags(is_there)
    words = pack(table[codes] * is_there, code_bits(len(used)), context=context)
    return EncodedColumn(dictionary, words, len(rows), nulls, bits)


def _of_type(delta: Column, type_: DataType) -> Column:
    """Return the dictionary of a delta with the type of the main one; texts may have offsets of another width."""
    if delta.type == type_:
        return delta
    is_text = (delta.type.is_string and type_.is_string) or (delta.type.is_binary and type_.is_binary)
    if not is_text or not has_offsets(delta.type) or not has_offsets(type_):
        raise OptionError(f"delta is of type {delta.type}, and main of {type_}; cast one of them")
    return column_of_items(items_of(delta), type_)


def _merged(main: EncodedColumn, delta: EncodedColumn, context: Context) -> EncodedColumn:
    added = validity.Validity(delta.validity, delta.null_count)
    if main.type.name == "null":
        joined, nulls = validity.joined(main, added, delta.length)
        return EncodedColumn(main.dictionary, main.words, main.length + delta.length, nulls, joined)
    if context.device.kind != "cpu":
        from headrace.store.dictionary.merge_gpu import merge_on_gpu  # needs cuda-core

        return merge_on_gpu(main, delta, context)
    found = merge_dictionaries(main.dictionary, delta.dictionary, context=context)
    words = _translated(main, found, _source(delta, found.delta_codes), delta.length, context)
    joined, nulls = validity.joined(main, added, delta.length)
    return EncodedColumn(found.dictionary, words, main.length + delta.length, nulls, joined)


def _merged_rows(main: EncodedColumn, delta: NumberedValues, context: Context) -> EncodedColumn:
    """Merge a main column with numbered rows, whose codes are packed once, with the merged dictionary."""
    length = len(delta.numbers)
    found = merge_dictionaries(main.dictionary, _of_type(delta.values, main.type), context=context)
    table = found.delta_codes if delta.ranks is None else found.delta_codes[delta.ranks]
    source = packed_source(delta.numbers, length, _NUMBER_BITS, delta.validity.bits, address_of(table))
    words = _translated(main, found, source, length, context)
    joined, nulls = validity.joined(main, delta.validity, length)
    return EncodedColumn(found.dictionary, words, main.length + length, nulls, joined)


def _translated(main: EncodedColumn, found: DictionaryMerge, delta: bytes, length: int, context: Context) -> Buffer:
    """Return the packed codes of main and then of a delta of `length` rows, a ``CodeSource``."""
    bits = code_bits(len(found.dictionary))
    words = empty_buffer(8 * words_of_codes(main.length + length, bits))
    done = _translated_groups(main, found.main_codes, (words.address, bits), context)
    rest = _source(main, found.main_codes, done)
    _native.translate_codes(rest, delta, (words.address + done * bits // 8, bits), context.thread_count)
    return words


def _translated_groups(main: EncodedColumn, table: Any, to: tuple[int, int], context: Context) -> int:
    """Translate codes of a few bits in groups, each by one look-up in a table of groups; return how many, a multiple of 64."""
    (address, new_bits), bits, size = to, main.bits, 1
    if main.validity is not None or (new_bits == bits and _stay(main, table)):
        return 0
    most = min(_MAX_GROUP_BITS, (main.length // _MIN_ROWS).bit_length() - 1)
    while 0 < bits * size * 2 <= most and new_bits * size * 2 <= _NUMBER_BITS:
        size *= 2
    if size == 1:
        return 0
    np = needed_numpy("headrace.dictionary")
    groups = np.zeros(1 << bits, np.uint32)
    groups[: len(main.dictionary)] = table[: len(main.dictionary)]
    for doubled in range(size.bit_length() - 1):  # the first code of a group is in the lowest bits
        groups = (groups[:, None] << np.uint32(new_bits << doubled) | groups).ravel()
    done = main.length // 64 * 64
    source = packed_source(main.words, done // size, bits * size, None, address_of(groups))
    none = packed_source(main.words, 0, bits * size)
    _native.translate_codes(source, none, (address, new_bits * size), context.thread_count)
    return done


def _stay(column: EncodedColumn, table: Any) -> bool:
    """Return whether all codes stay: the table increases, so no new value is before the last one."""
    last = len(column.dictionary) - 1
    return last < 0 or bool(table[last] == last)


def _source(column: EncodedColumn, table: Any, first: int = 0) -> bytes:
    """Return the codes of a column from a multiple of 64 on, with their translation table; without it if all codes stay."""
    words = column.words
    if first:
        words = needed_numpy("headrace.dictionary").frombuffer(memoryview(words), "<u8")[first * column.bits // 64 :]
    if _stay(column, table):
        return packed_source(words, column.length - first, column.bits)
    return packed_source(words, column.length - first, column.bits, column.validity, address_of(table))


def _mask(given: Any, length: int) -> Any:
    mask = host_array(given, "keep", f"an array of {length} bools")
    if mask.dtype.kind != "b" or mask.shape != (length,):
        raise OptionError(f"keep must be an array of {length} bools, not of shape {mask.shape} and type {mask.dtype}")
    return mask
