"""Selects the rows of columns for which a condition is true, on the device where they lie."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headrace import _native
from headrace.arrange.filter.program import CompiledFilter, compiled
from headrace.arrange.gather.take import address_of, is_all_null, take_rows
from headrace.columns.column import Column
from headrace.columns.placement import one_device
from headrace.columns.traits import TRAITS
from headrace.core.buffer import Buffer, empty_buffer
from headrace.core.context import Context
from headrace.core.errors import MissingDependencyError
from headrace.core.expressions.column_expression import ColumnExpression
from headrace.core.layouts.layout import layout

try:
    import numpy as np
except ImportError:
    raise MissingDependencyError.of("numpy", "numpy", "filter()") from None

_KINDS = ("bool", "integer", "unsigned", "float", "decimal", "string", "view", "null")
"""Kinds of values in the order of filter.hpp; integers stand for dates and times, strings for bytes."""
_COLUMN = layout("FilterColumn").packer()


def filter_columns(columns: Mapping[str, Column], expression: ColumnExpression, context: Context) -> dict[str, Column]:
    """Return the rows of columns for which a condition is true, in their order. All rows share the columns' memory.

    Raises
    ------
    OptionError
        The expression is no condition on these columns, or the columns lie on several devices.
    UnknownColumnError
        There is no such column.
    """
    program = compiled(expression, {name: column.type for name, column in columns.items()})
    device = one_device(columns)
    if device.kind != "cpu":
        from headrace.arrange.filter.filter_gpu import filter_on_gpu  # needs cuda-core

        return filter_on_gpu(columns, program, context)
    rows = selected_rows(columns, program, context)
    if rows is None:
        return dict(columns)
    return {name: take_rows(column, rows, context.thread_count) for name, column in columns.items()}


def selected_rows(columns: Mapping[str, Column], program: CompiledFilter, context: Context) -> Any:
    """Return the numbers of the rows for which a program is true, ascending, as an array of uint64; None for all rows."""
    held: list[Any] = []
    described = b"".join(_described(columns[name], held) for name in program.columns)
    length = len(next(iter(columns.values())))
    found: list[Buffer] = []

    def allocate(count: int) -> int:
        found.append(empty_buffer(8 * count))
        return address_of(found[0])

    given = program.steps, described, program.constants, program.depth
    if _native.filter_rows(given, length, allocate, context.thread_count, context.isa) == length:
        return None
    return np.frombuffer(memoryview(found[0]), np.uint64)


def _described(column: Column, held: list[Any]) -> bytes:
    """Return the bytes of a ``FilterColumn``; `held` gets the objects that own its memory."""
    data: np.ndarray[Any, Any] | None = None
    texts = column if column.dictionary is None else column.dictionary
    if texts.data:
        data = np.array([address_of(buffer) for buffer in texts.data], np.uint64)
    parts = texts.values, texts.offsets, column.validity, data, None if texts is column else column.values
    held += parts
    return pack_column(column, tuple(map(address_of, parts)))


def pack_column(column: Column, addresses: tuple[int, ...]) -> bytes:
    """Return the bytes of a ``FilterColumn``, given the addresses of values, offsets, validity, views' buffers and codes."""
    texts = column if column.dictionary is None else column.dictionary
    first_text = 0 if texts is column else texts.offset
    traits = TRAITS[texts.type.name]
    family = {"binary": "string", "code": "string"}.get(traits.family, traits.family)
    if texts.offsets is None and family == "string":
        family = "view"
    if family == "integer" and traits.struct.isupper():
        family = "unsigned"
    kind = _KINDS.index(family) if family in _KINDS else _KINDS.index("integer")
    if is_all_null(column):
        kind = _KINDS.index("null")
    return _COLUMN.pack(*addresses, column.offset, first_text, kind, traits.bits // 8)
