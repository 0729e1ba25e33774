"""Creates the columns of a load on a GPU when they are first accessed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from headrace.columns.column import Column
from headrace.columns.convert.gpu.column_group import ColumnGroup, ColumnGroupBuffers
from headrace.columns.types import DataType
from headrace.core.lazy import LazySequence
from headrace.gpu.kernels.launcher import Launcher


class _DescribedGroup(NamedTuple):
    """A group and the nulls of its columns, without their buffers."""

    group: ColumnGroup
    nulls: Sequence[int]


def lazy_columns(
    launcher: Launcher, group_at: dict[int, ColumnGroupBuffers], count: int
) -> tuple[LazySequence[Column | None], LazySequence[tuple[DataType, int] | None]]:
    """Return the columns by position, and the type and number of nulls of each.

    The descriptions hold no device memory, so a report can describe columns without keeping them alive.

    Parameters
    ----------
    launcher
        Execution context of the kernels.
    group_at
        The group of each wanted column, by position.
    count
        Number of all columns.
    """
    groups = list({id(group): group for group in group_at.values()}.values())
    for group in groups:
        group.close()
    described = {id(group): _DescribedGroup(group.group, group.nulls) for group in groups}
    described_at = {position: described[id(group)] for position, group in group_at.items()}
    return LazySequence(count, partial(_column_at, launcher, group_at)), LazySequence(count, partial(_described_at, described_at))


def _column_at(launcher: Launcher, group_at: dict[int, ColumnGroupBuffers], position: int) -> Column | None:
    buffers = group_at.get(position)
    return None if buffers is None else buffers.column(launcher, buffers.group.numbers[position])


def _described_at(described_at: dict[int, _DescribedGroup], position: int) -> tuple[DataType, int] | None:
    if position not in described_at:
        return None
    group, nulls = described_at[position]
    number = group.numbers[position]
    return group.types[number], nulls[number]
