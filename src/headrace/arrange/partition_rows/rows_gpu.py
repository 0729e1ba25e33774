"""Rows of a table on a GPU in the order of buckets: their numbers are split there, and columns taken by them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np  # a dependency of cuda-core

from headrace.arrange.bucket.functions import BucketFunction, Rule, rule_for
from headrace.arrange.bucket.key_types import key_type
from headrace.arrange.gather.take_gpu import Taker
from headrace.arrange.histogram.histogram import on_host
from headrace.arrange.multisplit.gpu.launches import Column as Moved
from headrace.arrange.multisplit.gpu.launches import Shapes, Splitter
from headrace.arrange.multisplit.gpu.planner import shapes_of, split
from headrace.arrange.partition_rows.rows import Parts, hashed_width, is_all_null, nulls_error
from headrace.arrays.arrays import take
from headrace.arrays.device_array import DeviceArray
from headrace.columns.column import Column
from headrace.core.context import Context
from headrace.gpu.device.device import gpu
from headrace.gpu.device.event import Event
from headrace.gpu.kernels.launcher import Entry, GpuLauncher, Launcher, Part, Room, Shape

if TYPE_CHECKING:
    from collections.abc import Iterator

_HASH = Entry("arrange/partition_rows/hash_rows.cu", "hash_rows", "56sQP")
_WORDS = Entry("arrange/partition_rows/hash_rows.cu", "hash_words", "56sQP")
_HASH_DEFINES = {"HR_THREADS": 256}


def partition_on_gpu(columns: Mapping[str, Column], by: str, buckets: BucketFunction, context: Context) -> Parts:
    """As `headrace.arrange.partition_rows.rows.partition_rows`, of a table on a GPU."""
    column, budget = columns[by], context.new_budget()
    values: Any = column.values
    source = take(DeviceArray(values, np.dtype(column.type.numpy_name).str, column.length, column.offset))
    edges = None
    if isinstance(buckets, BucketFunction) and buckets.kind == "splitters":
        edges = on_host(buckets.parameters[0], source, context, budget)
    rule = rule_for(buckets, np.dtype(source.typestr), edges)
    with _launcher(columns, context) as (launcher, shapes):
        return partition_columns(launcher, columns, (by, key_type(source.typestr), rule), shapes)


def partition_by_hash_on_gpu(
    columns: Mapping[str, Column], by: Iterable[str], function: BucketFunction, context: Context
) -> Parts:
    """As `headrace.arrange.partition_rows.rows.partition_rows_by_hash`, of a table on a GPU."""
    with _launcher(columns, context) as (launcher, shapes):
        return partition_columns_by_hash(launcher, columns, (by, function), shapes)


@contextmanager
def _launcher(columns: Mapping[str, Column], context: Context) -> Iterator[tuple[GpuLauncher, Shapes]]:
    """For the stream of the first column, behind what fills the others."""
    buffers: list[Any] = [buffer for column in columns.values() for buffer in _buffers(column)]
    card = gpu(buffers[0].device)
    stream = buffers[0].stream
    for other in {buffer.stream for buffer in buffers} - {stream}:
        Event(card).record(other).hold(stream)
    with card.current():
        yield (
            GpuLauncher(card, stream=stream, budget=context.new_budget(), crossings=context.crossings),
            shapes_of(card.multiprocessors, card.capability),
        )
    for buffer in buffers:
        buffer.used_by(stream)


def _buffers(column: Column) -> list[Any]:
    own = [buffer for buffer in (column.values, column.validity, column.offsets, *column.data) if buffer is not None]
    return own if column.dictionary is None else [*own, *_buffers(column.dictionary)]


def partition_columns(launcher: Launcher, columns: Mapping[str, Column], by: tuple[str, str, Rule], shapes: Shapes) -> Parts:
    """By a column's name, the type of its keys in the sources, and a rule for them.

    Raises
    ------
    OptionError
        The column has nulls, or keys in no bucket.
    """
    name, key, rule = by
    column = columns[name]
    if column.null_count < 0 and column.validity is not None:  # nobody has counted the nulls of a slice
        there = launcher.room(8, fill=0)
        validity: Any = column.validity
        Taker.of_all(launcher, column.length).bits(validity, column.offset, there)
        if launcher.fetch(there).view(np.uint64)[0] != column.length:
            raise nulls_error(name)
    values: Any = column.values
    width = column.type.bits // 8
    return _ordered(launcher, columns, (Part(values, column.offset * width), key, width, rule), shapes)


def partition_columns_by_hash(
    launcher: Launcher, columns: Mapping[str, Column], by: tuple[Iterable[str], BucketFunction], shapes: Shapes
) -> Parts:
    """By a hash of some columns, into the buckets of a function of hashes."""
    names, function = by
    rows = len(next(iter(columns.values())))
    hashes = launcher.room(rows * 8, fill=0)
    for name in names:
        if rows:
            described, _held = _hashed(launcher, columns[name])
            _hash(launcher, _HASH, described, rows, hashes)
    return _ordered(launcher, columns, (hashes, "u64", 8, rule_for(function, np.dtype("u8"))), shapes)


def _ordered(launcher: Launcher, columns: Mapping[str, Column], by: tuple[Room, str, int, Rule], shapes: Shapes) -> Parts:
    keys, key, width, rule = by
    count = len(next(iter(columns.values())))
    taker = Taker.of_all(launcher, count)
    ordered = launcher.room(taker.rows.nbytes)
    moved = [Moved(keys, launcher.room(count * width), width), Moved(taker.rows, ordered, taker.width)]
    offsets = launcher.room((rule.count + 1) * 8)
    split(Splitter(launcher, count, shapes), (key, rule), moved, offsets, None)
    del moved
    found = Taker(launcher, ordered, count, taker.width).columns(columns, are_all=True)
    return found, launcher.fetch(offsets).view(np.int64)


def _hash(launcher: Launcher, entry: Entry, column: bytes, rows: int, results: Room) -> None:
    threads = _HASH_DEFINES["HR_THREADS"]
    launcher.launch(entry, Shape(_HASH_DEFINES, -(-rows // threads), threads), (column, rows, results))


def _hashed(launcher: Launcher, column: Column) -> tuple[bytes, list[Room]]:
    """A ``HashedColumn``, and what must be held as long as it is used."""
    if is_all_null(column):
        none = launcher.room(len(column) // 8 + 1, fill=0)
        return struct.pack("<6Q2I", 0, 0, none.address, 0, 0, 0, 1, 0), [none]
    parts: Any = column
    held: list[Room] = []
    data = words = 0
    if column.type.name == "string_view":
        held.append(launcher.put(np.array([*(buffer.address for buffer in column.data), 0], np.uint64)))
        data = held[-1].address
    if column.dictionary is not None:
        described, more = _hashed(launcher, column.dictionary)
        held += [*more, launcher.room(len(column.dictionary) * 8)]
        _hash(launcher, _WORDS, described, len(column.dictionary), held[-1])
        words = held[-1].address
    places = [0 if part is None else part.address for part in (parts.values, parts.offsets, parts.validity)]
    width, is_float = hashed_width(column)
    return struct.pack("<6Q2I", *places, data, words, column.offset, width, is_float), held
