"""Launches views.cu and dictionary.cu: converts text columns on a GPU to string views and dictionaries.

The conversion of a column waits for sizes. Those of several columns wait together: each is a generator, which yields when its
kernels have been launched that write the sizes (`run_together`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from headrace.columns.column import MAX_VIEW_BYTES, Column, new_column
from headrace.columns.convert.gpu.string_offsets import scan_memory_bytes, scan_string_sizes
from headrace.columns.native_columns import type_named
from headrace.columns.types import DataType
from headrace.core.errors import HeadraceError
from headrace.core.layouts.layout import layout
from headrace.encode.texts import wanted_form
from headrace.encode.tuning import ROWS_PER_THREAD, TEXT_THREADS
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Entry, Launcher, Shape

_PLAIN_TEXTS, _DISTINCT_TEXTS = layout("PlainTexts"), layout("DistinctTexts")
_PLAIN, _DISTINCT = _PLAIN_TEXTS.argument, _DISTINCT_TEXTS.argument
_PLAIN_TASK, _DISTINCT_TASK = _PLAIN_TEXTS.packer(), _DISTINCT_TEXTS.packer()

_PUT_VIEWS = Entry("encode/views.cu", "put_views", f"{_PLAIN}PP")
_PUT_LONG = Entry("encode/views.cu", "put_long_texts", f"{_PLAIN}PPPIP")
_INSERT = Entry("encode/dictionary.cu", "insert_texts", _DISTINCT)
_COUNT = Entry("encode/dictionary.cu", "count_firsts", f"{_DISTINCT}P")
_NUMBER = Entry("encode/dictionary.cu", "number_firsts", f"{_DISTINCT}PPPP")
_CODES = Entry("encode/dictionary.cu", "put_codes", f"{_DISTINCT}P")
_GATHER = Entry("encode/dictionary.cu", "gather_texts", f"{_PLAIN}PPQQPP")
_INITIAL_SLOTS, _SLOT_GROWTH = 1 << 16, 16  # slots of the first hash table, and the factor of each larger table
_MAX_INT32 = 0x7FFFFFFF
_SEED = int.from_bytes(os.urandom(8), "little") | 1
_MAX_TOGETHER = 4  # Columns that are encoded together. Each takes 4 bytes a row beside its texts.

ResultT = TypeVar("ResultT")
Steps = Generator[None, tuple[int, int], ResultT]
"""The steps of a conversion. After each it is sent the two words of its answer, which kernels have written."""
Conversion = Callable[[DeviceBuffer], Steps[ResultT]]
"""Returns the steps of a conversion for its answer: two words in device memory, at first zeros."""
_ANSWER_BYTES = 16


def run_together(launcher: Launcher, conversions: Sequence[Conversion[ResultT]]) -> list[ResultT]:
    """Run conversions step by step, and return their results. The host waits once for the same step of all."""
    answers = launcher.allocate(_ANSWER_BYTES * len(conversions), fill=0)
    left = {number: one(BufferSlice(answers, _ANSWER_BYTES * number, _ANSWER_BYTES)) for number, one in enumerate(conversions)}
    results: dict[int, ResultT] = {}
    words: Any = None
    while left:
        for number, steps in list(left.items()):
            try:
                steps.send(words and words[number])
            except StopIteration as end:
                results[number] = end.value
                del left[number]
        if left:
            words = launcher.fetch(answers).view(np.uint64).reshape(-1, 2).tolist()
    return [results[number] for number in range(len(conversions))]


@dataclass(frozen=True, slots=True)
class TextShape:
    """Sizes of the text kernels."""

    threads: int = TEXT_THREADS  # threads per block
    slots: int = _INITIAL_SLOTS  # slots of the first hash table
    max_viewed: int = MAX_VIEW_BYTES  # maximum bytes of a buffer of views

    @property
    def rows(self) -> int:
        """Rows per block."""
        return self.threads * ROWS_PER_THREAD


TEXT_SHAPE = TextShape()


@cache
def _defines(threads: int) -> dict[str, int]:
    return {"HR_THREADS": threads}


@dataclass(frozen=True, slots=True)
class StringColumnBuffers:
    """Buffers of a string column."""

    offsets: DeviceBuffer
    values: DeviceBuffer
    validity: DeviceBuffer | None  # the buffers; `validity` is None if no row is null
    rows: int  # number of rows
    width: int  # bytes of an offset

    def packed(self) -> bytes:
        """Return the buffers as a ``PlainTexts``."""
        validity = 0 if self.validity is None else self.validity.address
        return _PLAIN_TASK.pack(self.offsets.address, self.values.address, validity, self.rows, self.width, 0)


def encoded_on_gpu(
    launcher: Launcher, columns: Sequence[Column], given: Sequence[DataType | None], inferred: DataType | None
) -> list[Column]:
    """Encode columns that were just loaded on a GPU, as `headrace.encode.texts.encoded`.

    Raise HeadraceError if the dictionary would have more texts or bytes than an Arrow dictionary of strings can have. Raise
    MemoryLimitError if both forms together exceed the memory limit.

    `inferred`: the type of other columns of strings, if it is not string.
    """
    result: list[Column] = []
    for first in range(0, len(columns), _MAX_TOGETHER):
        pairs = zip(columns[first : first + _MAX_TOGETHER], given[first : first + _MAX_TOGETHER], strict=True)
        result += run_together(launcher, [partial(_encoded, launcher, column, given or inferred) for column, given in pairs])
    return result


def _encoded(launcher: Launcher, column: Column, wanted: DataType | None, answer: DeviceBuffer) -> Steps[Column]:
    form = wanted_form(column, wanted, None)
    if not form:
        return column
    parts: Any = column
    texts = StringColumnBuffers(parts.offsets, parts.values, parts.validity, column.length, column.type.bits // 8)
    if form == "dictionary":
        codes, distinct, count = yield from text_dictionary(launcher, texts, TEXT_SHAPE, answer)
        values, offsets = launcher.result(distinct.values), launcher.result(distinct.offsets)
        data, dictionary = (), new_column(type_named("string"), count, 0, values, offsets=offsets)
    else:
        views = yield from string_views(launcher, texts, TEXT_SHAPE, answer)
        if views is None:
            return column
        codes, data, dictionary = views[0], tuple(launcher.result(buffer) for buffer in views[1]), None
    of_rows = column.length, column.null_count, launcher.result(codes), column.validity
    return new_column(type_named(form), *of_rows, data=data, dictionary=dictionary)


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
    grid = Shape(_defines(shape.threads), blocks, shape.threads)
    scan_memory, begins, views = launcher.allocate_group([scan_memory_bytes(blocks, 1)], [blocks * 8, texts.rows * 16])
    launcher.launch(_PUT_VIEWS, grid, [packed, views, begins])
    scan_string_sizes(launcher, begins, (blocks, 1), BufferSlice(answer, 0, 8), scan_memory)
    long_bytes, _ = yield
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


def text_dictionary(
    launcher: Launcher, texts: StringColumnBuffers, shape: TextShape, answer: DeviceBuffer
) -> Steps[tuple[DeviceBuffer, StringColumnBuffers, int]]:
    """Return codes, the distinct texts in the order of their first rows, and their number.

    There is one step, and one more for each hash table that was too small. Memory: 4 bytes per row, and 40 to 640 bytes
    per distinct text.

    Raise HeadraceError if the dictionary has too many texts or bytes.
    """
    if not texts.rows:
        return launcher.allocate(0), StringColumnBuffers(launcher.put(np.zeros(1, np.int32)), launcher.allocate(0), None, 0, 4), 0
    codes = launcher.allocate(texts.rows * 4)
    while True:
        distinct = _DistinctTexts.find(launcher, texts, shape, codes, answer)
        count, nbytes = yield
        if 2 * count < shape.slots:
            break
        del distinct  # releases its buffers before others are allocated
        launcher.fill(answer, 0)
        shape = replace(shape, slots=shape.slots * _SLOT_GROWTH)
    if count > _MAX_INT32:
        raise HeadraceError("more than 2147483647 distinct texts; read them as string")
    if nbytes > _MAX_INT32:
        raise HeadraceError("distinct texts of more than 2147483647 bytes; read them as large_string")
    offsets, values = launcher.allocate_group([], [(count + 1) * 4, nbytes])
    result = StringColumnBuffers(offsets, values, None, count, 4)
    grid = Shape(_defines(shape.threads), (count + 1) * 32 // shape.threads + 1, shape.threads)
    args = [texts.packed(), distinct.rows, distinct.begins, count, nbytes, result.offsets, result.values]
    launcher.launch(_GATHER, grid, args)
    return codes, result, count


class _DistinctTexts(NamedTuple):
    """The distinct texts of a column, which a hash table has found if it was large enough: half of its slots remain unused."""

    rows: DeviceBuffer
    begins: DeviceBuffer  # the first row of each text, and the bytes of those before it

    @classmethod
    def find(
        cls, launcher: Launcher, texts: StringColumnBuffers, shape: TextShape, codes: DeviceBuffer, answer: DeviceBuffer
    ) -> _DistinctTexts:
        """Launch the kernels that find and number the texts.

        `codes`: a word for each row, first that of its slot. `answer`: receives the number of texts, and their bytes.
        """
        blocks, slots, most = -(-texts.rows // shape.rows), shape.slots, shape.slots // 2
        zeroed = [slots * 8, most * 8, scan_memory_bytes(blocks, 1), scan_memory_bytes(most, 1), blocks * 8]
        buffers = launcher.allocate_group(zeroed, [8, most * 8, slots * 4], ones=1)
        table, begins, block_memory, text_memory, block_begins, block_total, rows, codes_of = buffers
        task = _DISTINCT_TASK.pack(texts.packed(), table.address, slots - 1, codes.address, _SEED, answer.address)
        defines = _defines(shape.threads)
        grid = Shape(defines, blocks, shape.threads)
        with launcher.together():
            launcher.launch(_INSERT, grid, [task])
            launcher.launch(_COUNT, Shape(defines, -(-slots // shape.threads), shape.threads), [task, block_begins])
            scan_string_sizes(launcher, block_begins, (blocks, 1), block_total, block_memory)
            launcher.launch(_NUMBER, grid, [task, block_begins, codes_of, rows, begins])
            launcher.launch(_CODES, grid, [task, codes_of])
            scan_string_sizes(launcher, begins, (most, 1), BufferSlice(answer, 8, 8), text_memory)
        return cls(rows, begins)
