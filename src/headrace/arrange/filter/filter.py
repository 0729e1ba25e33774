"""Selects the rows of columns for which a condition is true, on the device where they lie."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headrace import _native
from headrace.arrange.filter.column_layout import described_column
from headrace.arrange.filter.program import CompiledFilter, compiled
from headrace.arrange.gather.take import address_of, take_rows
from headrace.columns.column import Column
from headrace.columns.placement import one_device
from headrace.core.buffer import Buffer, empty_buffer
from headrace.core.context import Context
from headrace.core.errors import MissingDependencyError
from headrace.core.expressions.column_expression import ColumnExpression

try:
    import numpy as np
except ImportError:
    raise MissingDependencyError.of("numpy", "numpy", "filter()") from None


def filter_columns(columns: Mapping[str, Column], expression: ColumnExpression, context: Context) -> dict[str, Column]:
    """Return the rows of columns for which a condition is true, in their order. All rows share the columns' memory.

    Raise OptionError if the expression is no condition on these columns, or the columns lie on several devices. Raise
    UnknownColumnError if there is no such column.
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
    described = b"".join(described_column(columns[name], held) for name in program.columns)
    length = len(next(iter(columns.values())))
    found: list[Buffer] = []

    def allocate(count: int) -> int:
        found.append(empty_buffer(8 * count))
        return address_of(found[0])

    given = program.steps, described, program.constants, program.step_count, program.depth
    if _native.filter_rows(given, length, allocate, context.isa, context.thread_count) == length:
        return None
    return np.frombuffer(memoryview(found[0]), np.uint64)
