"""Partitions the rows of a table on a GPU: splits row numbers by bucket, then gathers the columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np  # a dependency of cuda-core

from headrace.arrange.bucket.functions import BucketFunction, rule_for
from headrace.arrange.bucket.key_types import key_type
from headrace.arrange.gather.moved_items import MovedItems
from headrace.arrange.gather.take_gpu import Taker, columns_launcher, count_nulls
from headrace.arrange.histogram.histogram import on_host
from headrace.arrange.multisplit.gpu.launches import Splitter
from headrace.arrange.multisplit.gpu.planner import split
from headrace.arrange.multisplit.gpu.strategy import Bucketing
from headrace.arrange.multisplit.gpu.tuning import SplitTuning, tuning_of
from headrace.arrange.partition_rows.row_columns import RowColumn, row_hashes
from headrace.arrange.partition_rows.rows import Parts, nulls_error
from headrace.arrays.arrays import take
from headrace.arrays.device_array import DeviceArray
from headrace.columns.column import Column
from headrace.core.context import Context
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Launcher


def partition_on_gpu(columns: Mapping[str, Column], by: str, buckets: BucketFunction, context: Context) -> Parts:
    """Partition a table on a GPU by one column, as `headrace.arrange.partition_rows.rows.partition_rows`."""
    column, budget = columns[by], context.new_budget()
    values: Any = column.values
    source = take(DeviceArray(values, np.dtype(column.type.numpy_name).str, column.length, column.offset))
    edges = None
    if isinstance(buckets, BucketFunction) and buckets.kind == "splitters":
        edges = on_host(buckets.parameters[0], source, context, budget)
    rule = rule_for(buckets, np.dtype(source.typestr), edges)
    with columns_launcher(columns, context) as (launcher, card):
        tuning = tuning_of(card.multiprocessors, card.capability)
        return partition_columns(launcher, columns, by, Bucketing(key_type(source.typestr), rule), tuning)


def partition_by_hash_on_gpu(
    columns: Mapping[str, Column], by: Iterable[str], function: BucketFunction, context: Context
) -> Parts:
    """Partition a table on a GPU by hashes, as `headrace.arrange.partition_rows.rows.partition_rows_by_hash`."""
    with columns_launcher(columns, context) as (launcher, card):
        tuning = tuning_of(card.multiprocessors, card.capability)
        return partition_columns_by_hash(launcher, columns, by, function, tuning)


def partition_columns(
    launcher: Launcher, columns: Mapping[str, Column], name: str, bucketing: Bucketing, tuning: SplitTuning
) -> Parts:
    """Partition rows by the column `name`. Raise OptionError if the column has nulls, or keys in no bucket."""
    column = columns[name]
    if column.null_count < 0 and count_nulls(launcher, column):
        raise nulls_error(name)
    values: Any = column.values
    width = column.type.bits // 8
    splitter = Splitter(launcher, column.length, tuning)
    return _gathered(columns, *_ordered_rows(splitter, BufferSlice(values, column.offset * width), width, bucketing))


def partition_columns_by_hash(
    launcher: Launcher, columns: Mapping[str, Column], names: Iterable[str], function: BucketFunction, tuning: SplitTuning
) -> Parts:
    """Partition rows; `names`: columns to hash; `function`: bucket function of the hashes."""
    bucketing = Bucketing("u64", rule_for(function, np.dtype("u8")))
    rows = len(next(iter(columns.values())))
    hashes = row_hashes(launcher, (RowColumn.of(launcher, columns[name]) for name in names), rows)
    return _gathered(columns, *_ordered_rows(Splitter(launcher, rows, tuning), hashes, 8, bucketing))


def _ordered_rows(splitter: Splitter, keys: DeviceBuffer, width: int, bucketing: Bucketing) -> tuple[Taker, DeviceBuffer]:
    """Return a taker of the row numbers by bucket, and the start of each bucket. The split keys are freed."""
    launcher, count = splitter.launcher, splitter.count
    rows = Taker.of_all(launcher, count)
    ordered = launcher.allocate(rows.rows.nbytes)
    offsets = launcher.allocate((bucketing.rule.count + 1) * 8)
    moved = [MovedItems(keys, launcher.allocate(count * width), width), MovedItems(rows.rows, ordered, rows.width)]
    split(splitter, bucketing, moved, offsets)
    return Taker(launcher, ordered, count, rows.width), offsets


def _gathered(columns: Mapping[str, Column], rows: Taker, offsets: DeviceBuffer) -> Parts:
    return rows.columns(columns, are_all=True), rows.launcher.fetch(offsets).view(np.int64)
