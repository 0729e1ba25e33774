"""Packs codes into a stream of bits, and unpacks them (rules/codes.hpp)."""

from __future__ import annotations

from typing import Any

from headrace import _native
from headrace.arrays.arrays import needed_numpy
from headrace.core.buffer import Buffer, empty_buffer
from headrace.core.context import Context, context_of
from headrace.core.errors import OptionError
from headrace.core.layouts.layout import layout
from headrace.core.options import instance, integer
from headrace.store.dictionary.encoded_column import EncodedColumn, words_of_codes
from headrace.store.dictionary.items import address_of, checked_integers

_MAX_BITS = 32
_SOURCE = layout("CodeSource").packer()
_BLOCKS = layout("CodeBlocks").packer()


def packed_source(words: Any, count: int, bits: int, validity: Any = None, table: int = 0) -> bytes:
    """Return the bytes of a ``CodeSource``.

    `words`: buffer of packed codes, or an array of uint32 as codes of 32 bits.
    `count`, `bits`: number of codes, and bits of a code.
    `validity`: buffer of bits, 0 for codes that become 0; None without nulls.
    `table`: address of the new codes; 0 if codes stay.
    """
    return _SOURCE.pack(address_of(words), 0, count, bits, 0 if validity is None else validity.address, _BLOCKS.pack(0, table))


def pack(codes: Any, bits: int, *, context: Context | None = None) -> Buffer:
    """Return codes as a stream of bits.

    Parameters
    ----------
    codes
        Array of NumPy of unsigned integers, each below 2**bits.
    bits
        Bits of a code, 0 to 32.
    context
        Threads that may be used.

    Returns
    -------
    Buffer
        Words of 64 bits. Bits after the last code are 0.

    Raises
    ------
    OptionError
        `codes` are no integers, or a code does not fit.

    Examples
    --------
    >>> import numpy as np
    >>> memoryview(pack(np.array([1, 2, 3]), 2)).tolist()
    [57, 0, 0, 0, 0, 0, 0, 0]
    """
    np = needed_numpy("headrace.dictionary")

    bits = integer("bits", bits, f"0 to {_MAX_BITS}", 0, _MAX_BITS)
    codes = checked_integers(codes, "codes")
    if codes.size and not 0 <= int(codes.min()) <= int(codes.max()) < 1 << bits:
        raise OptionError(f"codes are not all in the range from 0 to {(1 << bits) - 1}, which {bits} bits can represent")
    codes = np.ascontiguousarray(codes, "<u4")
    words = empty_buffer(8 * words_of_codes(len(codes), bits))
    _native.pack_codes(address_of(codes), len(codes), (words.address, bits), context_of(context).thread_count)
    return words


def unpack(words: Buffer, bits: int, count: int, *, context: Context | None = None) -> Any:
    """Return packed codes as an array of uint32.

    Parameters
    ----------
    words
        Words as `pack` returns them.
    bits
        Bits of a code, 0 to 32.
    count
        Number of codes.
    context
        Threads that may be used.

    Raises
    ------
    OptionError
        `words` is no buffer of `pack`, or too short.

    Examples
    --------
    >>> import numpy as np
    >>> unpack(pack(np.array([1, 2, 3]), 2), 2, 3)
    array([1, 2, 3], dtype=uint32)
    """
    np = needed_numpy("headrace.dictionary")

    bits = integer("bits", bits, f"0 to {_MAX_BITS}", 0, _MAX_BITS)
    count = integer("count", count, "a number of codes", 0, 1 << 62)
    instance("words", words, Buffer, "a buffer of pack()")
    if words.nbytes < 8 * words_of_codes(count, bits):
        raise OptionError(f"words has {words.nbytes} bytes, and {count} codes of {bits} bits need more")
    codes: Any = np.empty(count, np.uint32)
    _native.unpack_codes(packed_source(words, count, bits), address_of(codes), context_of(context).thread_count)
    return codes


def codes_of(column: EncodedColumn, rows: Any = None, *, context: Context | None = None) -> Any:
    """Return the codes of a column, uint32; `rows`: an array of row numbers in range, int64, or None for all rows."""
    import numpy as np

    if rows is None:
        return unpack(column.words, column.bits, column.length, context=context)
    codes: Any = np.empty(len(rows), np.uint32)
    source = packed_source(column.words, column.length, column.bits)
    _native.take_codes(source, address_of(rows), len(rows), address_of(codes), context_of(context).thread_count)
    return codes
