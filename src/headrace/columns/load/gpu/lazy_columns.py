"""Creates the columns of a load on a GPU when they are first accessed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from headrace.columns.column import Column
from headrace.columns.convert.gpu.column_group import ColumnGroup, ColumnGroupBuffers
from headrace.columns.types import DataType
from headrace.core.lazy import LazySequence
from headrace.gpu.kernels.launcher import Launcher


def lazy_columns(
    launcher: Launcher, made: dict[int, ColumnGroupBuffers], count: int
) -> tuple[LazySequence[Column | None], LazySequence[tuple[DataType, int] | None]]:
    """Return the columns by position, and the type and number of nulls of each.

    The descriptions hold no device memory, so a report can describe columns without keeping them alive.

    Parameters
    ----------
    launcher
        Execution context of the kernels.
    made
        The wanted columns by position.
    count
        Number of all columns.
    """
    groups = list({id(one): one for one in made.values()}.values())
    for one in groups:
        one.close()
    described = {id(one): (one.group, one.nulls) for one in groups}
    parts = {position: described[id(one)] for position, one in made.items()}
    return LazySequence(count, partial(_column_at, launcher, made)), LazySequence(count, partial(_described_at, parts))


def _column_at(launcher: Launcher, made: dict[int, ColumnGroupBuffers], position: int) -> Column | None:
    one = made.get(position)
    return None if one is None else one.column(launcher, one.group.numbers[position])


def _described_at(parts: dict[int, tuple[ColumnGroup, Sequence[int]]], position: int) -> tuple[DataType, int] | None:
    if position not in parts:
        return None
    group, nulls = parts[position]
    number = group.numbers[position]
    return group.types[number], nulls[number]
