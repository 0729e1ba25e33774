"""Merges encoded columns on a GPU: the dictionaries as a whole, then the codes in slices of rows.

Columns are in host memory before and after the merge, so a column may be larger than the memory of the GPU. Its dictionaries and
their tables must fit.
"""

from __future__ import annotations

from typing import Any

from headrace.arrange.sort.key_order import KeyOrder
from headrace.columns.column import Column
from headrace.core.buffer import empty_buffer
from headrace.core.context import Context
from headrace.core.errors import OptionError
from headrace.gpu.device.device import gpu
from headrace.gpu.kernels.launcher import BufferSlice, GpuLauncher
from headrace.store.dictionary import validity
from headrace.store.dictionary.encoded_column import EncodedColumn, code_bits, words_of_codes
from headrace.store.dictionary.gpu.launches import (
    CodeTable,
    DeviceCodes,
    DeviceNumbers,
    DeviceTexts,
    DictionaryKernels,
    MergedDictionary,
)
from headrace.store.dictionary.items import NumberItems, TextItems, column_of_items, items_at, items_of
from headrace.store.dictionary.one_column import ONE_COLUMN
from headrace.store.dictionary.paper.slices_gpu import merge_slices
from headrace.store.dictionary.paper.tuning import SLICES

SLICE_ROWS = 1 << 26  # rows of a slice, a multiple of 64: at most 512 MB of old and new codes
_MAX_TEXTS = (1 << 31) - 1  # maximum number of texts of a dictionary: a bit of a source names the dictionary (gpu/merge_texts.cu)


def merge_on_gpu(main: EncodedColumn, delta: EncodedColumn, context: Context) -> EncodedColumn:
    """Merge two columns in host memory on the context's GPU; the result is in host memory."""
    card = gpu(context.device)
    with ONE_COLUMN, card.current():
        launcher = GpuLauncher(card, stream=None, budget=context.new_budget(), crossings=context.crossings)
        return merge_with(DictionaryKernels(launcher), launcher, main, delta)


def merge_dictionaries_on_gpu(main: Column, delta: Column, *, in_slices: bool, context: Context) -> tuple[Column, Any, Any]:
    """Merge two dictionaries in host memory on the context's GPU; return the merged one and both tables on the host.

    `in_slices`: whether numbers are merged in the paper's slices.
    """
    import numpy as np

    card = gpu(context.device)
    with card.current():
        launcher = GpuLauncher(card, stream=None, budget=context.new_budget(), crossings=context.crossings)
        if in_slices:
            merged, dictionary = merged_in_slices(launcher, main, delta)
        else:
            merged = _merged_dictionary(DictionaryKernels(launcher), launcher, main, delta)
            dictionary = _fetched(launcher, merged.dictionary, main)
        tables = (launcher.fetch(table).view(np.uint32) for table in (merged.main_codes, merged.delta_codes))
        return dictionary, *tables


def merge_with(
    kernels: DictionaryKernels, launcher: Any, main: EncodedColumn, delta: EncodedColumn, slice_rows: int = SLICE_ROWS
) -> EncodedColumn:
    """Merge two columns with the kernels of a launcher; `slice_rows`: rows of a slice, a multiple of 64."""
    merged = _merged_dictionary(kernels, launcher, main.dictionary, delta.dictionary)
    dictionary = _fetched(launcher, merged.dictionary, main.dictionary)
    bits, length = code_bits(len(dictionary)), main.length + delta.length
    first = kernels.on_chip(CodeTable(merged.main_codes, main.bits), len(main.dictionary))
    second = CodeTable(merged.delta_codes, delta.bits)
    words = empty_buffer(8 * words_of_codes(length, bits))
    for begin in range(0, length if bits else 0, slice_rows):
        end = min(begin + slice_rows, length)
        sources = (
            _slice(launcher, main, (begin, min(end, main.length)), first),
            _slice(launcher, delta, (max(begin - main.length, 0), end - main.length), second),
        )
        found = launcher.fetch(kernels.translate(*sources, bits))
        items_at(words, "|u1", len(found), begin // 64 * bits * 8)[:] = found
    joined, nulls = validity.joined(main, validity.Validity(delta.validity, delta.null_count), delta.length)
    return EncodedColumn(dictionary, words, length, nulls, joined)


def _merged_dictionary(kernels: DictionaryKernels, launcher: Any, main: Column, delta: Column) -> MergedDictionary:
    old, new = items_of(main), items_of(delta)
    if isinstance(old, NumberItems) and isinstance(new, NumberItems):
        first, second = (DeviceNumbers(launcher.put(items.items), len(items)) for items in (old, new))
        return kernels.merge_numbers(first, second, old.order.packed)
    assert isinstance(old, TextItems) and isinstance(new, TextItems)
    if max(len(old), len(new)) > _MAX_TEXTS:
        raise OptionError(f"dictionaries of {len(old):_} and {len(new):_} texts are too large for a GPU; merge them on the CPU")
    texts = (DeviceTexts(launcher.put(items.offsets), launcher.put(items.data), len(items)) for items in (old, new))
    return kernels.merge_texts(*texts)


def merged_in_slices(launcher: Any, main: Column, delta: Column, slices: int = SLICES) -> tuple[MergedDictionary, Column]:
    """Merge numbers in the paper's slices, as codes of 4 or 8 bytes; return the merge, and its dictionary on the host."""
    old, new = items_of(main), items_of(delta)
    assert isinstance(old, NumberItems) and isinstance(new, NumberItems)
    codes = old.codes, new.codes
    first, second = (DeviceNumbers(launcher.put(part), len(part)) for part in codes)
    width = codes[0].dtype.itemsize
    merged = merge_slices(launcher, first, second, KeyOrder("unsigned", 8 * width).packed, slices=slices)
    fetched = launcher.fetch(BufferSlice(merged.dictionary.values, 0, merged.dictionary.count * width))
    return merged, column_of_items(old.of_codes(fetched.view(codes[0].dtype)), main.type)


def _fetched(launcher: Any, found: DeviceNumbers | DeviceTexts, like: Column) -> Column:
    """Copy a merged dictionary to the host, as a column of the type of `like`."""
    import numpy as np

    old = items_of(like)
    if isinstance(found, DeviceNumbers):
        assert isinstance(old, NumberItems)
        width = old.items.dtype.itemsize
        items = launcher.fetch(BufferSlice(found.values, 0, found.count * width)).view(old.items.dtype)
        return column_of_items(NumberItems(items, old.order), like.type)
    offsets = launcher.fetch(BufferSlice(found.offsets, 0, 8 * (found.count + 1))).view(np.int64)
    return column_of_items(TextItems(offsets, launcher.fetch(found.data)), like.type)


def _slice(launcher: Any, column: EncodedColumn, rows: tuple[int, int], table: CodeTable) -> DeviceCodes:
    """Copy the codes of rows from `rows[0]` to `rows[1]` to the device; the copy begins with a whole word."""
    begin, end = rows
    if begin >= end:
        return DeviceCodes(launcher.allocate(0), 0, None, table)
    whole = begin // 64 * 64
    first, last = whole // 64 * column.bits, words_of_codes(end, column.bits)
    words = launcher.put(items_at(column.words, "<u8", last - first, first))
    bits = column.validity
    is_there = None if bits is None else launcher.put(items_at(bits, "|u1", -(-end // 8) - whole // 8, whole // 8))
    return DeviceCodes(words, end - begin, is_there, table, begin - whole)
