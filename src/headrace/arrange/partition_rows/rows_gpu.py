"""Partitions the rows of a table on a GPU: splits row numbers by bucket, then gathers the columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np  # a dependency of cuda-core

from headrace.arrange.bucket.functions import BucketFunction, rule_for
from headrace.arrange.bucket.key_types import key_type
from headrace.arrange.gather.moved_items import MovedItems
from headrace.arrange.gather.take import is_all_null
from headrace.arrange.gather.take_gpu import Taker, columns_launcher
from headrace.arrange.histogram.histogram import on_host
from headrace.arrange.multisplit.gpu.launches import Splitter
from headrace.arrange.multisplit.gpu.planner import split
from headrace.arrange.multisplit.gpu.strategy import Bucketing
from headrace.arrange.multisplit.gpu.tuning import SplitTuning, tuning_of
from headrace.arrange.partition_rows.rows import Parts, hashed_width, nulls_error
from headrace.arrange.partition_rows.tuning import HASH_THREADS
from headrace.arrays.arrays import take
from headrace.arrays.device_array import DeviceArray
from headrace.columns.column import Column
from headrace.core.context import Context
from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Entry, Launcher, Shape

_HASHED_COLUMN = layout("HashedColumn")
_PACKED_COLUMN = _HASHED_COLUMN.packer()
_HASH = Entry("arrange/partition_rows/hash_rows.cu", "hash_rows", f"{_HASHED_COLUMN.argument}QP")
_WORDS = Entry("arrange/partition_rows/hash_rows.cu", "hash_words", f"{_HASHED_COLUMN.argument}QP")
_HASH_DEFINES = {"HR_THREADS": HASH_THREADS}


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
    """Partition rows by the column `name`.

    Raises
    ------
    OptionError
        The column has nulls, or keys in no bucket.
    """
    column = columns[name]
    if column.null_count < 0 and column.validity is not None:  # the nulls of a slice are not counted yet
        there = launcher.allocate(8, fill=0)
        validity: Any = column.validity
        Taker.of_all(launcher, column.length).bits(validity, column.offset, there)
        if launcher.fetch(there).view(np.uint64)[0] != column.length:
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
    splitter = Splitter(launcher, len(next(iter(columns.values()))), tuning)
    return _gathered(columns, *_ordered_rows(splitter, _hashes(launcher, columns, names), 8, bucketing))


def _hashes(launcher: Launcher, columns: Mapping[str, Column], names: Iterable[str]) -> DeviceBuffer:
    rows = len(next(iter(columns.values())))
    hashes = launcher.allocate(rows * 8, fill=0)
    for name in names:
        if rows:
            described, _held = _hashed(launcher, columns[name])
            _hash(launcher, _HASH, described, rows, hashes)
    return hashes


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


def _hash(launcher: Launcher, entry: Entry, column: bytes, rows: int, results: DeviceBuffer) -> None:
    launcher.launch(entry, Shape(_HASH_DEFINES, -(-rows // HASH_THREADS), HASH_THREADS), (column, rows, results))


def _hashed(launcher: Launcher, column: Column) -> tuple[bytes, list[DeviceBuffer]]:
    """Return the bytes of a ``HashedColumn``, and the buffers that must stay alive while it is used."""
    if is_all_null(column):
        none = launcher.allocate(len(column) // 8 + 1, fill=0)
        return _PACKED_COLUMN.pack(0, 0, none.address, 0, 0, 0, 1, 0), [none]
    parts: Any = column
    held: list[DeviceBuffer] = []
    data = words = 0
    if column.type.name == "string_view":
        held.append(launcher.put(np.array([*(buffer.address for buffer in column.data), 0], np.uint64)))
        data = held[-1].address
    if column.dictionary is not None:
        described, more = _hashed(launcher, column.dictionary)
        held += [*more, launcher.allocate(len(column.dictionary) * 8)]
        _hash(launcher, _WORDS, described, len(column.dictionary), held[-1])
        words = held[-1].address
    places = [0 if part is None else part.address for part in (parts.values, parts.offsets, parts.validity)]
    width, is_float = hashed_width(column)
    return _PACKED_COLUMN.pack(*places, data, words, column.offset, width, is_float), held
