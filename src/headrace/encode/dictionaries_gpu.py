"""Launches dictionary.cu: converts text columns on a GPU to dictionaries. Up to four columns share the same launches."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from headrace.columns.convert.gpu.string_offsets import scan_memory_bytes, scan_string_sizes
from headrace.core.errors import HeadraceError
from headrace.core.layouts.layout import layout
from headrace.encode.conversions_gpu import MAX_TOGETHER, Steps, StringColumnBuffers, TextShape, text_defines
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Entry, Launcher, Shape

_DISTINCT_TEXTS, _GATHERED_TEXTS = layout("DistinctTexts"), layout("GatheredTexts")
_DISTINCT_TASK, _GATHERED_TASK = _DISTINCT_TEXTS.packer(), _GATHERED_TEXTS.packer()
_DISTINCT, _GATHERED = (f"{MAX_TOGETHER * one.size}s" for one in (_DISTINCT_TEXTS, _GATHERED_TEXTS))

_INSERT = Entry("encode/dictionary.cu", "insert_texts", _DISTINCT_TEXTS.argument)
_COUNT = Entry("encode/dictionary.cu", "count_firsts", f"{_DISTINCT}P")
_NUMBER = Entry("encode/dictionary.cu", "number_firsts", f"{_DISTINCT}PP")
_CODES = Entry("encode/dictionary.cu", "put_codes", _DISTINCT)
_GATHER = Entry("encode/dictionary.cu", "gather_texts", _GATHERED)
_SLOT_GROWTH = 16  # factor of each larger hash table
_MAX_INT32 = 0x7FFFFFFF
_SEED = int.from_bytes(os.urandom(8), "little") | 1


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
        distinct = _DistinctTexts.find(launcher, [_TextCodes(columns[number], codes[number]) for number in left], shape, answer)
        words = yield
        sizes = list(zip(words[: len(left)], words[len(left) :], strict=False))
        fits = [2 * size[0] < shape.slots for size in sizes]
        found = [index for index, one in enumerate(fits) if one]
        gathered = distinct.gather(launcher, [_Dictionary(columns[left[index]], index, *sizes[index]) for index in found], shape)
        results |= {left[index]: (codes[left[index]], texts, texts.rows) for index, texts in zip(found, gathered, strict=True)}
        left = [number for number, one in zip(left, fits, strict=True) if not one]
        if not left:
            return [results[number] for number in range(count)]
        del distinct  # releases its buffers before others are allocated
        launcher.fill(answer, 0)
        shape = replace(shape, slots=shape.slots * _SLOT_GROWTH)


def _no_texts(launcher: Launcher) -> StringColumnBuffers:
    return StringColumnBuffers(launcher.put(np.zeros(1, np.int32)), launcher.allocate(0), None, 0, 4)


class _TextCodes(NamedTuple):
    """A column of strings, and a word for each row: first that of its slot, then its code."""

    texts: StringColumnBuffers
    codes: DeviceBuffer


class _Dictionary(NamedTuple):
    """A column of strings, and the sizes of its dictionary."""

    texts: StringColumnBuffers
    number: int  # index among the columns of a `_DistinctTexts`
    distinct: int  # number of distinct texts
    nbytes: int


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
        columns: Sequence[_TextCodes],
        shape: TextShape,
        answer: DeviceBuffer,
    ) -> _DistinctTexts:
        """Launch the kernels that find and number the texts.

        `answer`: receives the number of texts of each column, then their bytes.
        """
        count, rows, slots, most = len(columns), columns[0].texts.rows, shape.slots, shape.slots // 2
        blocks = -(-rows // shape.rows)
        scans = scan_memory_bytes(blocks, count), scan_memory_bytes(most, count)
        zeroed = [count * slots * 8, count * most * 8, *scans, count * blocks * 8]
        buffers = launcher.allocate_group(zeroed, [count * 8, count * most * 8, count * slots * 4], ones=1)
        tables, begins, block_memory, text_memory, block_begins, block_totals, firsts, codes = buffers
        tasks = []
        for number, (texts, codes_of_rows) in enumerate(columns):
            table, used = tables.address + number * slots * 8, answer.address + 8 * number
            found = codes.address + number * slots * 4, firsts.address + number * most * 8
            tasks.append(_DISTINCT_TASK.pack(texts.packed(), table, slots - 1, codes_of_rows.address, _SEED, used, *found))
        task = b"".join(tasks).ljust(MAX_TOGETHER * _DISTINCT_TEXTS.size, b"\0")
        defines = text_defines(shape.threads)
        grid = Shape(defines, (blocks, count, 1), shape.threads)
        with launcher.together():
            for one in tasks:
                launcher.launch(_INSERT, Shape(defines, blocks, shape.threads), [one])
            of_slots = Shape(defines, (-(-slots // shape.threads), count, 1), shape.threads)
            launcher.launch(_COUNT, of_slots, [task, block_begins])
            scan_string_sizes(launcher, block_begins, (blocks, count), block_totals, block_memory)
            launcher.launch(_NUMBER, grid, [task, block_begins, begins])
            launcher.launch(_CODES, grid, [task])
            scan_string_sizes(launcher, begins, (most, count), BufferSlice(answer, 8 * count, 8 * count), text_memory)
        return cls(firsts, begins, count, most)

    def gather(self, launcher: Launcher, columns: Sequence[_Dictionary], shape: TextShape) -> list[StringColumnBuffers]:
        """Return the distinct texts of columns whose tables were large enough, in the order of their first rows.

        Raise HeadraceError if a dictionary has too many texts or bytes.
        """
        if not columns:
            return []
        for one in columns:
            if one.distinct > _MAX_INT32:
                raise HeadraceError("more than 2147483647 distinct texts; read them as string")
            if one.nbytes > _MAX_INT32:
                raise HeadraceError("distinct texts of more than 2147483647 bytes; read them as large_string")
        sizes = [size for one in columns for size in ((one.distinct + 1) * 4, one.nbytes)]
        buffers = list(launcher.allocate_group([], sizes))
        result, tasks = [], []
        for (texts, number, count, nbytes), offsets, values in zip(columns, buffers[::2], buffers[1::2], strict=True):
            found = self.rows.address + number * self.capacity * 8, self.begins.address + number * 8
            tasks.append(
                _GATHERED_TASK.pack(texts.packed(), *found, self.columns, count, nbytes, offsets.address, values.address)
            )
            result.append(StringColumnBuffers(offsets, values, None, count, 4))
        most = max(one.distinct for one in columns)
        grid = Shape(text_defines(shape.threads), ((most + 1) * 32 // shape.threads + 1, len(columns), 1), shape.threads)
        launcher.launch(_GATHER, grid, [b"".join(tasks).ljust(MAX_TOGETHER * _GATHERED_TEXTS.size, b"\0")])
        return result
