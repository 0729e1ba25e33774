"""Launches take.cu: gathers rows of columns on a GPU by their numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np  # a dependency of cuda-core
from numpy.typing import NDArray

from headrace.arrange.gather.take import MAX_INT32, WIDTHS, check_numbers, check_outside, row_limit, too_long
from headrace.arrange.gather.tuning import TAKE_THREADS, TAKE_TURNS
from headrace.arrays.arrays import Array, width_of
from headrace.arrays.placement import in_stream_of
from headrace.columns.column import Column
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.core.errors import OptionError
from headrace.core.layouts.layout import layout
from headrace.gpu.device.device import Gpu, gpu
from headrace.gpu.device.event import Event
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Entry, GpuLauncher, Launcher, Shape

_FILE = "arrange/gather/take.cu"
_TEXTS_LAYOUT = layout("Texts")
_PACKED_TEXTS = _TEXTS_LAYOUT.packer()
_NUMBER = Entry(_FILE, "number_rows", "PQ")
_CHECK = Entry(_FILE, "check_rows", "PQQP")
_ITEMS = Entry(_FILE, "take_items", "PQPPI")
_LONG = Entry(_FILE, "take_long_items", "PQPPII")
_BITS = Entry(_FILE, "take_bits", "PQPQPP")
_MEASURE = Entry(_FILE, "measure_texts", f"PQ{_TEXTS_LAYOUT.argument}P")
_PLACE = Entry(_FILE, "place_texts", f"PQ{_TEXTS_LAYOUT.argument}PP")
_TEXTS = Entry(_FILE, "take_texts", f"PQ{_TEXTS_LAYOUT.argument}{_TEXTS_LAYOUT.argument}PQ")
_CHUNK_BYTES = 16  # bytes of text per thread: `piece` of take.cu


def take_on_gpu(source: Array, places: Array, result: Array, context: Context, budget: Budget) -> None:
    """Gather items into `result`, after a check of the row numbers. Raise OptionError if row numbers are out of range."""
    card = gpu(source.device)
    with card.current(), in_stream_of(source, places, result):
        launcher = GpuLauncher(card, stream=source.stream, budget=budget, crossings=context.crossings)
        taker = Taker(launcher, places, places.length, places.width)
        taker.check(row_limit(places.typestr, source.length), source.length)
        taker.items(source, source.width, result)


def number_rows_on_gpu(result: Array, context: Context, budget: Budget) -> None:
    """Write the numbers 0, 1, 2, ... into an array of integers of 4 or 8 bytes."""
    card = gpu(result.device)
    with card.current():
        launcher = GpuLauncher(card, stream=result.stream, budget=budget, crossings=context.crossings)
        Taker(launcher, result, result.length, result.width).number()


class Texts(NamedTuple):
    """Texts in device memory: offsets of `width` bytes, of which the one of row 0 is number `first`, and bytes."""

    offsets: DeviceBuffer
    values: DeviceBuffer
    first: int
    width: int

    @property
    def packed(self) -> bytes:
        """Bytes of take.hpp's ``Texts``."""
        return _PACKED_TEXTS.pack(self.offsets.address, self.values.address, self.first, self.width, 0)


class Taker:
    """Gathers rows by their numbers. `width`: bytes of a row number, 4 or 8. Tests pass fewer threads."""

    def __init__(self, launcher: Launcher, rows: DeviceBuffer, count: int, width: int, *, threads: int = TAKE_THREADS) -> None:
        self.launcher = launcher
        self.rows = rows
        self.count = count
        self.width = width
        self._blocks = -(-count // (threads * TAKE_TURNS))
        self._threads = threads
        self._defines = _known_defines(width, threads)

    @classmethod
    def of_all(cls, launcher: Launcher, count: int, *, threads: int = TAKE_THREADS) -> Taker:
        """Return a taker of the row numbers 0 to `count` - 1, which a kernel writes."""
        width = row_width(count)
        taker = cls(launcher, launcher.allocate(count * width), count, width, threads=threads)
        taker.number()
        return taker

    def number(self) -> None:
        """Write the row numbers 0, 1, 2, ..."""
        self._launch(_NUMBER, self.rows, self.count)

    def check(self, limit: int, there: int) -> None:
        """Wait for a check that all row numbers are below `limit`.

        Raise OptionError if row numbers are out of range; `there` is the number of rows for the message.
        """
        outside = self.launcher.allocate(8, fill=0)
        self._launch(_CHECK, self.rows, self.count, limit, outside)
        check_outside(int(self.launcher.fetch(outside).view(np.uint64)[0]), there)

    def items(self, source: DeviceBuffer, width: int, target: DeviceBuffer | None = None) -> DeviceBuffer:
        """Gather items of `width` bytes."""
        result = self.launcher.allocate(self.count * width) if target is None else target
        if width in WIDTHS:
            self._launch(_ITEMS, self.rows, self.count, source, result, width)
        elif self.count:
            word = math.gcd(width, 16, source.address, result.address)
            each = width // word
            shape = Shape(self._defines, -(-self.count * each // (self._threads * TAKE_TURNS)), self._threads)
            self.launcher.launch(_LONG, shape, (self.rows, self.count, source, result, each, word))
        return result

    def bits(self, source: DeviceBuffer, first: int, is_set: DeviceBuffer) -> DeviceBuffer:
        """Gather bits, whose row 0 is bit `first`, into whole words; the number of set bits is added to `is_set`."""
        result = self.launcher.allocate(-(-self.count // 32) * 4)
        self._launch(_BITS, self.rows, self.count, source, first, result, is_set)
        return result

    def texts(self, source: Texts) -> tuple[DeviceBuffer, DeviceBuffer]:
        """Gather texts; return offsets and bytes. The host waits once, for the number of bytes.

        Raise OptionError if the texts have more bytes than their offsets can represent.
        """
        return self._put_texts(source, self._measured([source])[0])

    def _measured(self, sources: Sequence[Texts]) -> NDArray[np.uint64]:
        """Return where the bytes of each block begin, and their total, for each column. The host waits once for all columns."""
        column_bytes = self._blocks * 8
        sizes = self.launcher.allocate(column_bytes * len(sources))
        for number, source in enumerate(sources):
            part = BufferSlice(sizes, number * column_bytes, column_bytes)
            self._launch(_MEASURE, self.rows, self.count, source.packed, part)
        begins: NDArray[np.uint64] = np.zeros((len(sources), self._blocks + 1), np.uint64)
        if begins.shape[1] > 1:
            np.cumsum(self.launcher.fetch(sizes).view(np.uint64).reshape(len(sources), -1), axis=1, out=begins[:, 1:])
        return begins

    def _put_texts(self, source: Texts, begins: NDArray[np.uint64]) -> tuple[DeviceBuffer, DeviceBuffer]:
        """Gather texts whose blocks begin at the measured positions."""
        launcher, given, width, nbytes = self.launcher, source.packed, source.width, int(begins[-1])
        if width == 4 and nbytes > MAX_INT32:
            raise too_long(nbytes)
        if not self.count:
            return launcher.allocate(width, fill=0), launcher.allocate(0)
        placed, result = launcher.allocate((self.count + 1) * width), launcher.allocate(nbytes)
        self._launch(_PLACE, self.rows, self.count, given, launcher.put(begins[:-1]), placed)
        if nbytes:
            target = _PACKED_TEXTS.pack(placed.address, 0, 0, width, 0)
            shape = Shape(self._defines, -(-nbytes // (self._threads * _CHUNK_BYTES)), self._threads)
            launcher.launch(_TEXTS, shape, (self.rows, self.count, given, target, result, nbytes))
        return placed, result

    def columns(self, columns: Mapping[str, Column], *, are_all: bool = False) -> dict[str, Column]:
        """Gather rows of columns.

        The host waits for the bytes of all texts, and at the end for null counts that are not known.

        `columns`: the columns by name. `are_all`: whether each row is gathered exactly once, so that null counts do not
        change.
        """
        texts = [(name, _texts_of(column)) for name, column in columns.items() if column.offsets is not None]
        begins = self._measured([column for _, column in texts]) if texts else ()
        gathered_texts = {name: self._put_texts(column, begin) for (name, column), begin in zip(texts, begins, strict=True)}
        masked = [name for name, column in columns.items() if column.validity is not None]
        there = self.launcher.allocate(8 * len(masked), fill=0)
        result = {}
        for name, column in columns.items():
            is_set = BufferSlice(there, 8 * masked.index(name), 8) if name in masked else None
            result[name] = self._column(column, is_set, gathered_texts.get(name))
        if are_all and all(columns[name].null_count >= 0 for name in masked):
            return result
        counts = self.launcher.fetch(there).view(np.uint64).tolist() if masked else []
        for name, count in zip(masked, counts, strict=True):
            result[name] = replace(result[name], null_count=self.count - count)
        return result

    def _column(self, column: Column, is_set: DeviceBuffer | None, texts: tuple[DeviceBuffer, DeviceBuffer] | None) -> Column:
        """Return a gathered column without its null count; `texts`: offsets and bytes of a text column."""
        launcher, parts = self.launcher, _parts(column)
        found: dict[str, Any] = {"length": self.count, "offset": 0}
        if column.type.name == "null":
            return replace(column, **found, null_count=self.count)
        if is_set is not None:
            found["validity"] = launcher.result(self.bits(parts.validity, column.offset, is_set))
        if texts is not None:
            offsets, values = texts
            found["offsets"] = launcher.result(offsets)
        elif column.type.name == "bool":
            values = self.bits(parts.values, column.offset, launcher.allocate(8, fill=0))
        else:
            width = column.type.bits // 8
            values = self.items(BufferSlice(parts.values, column.offset * width), width)
        return replace(column, **found, values=launcher.result(values))

    def _launch(self, entry: Entry, *args: Any) -> None:
        if self._blocks:
            self.launcher.launch(entry, Shape(self._defines, self._blocks, self._threads), args)


def take_columns_with(
    launcher: Launcher, columns: Mapping[str, Column], numbers: NDArray[np.uint64], *, threads: int = TAKE_THREADS
) -> dict[str, Column]:
    """Return the rows of columns at row numbers in host memory, all in range; tests use fewer threads per block."""
    return Taker(launcher, launcher.put(numbers), len(numbers), 8, threads=threads).columns(columns)


class PlacedRows(NamedTuple):
    """Row numbers in device memory, of a NumPy type of 4 or 8 bytes."""

    buffer: DeviceBuffer
    typestr: str


def take_columns_at(columns: Mapping[str, Column], places: Array, there: int, context: Context) -> dict[str, Column]:
    """Return the rows of columns at row numbers on their GPU.

    Raise OutOfRangeError if a row number is negative or too large; the error names the first one.
    """
    with columns_launcher(columns, context) as (launcher, card):
        assert places.stream is not None
        Event.order(card, places.stream, launcher.stream)
        try:
            return take_columns_placed(launcher, columns, PlacedRows(places, places.typestr), there)
        finally:
            Event.order(card, launcher.stream, places.stream)


def take_columns_placed(
    launcher: Launcher, columns: Mapping[str, Column], rows: PlacedRows, there: int, *, threads: int = TAKE_THREADS
) -> dict[str, Column]:
    """Return the rows of columns at row numbers in device memory after a check of these; tests use fewer threads per block."""
    width = width_of(rows.typestr)
    taker = Taker(launcher, rows.buffer, rows.buffer.nbytes // width, width, threads=threads)
    try:
        taker.check(row_limit(rows.typestr, there), there)
    except OptionError:
        check_numbers(launcher.fetch(rows.buffer).view(rows.typestr), there)  # names the first one
        raise
    return taker.columns(columns)


@contextmanager
def columns_launcher(columns: Mapping[str, Column], context: Context) -> Iterator[tuple[GpuLauncher, Gpu]]:
    """Yield a launcher for the stream of the first column, ordered after the work that fills the other columns, and its GPU."""
    buffers: list[Any] = [buffer for column in columns.values() for buffer in _buffers(column)]
    card = gpu(buffers[0].device)
    stream = buffers[0].stream
    for other in {buffer.stream for buffer in buffers} - {stream}:
        Event(card).record(other).hold(stream)
    with card.current():
        yield GpuLauncher(card, stream=stream, budget=context.new_budget(), crossings=context.crossings), card
    for buffer in buffers:
        buffer.used_by(stream)


def count_nulls(launcher: Launcher, column: Column) -> int:
    """Return the number of nulls. The host waits if they are not counted yet, as those of a slice."""
    if column.null_count >= 0 or column.validity is None:
        return max(column.null_count, 0)
    there = launcher.allocate(8, fill=0)
    Taker.of_all(launcher, column.length).bits(_parts(column).validity, column.offset, there)
    return column.length - int(launcher.fetch(there).view(np.uint64)[0])


def _buffers(column: Column) -> list[Any]:
    own = [buffer for buffer in (column.values, column.validity, column.offsets, *column.data) if buffer is not None]
    return own if column.dictionary is None else [*own, *_buffers(column.dictionary)]


def row_width(count: int) -> int:
    """Return the bytes of a row number for `count` rows."""
    return 4 if count <= 1 << 32 else 8


def _parts(column: Column) -> Any:
    """Return the column for access to its buffers, which are device buffers."""
    return column


def _texts_of(column: Column) -> Texts:
    parts = _parts(column)
    return Texts(parts.offsets, parts.values, column.offset, column.type.bits // 8)


@cache
def _known_defines(width: int, threads: int) -> dict[str, Any]:
    return {"HR_ROW": f"u{8 * width}", "HR_THREADS": threads, "HR_TURNS": TAKE_TURNS}
