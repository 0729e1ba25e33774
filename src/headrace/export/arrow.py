"""Columns to Arrow consumers, through the C data interface: nothing is copied, and no Arrow library is needed here."""

from __future__ import annotations

from collections.abc import Mapping

from headrace import _native
from headrace.columns.column import Column

_Description = tuple[str, str, int, int, list[int]]


def stream_capsule(columns: Mapping[str, Column], length: int) -> object:
    """Capsule of an ``ArrowArrayStream`` with one batch of all columns; it keeps their memory alive."""
    return _native.arrow_stream([_described(name, column) for name, column in columns.items()], length, columns)


def schema_capsule(columns: Mapping[str, Column]) -> object:
    """Capsule of an ``ArrowSchema``: a struct of all columns, each nullable."""
    return _native.arrow_schema([_described(name, column) for name, column in columns.items()])


def column_capsules(column: Column) -> tuple[object, object]:
    """Capsules of ``ArrowSchema`` and ``ArrowArray`` of one column."""
    return _native.arrow_column(_described("", column), column.length, column)


def _described(name: str, column: Column) -> _Description:
    buffers = [column.validity.address if column.validity is not None else 0]
    if column.offsets is not None:
        buffers.append(column.offsets.address)
    buffers.append(column.values.address)
    return name, column.type.arrow_format, column.null_count, column.offset, buffers
