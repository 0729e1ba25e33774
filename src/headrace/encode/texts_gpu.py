"""Launches views.cu, and converts text columns on a GPU to string views or dictionaries (dictionaries_gpu.py)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from headrace.columns.column import Column, new_column
from headrace.columns.convert.gpu.string_offsets import scan_memory_bytes, scan_string_sizes
from headrace.columns.native_columns import type_named
from headrace.columns.types import DataType
from headrace.encode.conversions_gpu import (
    MAX_TOGETHER,
    PLAIN_TEXTS,
    TEXT_SHAPE,
    Steps,
    StringColumnBuffers,
    TextConversion,
    TextShape,
    dictionary_shape,
    run_together,
    text_defines,
)
from headrace.encode.dictionaries_gpu import text_dictionaries
from headrace.encode.texts import wanted_form
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Entry, Launcher, Shape

_PUT_VIEWS = Entry("encode/views.cu", "put_views", f"{PLAIN_TEXTS.argument}PP")
_PUT_LONG = Entry("encode/views.cu", "put_long_texts", f"{PLAIN_TEXTS.argument}PPPIP")


def encoded_on_gpu(
    launcher: Launcher, columns: Sequence[Column], given: Sequence[DataType | None], inferred: DataType | None
) -> list[Column]:
    """Encode columns that were just loaded on a GPU, as `headrace.encode.texts.encoded`.

    Raise HeadraceError if the dictionary would have more texts or bytes than an Arrow dictionary of strings can have. Raise
    MemoryLimitError if both forms together exceed the memory limit.

    `inferred`: the type of other columns of strings, if it is not string.
    """
    result, forms = (
        list(columns),
        [wanted_form(*pair, None) for pair in zip(columns, [one or inferred for one in given], strict=True)],
    )
    encoded = [number for number, form in enumerate(forms) if form]
    for first in range(0, len(encoded), MAX_TOGETHER):
        numbers = encoded[first : first + MAX_TOGETHER]
        conversions = [
            TextConversion(1, partial(_views, launcher, result, number)) for number in numbers if forms[number] != "dictionary"
        ]
        if coded := [number for number in numbers if forms[number] == "dictionary"]:
            conversions.append(TextConversion(2 * len(coded), partial(_dictionaries, launcher, result, coded)))
        run_together(launcher, conversions)
    return result


def _texts(column: Column) -> StringColumnBuffers:
    parts: Any = column
    return StringColumnBuffers(parts.offsets, parts.values, parts.validity, column.length, column.type.bits // 8)


def _encoded(launcher: Launcher, column: Column, form: str, values: DeviceBuffer, **parts: Any) -> Column:
    """Return a column of `form` with the rows and nulls of `column`."""
    rows = column.length, column.null_count, launcher.result(values), column.validity
    return new_column(type_named(form), *rows, **parts)


def _views(launcher: Launcher, columns: list[Column], number: int, answer: DeviceBuffer) -> Steps[None]:
    """Replace a column by its string views."""
    column = columns[number]
    found = yield from string_views(launcher, _texts(column), TEXT_SHAPE, answer)
    if found is not None:
        views, buffers = found
        columns[number] = _encoded(launcher, column, "string_view", views, data=tuple(map(launcher.result, buffers)))


def _dictionaries(launcher: Launcher, columns: list[Column], numbers: Sequence[int], answer: DeviceBuffer) -> Steps[None]:
    """Replace columns by their dictionaries."""
    strings = [_texts(columns[number]) for number in numbers]
    found = yield from text_dictionaries(launcher, strings, dictionary_shape(strings[0].rows), answer)
    for number, (codes, texts, count) in zip(numbers, found, strict=True):
        values, offsets = launcher.result(texts.values), launcher.result(texts.offsets)
        dictionary = new_column(type_named("string"), count, 0, values, offsets=offsets)
        columns[number] = _encoded(launcher, columns[number], "dictionary", codes, dictionary=dictionary)


def string_views(
    launcher: Launcher, texts: StringColumnBuffers, shape: TextShape, answer: DeviceBuffer
) -> Steps[tuple[DeviceBuffer, list[DeviceBuffer]] | None]:
    """Return views, and the buffers of texts of more than 12 bytes; None if a text is too long for a buffer.

    There is one step. Memory: 16 bytes per row, the long texts, and 8 bytes per block of rows.
    """
    blocks = -(-texts.rows // shape.rows)
    if not blocks:
        return launcher.allocate(0), []
    packed = texts.packed()
    grid = Shape(text_defines(shape.threads), blocks, shape.threads)
    scan_memory, begins, views = launcher.allocate_group([scan_memory_bytes(blocks, 1)], [blocks * 8, texts.rows * 16])
    launcher.launch(_PUT_VIEWS, grid, [packed, views, begins])
    scan_string_sizes(launcher, begins, (blocks, 1), BufferSlice(answer, 0, 8), scan_memory)
    (long_bytes,) = yield
    if not long_bytes:
        return views, []
    limits = _limits(launcher, texts, begins, long_bytes, shape)
    if limits is None:
        return None
    ends = [*limits[1:], long_bytes]
    buffers = [launcher.allocate(end - begin) for begin, end in zip(limits, ends, strict=True)]
    tables = [launcher.put(np.array(table, np.uint64)) for table in (limits, [buffer.address for buffer in buffers])]
    launcher.launch(_PUT_LONG, grid, [packed, begins, *tables, len(limits), views])
    return views, buffers


def _limits(
    launcher: Launcher, texts: StringColumnBuffers, scanned: DeviceBuffer, long_bytes: int, shape: TextShape
) -> list[int] | None:
    """Return where each buffer begins among the bytes of all long texts: as late as possible, and never inside a text.

    `scanned`: for each block of rows, the bytes of long texts before it; `long_bytes`: of all blocks.
    """
    limits = [0]
    if long_bytes <= shape.max_viewed:
        return limits
    begins = launcher.fetch(scanned).view(np.uint64)
    while long_bytes - limits[-1] > shape.max_viewed:
        limit = limits[-1] + shape.max_viewed
        block = int(np.searchsorted(begins, limit, "right")) - 1
        first = block * shape.rows
        count = min(shape.rows, texts.rows - first)
        found = launcher.fetch(BufferSlice(texts.offsets, first * texts.width, (count + 1) * texts.width))
        sizes = np.diff(found.view(np.uint64 if texts.width == 8 else np.uint32).astype(np.int64))
        places = int(begins[block]) + np.cumsum(np.where(sizes > 12, sizes, 0))
        fits = [int(begins[block]), *places[places <= limit].tolist()]
        if fits[-1] == limits[-1]:
            return None  # a single text is longer than a buffer
        limits.append(fits[-1])
    return limits
