"""Pickles columns with only their own rows, even if a slice shares the memory of a larger column."""

from __future__ import annotations

from collections.abc import Callable
from pickle import PickleBuffer
from typing import TYPE_CHECKING, Any

from headrace.columns.row_slice import RowParts, part_of_host, sliced_parts
from headrace.core.buffer import copy_of

if TYPE_CHECKING:
    from headrace.columns.column import Column

Bytes = PickleBuffer | bytes


def reduced(column: Column, protocol: int) -> tuple[Callable[..., Column], tuple[Any, ...]]:
    """Return what `pickle` needs to rebuild `column`. From protocol 5 on, buffers are not copied."""
    column = column.to("cpu").compact()
    own = sliced_parts(column, part_of_host)
    return _remade, (own.shape, [packed(part, protocol) for part in own.parts])


def packed(part: Any, protocol: int) -> Bytes | None:
    """Return the bytes of a buffer for `pickle`; None for None."""
    if part is None:
        return None
    view = memoryview(part).cast("B")
    return PickleBuffer(view) if protocol >= 5 else bytes(view)


def _remade(shape: tuple[Any, ...], parts: list[Bytes | None]) -> Column:
    return RowParts(shape, [None if part is None else copy_of(part) for part in parts]).column()
