"""Creates the columns of a load on a GPU when they are first accessed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from headrace.columns.buffers.column_buffers_gpu import ColumnBuffers
from headrace.columns.column import Column
from headrace.columns.convert.gpu.column_group import ColumnGroup, ColumnGroupBuffers
from headrace.columns.types import DataType
from headrace.core.lazy import LazySequence
from headrace.gpu.kernels.launcher import Launcher


class ConvertedGroups:
    """The converted groups of a load. A column that was converted again belongs to the last group that has it.

    Usually one group has all columns, of which there may be thousands. So nothing is stored for each column.
    """

    def __init__(self) -> None:
        self._groups: list[ColumnGroupBuffers] = []

    def add(self, group: ColumnGroupBuffers) -> None:
        """Add a group. Groups of which it has all columns are released."""
        numbers = group.group.numbers.keys()
        self._groups = [one for one in self._groups if not one.group.numbers.keys() <= numbers] + [group]

    def kinds(self) -> dict[int, int]:
        """Return the kind that each column was converted as, by position."""
        result: dict[int, int] = {}
        for one in self._groups:
            result.update(zip(one.group.positions, one.group.kinds, strict=True))
        return result

    @property
    def last(self) -> ColumnGroup:
        """The group that was added last."""
        return self._groups[-1].group

    def split(self) -> list[ColumnBuffers]:
        """Return the columns one by one."""
        columns = [(number, column) for number, group in enumerate(self._groups) for column in group.split()]
        owners = {column.position: number for number, column in columns}
        return [column for number, column in columns if owners[column.position] == number]

    def columns(
        self, launcher: Launcher, count: int
    ) -> tuple[LazySequence[Column | None], LazySequence[tuple[DataType, int] | None]]:
        """Return the columns by position, and the type and number of nulls of each.

        The descriptions hold no device memory, so a report can describe columns without keeping them alive.

        `launcher`: execution context of the kernels. `count`: number of all columns.
        """
        for group in self._groups:
            group.close()
        groups = tuple(reversed(self._groups))
        described = tuple([_DescribedGroup(group.group, group.nulls) for group in groups])
        return LazySequence(count, partial(_column_at, launcher, groups)), LazySequence(count, partial(_described_at, described))


class _DescribedGroup(NamedTuple):
    """A group and the nulls of its columns, without their buffers."""

    group: ColumnGroup
    nulls: Sequence[int]


def _column_at(launcher: Launcher, groups: Sequence[ColumnGroupBuffers], position: int) -> Column | None:
    for buffers in groups:
        if (number := buffers.group.numbers.get(position)) is not None:
            return buffers.column(launcher, number)
    return None


def _described_at(described: Sequence[_DescribedGroup], position: int) -> tuple[DataType, int] | None:
    for group, nulls in described:
        if (number := group.numbers.get(position)) is not None:
            return group.types[number], nulls[number]
    return None
