"""Decodes columns: gathers the values of packed codes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headrace import _native
from headrace.arrange.gather.take import MAX_INT32, check_outside, take_rows
from headrace.arrays.arrays import needed_numpy
from headrace.columns.column import Column
from headrace.columns.types import DataType, has_offsets
from headrace.core.buffer import Buffer, copy_of, empty_buffer
from headrace.core.context import Context, context_of
from headrace.core.errors import OptionError
from headrace.core.options import instance
from headrace.store.dictionary import validity
from headrace.store.dictionary.encoded_column import EncodedColumn
from headrace.store.dictionary.items import address_of, checked_integers, column_of_items, items_of
from headrace.store.dictionary.packing import codes_of, packed_source
from headrace.store.dictionary.plain import column_of_nulls

_NUMBER_BITS = 32


def decode(column: EncodedColumn, rows: Any = None, *, context: Context | None = None) -> Column:
    """Return an encoded column as a plain one.

    Parameters
    ----------
    column
        Column of `encode` or `merge`.
    rows
        Row numbers, an array of integers from 0 on, in any order; a slice; or None for all rows.
    context
        Threads that may be used.

    Returns
    -------
    Column
        The values. Texts of 2^31 bytes and more are ``large_string`` or ``large_binary``.

    Raises
    ------
    OptionError
        A row number is no integer or out of range. Or a code has no value.

    Examples
    --------
    >>> from headrace import read_csv
    >>> from headrace.store.dictionary.encode import encode
    >>> encoded = encode(read_csv(b"x\\n30\\n10\\n30\\n")["x"])
    >>> decode(encoded).to_pylist(), decode(encoded, [1]).to_pylist(), decode(encoded, slice(1, None)).to_pylist()
    ([30, 10, 30], [10], [10, 30])
    """
    instance("column", column, EncodedColumn)
    context = context_of(context)
    if rows is not None:
        rows = _row_numbers(rows, column.length)
    length = column.length if rows is None else len(rows)
    if not len(column.dictionary):
        return column_of_nulls(column.type, length)
    found = _values_of(column, rows, context)
    if column.validity is None:
        return found
    if rows is None:
        return replace(found, validity=column.validity, null_count=column.null_count)
    bits, nulls = validity.of_flags(validity.of_rows(column.validity, rows))
    return replace(found, validity=bits, null_count=nulls)


def dictionary_column(column: EncodedColumn, context: Context) -> Column:
    """Return texts as a column of type ``dictionary``, whose dictionary has less than 2^31 bytes; there is a value.

    Raise OptionError if a code has no value.
    """
    codes = codes_of(column, context=context)
    _check_codes(int(codes.max()) if len(codes) else 0, len(column.dictionary))
    dictionary = column_of_items(items_of(column.dictionary), DataType("string"))
    return Column(
        DataType("dictionary"), column.length, column.null_count, copy_of(codes), validity=column.validity, dictionary=dictionary
    )


def _values_of(column: EncodedColumn, rows: Any, context: Context) -> Column:
    """Return the values of rows, None for all. A null has the first value."""
    if column.type.name in ("bool", "null"):
        codes = codes_of(column, rows, context=context)
        _check_codes(int(codes.max()) if len(codes) else 0, len(column.dictionary))
        return take_rows(column.dictionary, codes, context.thread_count)
    if rows is None:
        source = packed_source(column.words, column.length, column.bits)
        return values_of_codes(source, column.length, column.dictionary, context)
    codes = codes_of(column, rows, context=context)
    return values_of_codes(packed_source(codes, len(codes), _NUMBER_BITS), len(codes), column.dictionary, context)


def values_of_codes(source: bytes, length: int, dictionary: Column, context: Context, max_bytes: int = MAX_INT32) -> Column:
    """Return the values of packed codes.

    Raise OptionError if a code has no value.

    `source`: bytes of a ``CodeSource``.
    `dictionary`: the values, which are not bools.
    `max_bytes`: maximum bytes of texts with offsets of 4 bytes.
    """
    if has_offsets(dictionary.type):
        return _texts_of_codes(source, length, dictionary, context, max_bytes)
    width = dictionary.type.bits // 8
    values = empty_buffer(length * width)
    given = address_of(dictionary.values), len(dictionary), width
    _check_codes(_native.decode_numbers(source, given, values.address, context.thread_count), len(dictionary))
    return Column(dictionary.type, length, 0, values)


def _texts_of_codes(source: bytes, length: int, dictionary: Column, context: Context, max_bytes: int) -> Column:
    assert dictionary.offsets is not None
    created: list[Buffer] = []
    width = dictionary.type.bits // 8

    def allocated(nbytes: int) -> tuple[int, int, int]:
        needed = 8 if width == 8 or nbytes > max_bytes else 4
        created.extend((empty_buffer((length + 1) * needed), empty_buffer(nbytes)))
        return created[0].address, created[1].address, needed

    addresses = address_of(dictionary.offsets), address_of(dictionary.values)
    texts = *addresses, len(dictionary), dictionary.values.nbytes, width
    _check_codes(_native.decode_texts(source, texts, allocated, context.thread_count), len(dictionary))
    offsets, values = created
    is_large = offsets.nbytes == (length + 1) * 8
    type_ = dictionary.type
    if is_large and width == 4:
        type_ = DataType("large_string" if type_.is_string else "large_binary")
    return Column(type_, length, 0, values, offsets=offsets)


def _check_codes(largest: int, count: int) -> None:
    """Raise OptionError if the largest code has no value."""
    if largest >= count:
        raise OptionError(f"a code is {largest}, and the dictionary has {count} values")


def _row_numbers(given: Any, length: int) -> Any:
    """Return row numbers as int64, checked."""
    np = needed_numpy("headrace.dictionary")

    if isinstance(given, slice):
        try:
            return np.arange(*given.indices(length), dtype=np.int64)
        except (TypeError, ValueError) as error:
            raise OptionError(f"rows is a slice that is no range of row numbers: {error}") from None
    rows = checked_integers(given, "rows")
    check_outside(int(np.count_nonzero((rows < 0) | (rows >= length))) if rows.size else 0, length)
    return np.ascontiguousarray(rows, np.int64)
