"""Launches views.cu and dictionary.cu: converts text columns on a GPU to string views and dictionaries.

A conversion waits for sizes. Several conversions wait together: each is a generator, which yields when its kernels have been
launched that write the sizes (`run_together`). Up to four columns become dictionaries by the same launches.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import accumulate
from typing import Any, Generic, NamedTuple, TypeVar

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

_MAX_TOGETHER = 4  # MAX_TOGETHER of texts_task.hpp. Each column that is encoded takes 4 bytes a row beside its texts.
_PLAIN_TEXTS, _DISTINCT_TEXTS, _DICTIONARY_TEXTS = layout("PlainTexts"), layout("DistinctTexts"), layout("DictionaryTexts")
_PLAIN, _DISTINCT = _PLAIN_TEXTS.argument, f"{_MAX_TOGETHER * _DISTINCT_TEXTS.size}s"
_DICTIONARY = f"{_MAX_TOGETHER * _DICTIONARY_TEXTS.size}s"
_PLAIN_TASK, _DISTINCT_TASK, _DICTIONARY_TASK = _PLAIN_TEXTS.packer(), _DISTINCT_TEXTS.packer(), _DICTIONARY_TEXTS.packer()

_PUT_VIEWS = Entry("encode/views.cu", "put_views", f"{_PLAIN}PP")
_PUT_LONG = Entry("encode/views.cu", "put_long_texts", f"{_PLAIN}PPPIP")
_INSERT = Entry("encode/dictionary.cu", "insert_texts", _DISTINCT)
_COUNT = Entry("encode/dictionary.cu", "count_firsts", f"{_DISTINCT}P")
_NUMBER = Entry("encode/dictionary.cu", "number_firsts", f"{_DISTINCT}PP")
_CODES = Entry("encode/dictionary.cu", "put_codes", _DISTINCT)
_GATHER = Entry("encode/dictionary.cu", "gather_texts", _DICTIONARY)
_INITIAL_SLOTS, _SLOT_GROWTH = 1 << 16, 16  # slots of the first hash table, and the factor of each larger table
_MAX_INT32 = 0x7FFFFFFF
_SEED = int.from_bytes(os.urandom(8), "little") | 1

ResultT = TypeVar("ResultT")
Steps = Generator[None, list[int], ResultT]
"""The steps of a conversion. After each it is sent the words of its answer, which kernels have written."""


class Conversion(NamedTuple, Generic[ResultT]):
    """A conversion of columns that is run step by step."""

    words: int  # words of its answer
    begin: Callable[[DeviceBuffer], Steps[ResultT]]  # returns its steps, for an answer in device memory, at first zeros


def run_together(launcher: Launcher, conversions: Sequence[Conversion[ResultT]]) -> list[ResultT]:
    """Run conversions step by step, and return their results. The host waits once for the same step of all."""
    ends = [0, *accumulate(one.words for one in conversions)]
    answers = launcher.allocate(8 * ends[-1], fill=0)
    left = {number: one.begin(BufferSlice(answers, 8 * ends[number], 8 * one.words)) for number, one in enumerate(conversions)}
    results: dict[int, ResultT] = {}
    words: Any = None
    while left:
        for number, steps in list(left.items()):
            try:
                steps.send(words and words[ends[number] : ends[number + 1]])
            except StopIteration as end:
                results[number] = end.value
                del left[number]
        if left:
            words = launcher.fetch(answers).view(np.uint64).tolist()
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
    result, forms = (
        list(columns),
        [wanted_form(*pair, None) for pair in zip(columns, [one or inferred for one in given], strict=True)],
    )
    encoded = [number for number, form in enumerate(forms) if form]
    for first in range(0, len(encoded), _MAX_TOGETHER):
        numbers = encoded[first : first + _MAX_TOGETHER]
        conversions = [
            Conversion(1, partial(_views, launcher, result, number)) for number in numbers if forms[number] != "dictionary"
        ]
        if coded := [number for number in numbers if forms[number] == "dictionary"]:
            conversions.append(Conversion(2 * len(coded), partial(_dictionaries, launcher, result, coded)))
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
    found = yield from text_dictionaries(launcher, [_texts(columns[number]) for number in numbers], TEXT_SHAPE, answer)
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
    grid = Shape(_defines(shape.threads), blocks, shape.threads)
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


def text_dictionaries(
    launcher: Launcher, columns: Sequence[StringColumnBuffers], shape: TextShape, answer: DeviceBuffer
) -> Steps[list[tuple[DeviceBuffer, StringColumnBuffers, int]]]:
    """Return for each column codes, the distinct texts in the order of their first rows, and their number.

    There is one step, and one more for each size of hash tables that was too small. Memory: 4 bytes per row, and 40 to 640
    bytes per distinct text, for each column.

    Raise HeadraceError if a dictionary has too many texts or bytes.

    `columns`: up to four, with equal numbers of rows.
    """
    rows, count = columns[0].rows, len(columns)
    if not rows:
        return [(launcher.allocate(0), _no_texts(launcher), 0) for _ in columns]
    codes = list(launcher.allocate_group([], [rows * 4] * count))
    left = list(range(count))
    results: dict[int, tuple[DeviceBuffer, StringColumnBuffers, int]] = {}
    while True:
        distinct = _DistinctTexts.find(launcher, [(columns[number], codes[number]) for number in left], shape, answer)
        words = yield
        sizes = list(zip(words[: len(left)], words[len(left) :], strict=False))
        fits = [2 * size[0] < shape.slots for size in sizes]
        found = [index for index, one in enumerate(fits) if one]
        gathered = distinct.gather(launcher, [(columns[left[index]], index, *sizes[index]) for index in found], shape)
        results |= {left[index]: (codes[left[index]], texts, texts.rows) for index, texts in zip(found, gathered, strict=True)}
        left = [number for number, one in zip(left, fits, strict=True) if not one]
        if not left:
            return [results[number] for number in range(count)]
        del distinct  # releases its buffers before others are allocated
        launcher.fill(answer, 0)
        shape = replace(shape, slots=shape.slots * _SLOT_GROWTH)


def _no_texts(launcher: Launcher) -> StringColumnBuffers:
    return StringColumnBuffers(launcher.put(np.zeros(1, np.int32)), launcher.allocate(0), None, 0, 4)


class _DistinctTexts(NamedTuple):
    """The distinct texts of columns, which hash tables have found if they were large enough: half of the slots remain unused."""

    rows: DeviceBuffer  # the first row of each text, by column
    begins: DeviceBuffer  # the bytes of the texts before each one; columns alternate
    columns: int
    capacity: int  # number of columns, and of texts that a column may have

    @classmethod
    def find(
        cls,
        launcher: Launcher,
        columns: Sequence[tuple[StringColumnBuffers, DeviceBuffer]],
        shape: TextShape,
        answer: DeviceBuffer,
    ) -> _DistinctTexts:
        """Launch the kernels that find and number the texts.

        `columns`: each with a word for each row, first that of its slot, then its code.
        `answer`: receives the number of texts of each column, then their bytes.
        """
        count, rows, slots, most = len(columns), columns[0][0].rows, shape.slots, shape.slots // 2
        blocks = -(-rows // shape.rows)
        scans = scan_memory_bytes(blocks, count), scan_memory_bytes(most, count)
        zeroed = [count * slots * 8, count * most * 8, *scans, count * blocks * 8]
        buffers = launcher.allocate_group(zeroed, [count * 8, count * most * 8, count * slots * 4], ones=1)
        tables, begins, block_memory, text_memory, block_begins, block_totals, firsts, codes = buffers
        task = b"".join(
            _DISTINCT_TASK.pack(
                texts.packed(), tables.address + number * slots * 8, slots - 1, where.address, _SEED, answer.address + 8 * number,
                codes.address + number * slots * 4, firsts.address + number * most * 8,
            )
            for number, (texts, where) in enumerate(columns)
        ).ljust(_MAX_TOGETHER * _DISTINCT_TEXTS.size, b"\0")  # fmt: skip
        defines = _defines(shape.threads)
        grid = Shape(defines, (blocks, count, 1), shape.threads)
        with launcher.together():
            launcher.launch(_INSERT, grid, [task])
            of_slots = Shape(defines, (-(-slots // shape.threads), count, 1), shape.threads)
            launcher.launch(_COUNT, of_slots, [task, block_begins])
            scan_string_sizes(launcher, block_begins, (blocks, count), block_totals, block_memory)
            launcher.launch(_NUMBER, grid, [task, block_begins, begins])
            launcher.launch(_CODES, grid, [task])
            scan_string_sizes(launcher, begins, (most, count), BufferSlice(answer, 8 * count, 8 * count), text_memory)
        return cls(firsts, begins, count, most)

    def gather(
        self, launcher: Launcher, columns: Sequence[tuple[StringColumnBuffers, int, int, int]], shape: TextShape
    ) -> list[StringColumnBuffers]:
        """Return the distinct texts of columns whose tables were large enough, in the order of their first rows.

        Raise HeadraceError if a dictionary has too many texts or bytes.

        `columns`: each with its index, the number of its texts, and their bytes.
        """
        if not columns:
            return []
        for _, _, count, nbytes in columns:
            if count > _MAX_INT32:
                raise HeadraceError("more than 2147483647 distinct texts; read them as string")
            if nbytes > _MAX_INT32:
                raise HeadraceError("distinct texts of more than 2147483647 bytes; read them as large_string")
        sizes = [size for _, _, count, nbytes in columns for size in ((count + 1) * 4, nbytes)]
        buffers = list(launcher.allocate_group([], sizes))
        result, tasks = [], []
        for (texts, number, count, nbytes), offsets, values in zip(columns, buffers[::2], buffers[1::2], strict=True):
            found = self.rows.address + number * self.capacity * 8, self.begins.address + number * 8
            tasks.append(
                _DICTIONARY_TASK.pack(texts.packed(), *found, self.columns, count, nbytes, offsets.address, values.address)
            )
            result.append(StringColumnBuffers(offsets, values, None, count, 4))
        most = max(count for _, _, count, _ in columns)
        grid = Shape(_defines(shape.threads), ((most + 1) * 32 // shape.threads + 1, len(columns), 1), shape.threads)
        launcher.launch(_GATHER, grid, [b"".join(tasks).ljust(_MAX_TOGETHER * _DICTIONARY_TEXTS.size, b"\0")])
        return result
