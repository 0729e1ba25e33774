"""Checks a column of a main that was read: kernels rely on codes below the number of values, and on ascending values.

The file may be forged: its checksums are right, and its content is none that a writer writes. A column is checked at its first
use, and read once a process.
"""

from __future__ import annotations

from importlib import import_module

from headrace.columns.column import Column
from headrace.core.buffer import part_of
from headrace.store.arrow_columns import needed_arrow
from headrace.store.dictionary.encoded_column import EncodedColumn, words_of_codes
from headrace.store.dictionary.items import NumberItems, items_of
from headrace.store.dictionary.packing import unpack

_STEP = 1 << 18  # codes that are unpacked at once: 1 MiB, which stays in a cache, and whole words for any number of bits


def check_column(column: EncodedColumn) -> None:
    """Raise ValueError if a column has a wrong count of nulls, a code without a value, or values that do not ascend.

    Arrow has checked offsets and texts of the dictionary, and `EncodedColumn` the bytes of the validity.
    """
    if column.words.nbytes < 8 * words_of_codes(column.length, column.bits):
        raise ValueError("it has too few bytes of codes")
    if column.validity is not None:
        arrow = needed_arrow()
        buffer = arrow.py_buffer(memoryview(column.validity))
        flags = arrow.BooleanArray.from_buffers(arrow.bool_(), column.length, [None, buffer])
        if flags.true_count != column.length - column.null_count:
            raise ValueError("its number of nulls is not that of its validity")
    if len(column.dictionary) and len(column.dictionary) < 1 << column.bits:
        _check_codes(column)
    if len(column.dictionary) > 1 and not _ascends(column.dictionary):
        raise ValueError("the values of its dictionary do not ascend")


def _check_codes(column: EncodedColumn) -> None:
    """Raise ValueError if a code has no value. Codes of as many values as their bits can number need no check."""
    for begin in range(0, column.length, _STEP):
        count, place = min(_STEP, column.length - begin), begin * column.bits // 8
        words = memoryview(column.words)[place : place + 8 * words_of_codes(count, column.bits)]
        largest = int(unpack(part_of(words), column.bits, count).max())
        if largest >= len(column.dictionary):
            raise ValueError(f"a code is {largest}, and its dictionary has {len(column.dictionary)} values")


def _ascends(values: Column) -> bool:
    if values.offsets is not None:
        arrow = needed_arrow()
        type_ = arrow.binary() if values.type.bits == 32 else arrow.large_binary()
        buffers = [None, *(arrow.py_buffer(memoryview(part)) for part in (values.offsets, values.values))]
        texts = arrow.Array.from_buffers(type_, len(values), buffers)
        less = import_module("pyarrow.compute").less(texts[:-1], texts[1:])
        return bool(less.true_count == len(less))
    items = items_of(values)
    if isinstance(items, NumberItems):
        return bool((items.sortable[:-1] < items.sortable[1:]).all())
    high, low = items.data.view(">u8").reshape(-1, 2).T  # decimals
    return bool(((high[:-1] < high[1:]) | ((high[:-1] == high[1:]) & (low[:-1] < low[1:]))).all())
