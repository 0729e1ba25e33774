"""Extracts the parts of a column's buffers that its rows use.

A slice shares the buffers of a larger column; only its own rows are copied into a pickle or to another device.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headrace.columns.column import Column
    from headrace.core.buffer import Buffer

ReadPart = Callable[[Any, int, int], Any]  # returns bytes `begin` to `end` of a buffer, as an object that `memoryview` accepts


@dataclass(frozen=True, slots=True)
class RowParts:
    """The parts of a column: values, validity, offsets (None if absent), and the buffers of string views."""

    shape: tuple[Any, ...]
    parts: list[Any]

    def column(self) -> Column:
        """Return a column whose buffers are these parts."""
        from headrace.columns.column import new_column

        kind, length, null_count, offset, dictionary = self.shape
        values, validity, offsets, *data = self.parts
        return new_column(kind, length, null_count, values, validity, offsets, offset, tuple(data), dictionary)


def sliced_parts(column: Column, read: ReadPart) -> RowParts:
    """Return the parts of a column's buffers that its rows use."""
    # Bits are taken from a whole byte on, so up to 7 preceding rows are included.
    skipped = column.offset % 8
    begin, end = column.offset - skipped, column.offset + column.length

    def rows(buffer: Buffer, bits: int, more: int = 0) -> Any:
        return read(buffer, begin * bits // 8, ((end + more) * bits + 7) // 8)

    validity = None if column.validity is None else rows(column.validity, 1)
    if column.offsets is None:
        values, offsets = rows(column.values, column.type.bits), None
    else:
        offsets = rows(column.offsets, column.type.bits, 1)
        ends = memoryview(offsets).cast("B").cast(column.type.struct_format)  # type: ignore[call-overload]
        first, last = (ends[0], ends[-1]) if len(ends) else (0, 0)
        if first:
            offsets = array(column.type.struct_format, (place - first for place in ends))
        values = read(column.values, first, last)
    data = [read(buffer, 0, buffer.nbytes) for buffer in column.data]
    shape = (column.type, column.length, column.null_count, skipped, column.dictionary)
    return RowParts(shape, [values, validity, offsets, *data])


def part_of_host(buffer: Buffer, begin: int, end: int) -> memoryview[Any]:
    """Read part of a host buffer (`ReadPart`)."""
    return memoryview(buffer)[begin:end]
