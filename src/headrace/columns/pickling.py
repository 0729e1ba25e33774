"""Columns as pickles: their own rows, not those of the whole that a slice shares its memory with."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from pickle import PickleBuffer
from typing import TYPE_CHECKING, Any

from headrace.core.buffer import Buffer, copy_of

if TYPE_CHECKING:
    from headrace.columns.column import Column
    from headrace.columns.types import DataType

Bytes = PickleBuffer | bytes


def reduced(column: Column, protocol: int) -> tuple[Callable[..., Column], tuple[Any, ...]]:
    """What `pickle` needs to make `column` again. From protocol 5 on, nothing is copied on the way out."""

    def packed(view: memoryview[Any]) -> Bytes:
        return PickleBuffer(view) if protocol >= 5 else bytes(view)

    column = column.compact()
    # Bits are found from a whole byte on, so up to 7 rows in front come along.
    skipped = column.offset % 8
    begin, end = column.offset - skipped, column.offset + column.length

    def rows(buffer: Buffer, bits: int, more: int = 0) -> memoryview[Any]:
        return memoryview(buffer)[begin * bits // 8 : ((end + more) * bits + 7) // 8]

    validity = None if column.validity is None else packed(rows(column.validity, 1))
    if column.offsets is None:
        values, offsets = packed(rows(column.values, column.type.bits)), None
    else:
        ends = rows(column.offsets, column.type.bits, 1).cast(column.type.struct_format)  # type: ignore[call-overload]
        first, last = (ends[0], ends[-1]) if len(ends) else (0, 0)
        moved = array(column.type.struct_format, (place - first for place in ends)) if first else ends
        values, offsets = packed(memoryview(column.values)[first:last]), packed(memoryview(moved).cast("B"))
    data = tuple(packed(memoryview(buffer)) for buffer in column.data)
    fixed = (column.type, column.length, column.null_count, skipped, column.dictionary)
    return _remade, (fixed, values, validity, offsets, data)


def _remade(
    fixed: tuple[DataType, int, int, int, Column | None],
    values: Bytes,
    validity: Bytes | None,
    offsets: Bytes | None,
    data: tuple[Bytes, ...],
) -> Column:
    from headrace.columns.column import Column

    kind, length, null_count, offset, dictionary = fixed
    return Column(
        type=kind,
        length=length,
        null_count=null_count,
        values=copy_of(values),
        validity=None if validity is None else copy_of(validity),
        offsets=None if offsets is None else copy_of(offsets),
        offset=offset,
        data=tuple(copy_of(buffer) for buffer in data),
        dictionary=dictionary,
    )
