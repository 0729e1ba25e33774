"""Columns to Arrow consumers, through the C data interface: nothing is copied, and no Arrow library is needed here."""

from __future__ import annotations

from collections.abc import Mapping

from headrace import _native
from headrace.columns.column import Column


def stream_capsule(columns: Mapping[str, Column], length: int) -> object:
    """Capsule of an ``ArrowArrayStream`` with one batch of all columns; it keeps their memory alive."""
    return _native.arrow_stream([column.arrow_description(name) for name, column in columns.items()], length)


def schema_capsule(columns: Mapping[str, Column]) -> object:
    """Capsule of an ``ArrowSchema``: a struct of all columns, each nullable."""
    return _native.arrow_schema([column.arrow_description(name) for name, column in columns.items()])
