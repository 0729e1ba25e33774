"""Finds distinct and matching rows of tables on a GPU, on the stream of their columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headrace.arrange.gather.take_gpu import columns_launcher
from headrace.arrange.sort.gpu.sort import Sorters
from headrace.arrange.sort.gpu.tuning import tuning_of
from headrace.arrays.device_array import DeviceArray
from headrace.columns.column import Column
from headrace.columns.types import DataType
from headrace.core.context import Context
from headrace.gpu.memory.scratch import COUNTERS
from headrace.index.hash_map.gpu.tables.row_groups import DeviceRows, RowGroups


def distinct_rows_on_gpu(columns: Mapping[str, Column], names: Sequence[str], context: Context) -> dict[str, Column]:
    """Return the first of all rows that are equal in some columns, in their order."""
    with columns_launcher(columns, context) as (launcher, _):
        rows = DeviceRows.of(launcher, columns, names)
        groups = RowGroups(launcher, rows.count)
        return groups.distinct(groups.first_rows(rows), rows.count).columns(columns)


def counted_rows_on_gpu(
    columns: Mapping[str, Column], names: Sequence[str], context: Context
) -> tuple[dict[str, Column], Column]:
    """Return the distinct rows of some columns and their numbers of rows, the most frequent first."""
    some = {name: columns[name] for name in names}
    with columns_launcher(some, context) as (launcher, card):
        rows = DeviceRows.of(launcher, some, names)
        groups = RowGroups(launcher, rows.count)
        tuning = tuning_of(card.multiprocessors, card.capability)
        sorters = Sorters(launcher, tuning, lambda: launcher.allocate(COUNTERS, fill=0))
        distinct, found = groups.counted(groups.first_rows(rows), rows.count, sorters)
        counts: Any = found
        return distinct.columns(some), Column(DataType("int64"), distinct.count, 0, counts)


def matching_rows_on_gpu(
    columns: Mapping[str, Column], other: Mapping[str, Column], names: Sequence[str], context: Context
) -> DeviceArray:
    """Return for each row the number of the first equal row of another table on the same GPU, -1 if there is none."""
    both = {f"{side}.{name}": table[name] for side, table in enumerate((columns, other)) for name in names}
    with columns_launcher(both, context) as (launcher, _):
        ours, theirs = (DeviceRows.of(launcher, table, names) for table in (columns, other))
        found: Any = RowGroups(launcher, max(ours.count, theirs.count)).matching_rows(ours, theirs)
        return DeviceArray(found, "<i8", ours.count)
