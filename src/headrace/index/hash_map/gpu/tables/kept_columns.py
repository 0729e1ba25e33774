"""Keeps columns of numbers and texts in device memory that grow by rows of other columns, and launches row_groups.cu."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple, cast

from headrace.arrange.gather.take_gpu import Taker
from headrace.arrange.gather.tuning import SELECTED_THREADS as THREADS
from headrace.columns.column import Column, new_column
from headrace.columns.types import DataType
from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Entry, Launcher, Shape

TEXTS = DataType("large_string")
NUMBERS = {4: DataType("uint32"), 8: DataType("uint64")}  # types by their bytes
_COMPARED = layout("ComparedColumn").argument
_FILE = "index/hash_map/gpu/row_groups.cu"
_SIGNATURES = {
    "mark_new_rows": "PPPQPPP",
    "put_numbers": "PPQIP",
    "number_from": "PQI",
    "measure_texts": f"{_COMPARED}PQP",
    "append_texts": f"{_COMPARED}PQPQPP",
    "copy_kept": "PQP",
    "size_texts": "PPIQP",
    "find_word_begins": "PQP",
    "put_text_words": "PPPIQQP",
}
_DEFINES: dict[str, Any] = {"HR_ROW": "u32", "HR_THREADS": THREADS}
_WARP = 32


def launch(launcher: Launcher, name: str, threads: int, args: Sequence[Any]) -> None:
    """Launch a kernel of row_groups.cu with at least that number of threads."""
    if threads:
        launcher.launch(numbering_entry(name), Shape(_DEFINES, -(-threads // THREADS), THREADS), args)


@dataclass(slots=True)
class GrowingBuffer:
    """Device memory whose size doubles."""

    buffer: DeviceBuffer

    @classmethod
    def of(cls, launcher: Launcher, nbytes: int = 256) -> GrowingBuffer:
        """Return memory of zeros."""
        return cls(launcher.allocate(nbytes, fill=0))

    def reserve(self, launcher: Launcher, used: int, nbytes: int) -> None:
        """Make sure that there are `nbytes`, of which the first `used` are kept. Raise MemoryLimitError; then nothing changes."""
        if nbytes > self.buffer.nbytes:
            self.buffer = self._copied(launcher, used, max(nbytes + 3, 2 * self.buffer.nbytes) // 4 * 4)

    def copy(self, launcher: Launcher, used: int) -> GrowingBuffer:
        """Return a copy of the first `used` bytes, with memory for as many as there are."""
        return GrowingBuffer(self._copied(launcher, used, self.buffer.nbytes))

    def _copied(self, launcher: Launcher, used: int, nbytes: int) -> DeviceBuffer:
        target = launcher.allocate(nbytes)
        words = -(-used // 4)
        launch(launcher, "copy_kept", words, (self.buffer, words, target))
        return target


class NewTexts(NamedTuple):
    """Texts of rows that are appended to a column."""

    column: bytes  # the ``ComparedColumn`` of all rows
    begins: DeviceBuffer  # bytes of the texts before each one
    nbytes: int  # of all
    used: int  # bytes of the texts in the column before


@dataclass(frozen=True, slots=True)
class KeptColumn:
    """A column of the numbered rows: numbers, or texts with offsets of 8 bytes."""

    values: GrowingBuffer
    offsets: GrowingBuffer | None  # None for a column of numbers
    width: int  # bytes of a number or of an offset

    @classmethod
    def of(cls, launcher: Launcher, width: int) -> KeptColumn:
        """Return a column without rows. `width`: bytes of a number, 0 for texts."""
        return cls(GrowingBuffer.of(launcher), None if width else GrowingBuffer.of(launcher), width or 8)

    def rows(self, first: int, count: int) -> Column:
        """Return some rows as a column; numbers as unsigned ones with their bits."""
        values: Any = self.values.buffer
        if self.offsets is None:
            return new_column(NUMBERS[self.width], count, 0, values, offset=first)
        offsets: Any = self.offsets.buffer
        return new_column(TEXTS, count, 0, values, offsets=offsets, offset=first)

    def put_numbers(self, rows: Taker, given: Column, size: int) -> None:
        """Append rows of a column of numbers to `size` ones."""
        width, source = self.width, cast("Any", given.values)
        self.values.reserve(rows.launcher, size * width, (size + rows.count) * width)
        target = BufferSlice(self.values.buffer, size * width, rows.count * width)
        rows.items(BufferSlice(source, given.offset * width), width, target)

    def put_texts(self, rows: Taker, given: NewTexts, size: int) -> None:
        """Append the texts of rows to `size` ones."""
        assert self.offsets is not None
        launcher, count, used, values = rows.launcher, rows.count, given.used, self.values
        values.reserve(launcher, used, used + given.nbytes)
        self.offsets.reserve(launcher, 8 * (size + 1), 8 * (size + count + 1))
        ends = BufferSlice(self.offsets.buffer, 8 * (size + 1))
        args = (given.column, rows.rows, count, given.begins, used, ends, values.buffer)
        launch(launcher, "append_texts", count * _WARP, args)

    def copy(self, launcher: Launcher, size: int, used: int) -> KeptColumn:
        """Return a copy of a column of `size` rows, whose texts have `used` bytes."""
        if self.offsets is None:
            return replace(self, values=self.values.copy(launcher, size * self.width))
        return replace(self, values=self.values.copy(launcher, used), offsets=self.offsets.copy(launcher, 8 * (size + 1)))

    @property
    def nbytes(self) -> int:
        """Bytes of its memory."""
        return self.values.buffer.nbytes + (0 if self.offsets is None else self.offsets.buffer.nbytes)


@cache
def numbering_entry(name: str) -> Entry:
    """Return a kernel of row_groups.cu."""
    return Entry(_FILE, name, _SIGNATURES[name])
