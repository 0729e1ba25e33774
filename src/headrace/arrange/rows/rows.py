"""Rows of a table in the order of buckets: keys from columns, and columns of the host in another order of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from headrace import _native
from headrace.arrange.bucket.functions import BucketFunction
from headrace.arrange.bucket.functions import hash as hash_of
from headrace.arrange.multisplit.multisplit import multisplit
from headrace.columns.column import Column
from headrace.core.buffer import Buffer, copy_of
from headrace.core.context import Context
from headrace.core.errors import MissingDependencyError, OptionError

try:
    import numpy as np
except ImportError:
    raise MissingDependencyError.of("numpy", "numpy", "partition()") from None

Parts = tuple[dict[str, Column], Any]
"""Columns in their new order, and where each bucket begins."""


def partition_rows(columns: Mapping[str, Column], by: str, buckets: BucketFunction, context: Context) -> Parts:
    """Rows in the order of the buckets of one column's values, which keep their order within each."""
    _check_host(columns)
    column = columns[by]
    if column.null_count:
        raise OptionError(f"column {by!r} has nulls, which are in no bucket; partition_by_hash() takes them")
    if column.type.numpy_name is None or column.type.name not in _NUMBERS:
        raise OptionError(f"column {by!r} is of {column.type}; rows are partitioned by numbers, or by a hash of any columns")
    return _ordered(columns, column.to_numpy(), buckets, context)


def partition_rows_by_hash(columns: Mapping[str, Column], by: Iterable[str], count: int, context: Context) -> Parts:
    """Rows in the order of the buckets of a hash of some of their values."""
    _check_host(columns)
    function = hash_of(count)
    rows = len(next(iter(columns.values()))) if columns else 0
    hashes: np.ndarray[Any, Any] = np.zeros(rows, np.uint64)
    for name in by:
        if rows:
            described, _held = _hashed(columns[name])
            _native.hash_rows(described, rows, hashes.__array_interface__["data"][0], context.thread_count)
    return _ordered(columns, hashes, function, context)


_NUMBERS = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"}


def _check_host(columns: Mapping[str, Column]) -> None:
    if any(column.device.kind != "cpu" for column in columns.values()):
        raise OptionError("the table lies on a GPU; pass table.to('cpu'), or its columns of numbers to headrace.multisplit")


def _ordered(columns: Mapping[str, Column], keys: Any, buckets: BucketFunction, context: Context) -> Parts:
    found = multisplit(keys, buckets, np.arange(len(keys)), context=context)
    return {name: take_rows(column, found.values) for name, column in columns.items()}, found.offsets


def take_rows(column: Column, rows: Any) -> Column:
    """The rows of a column of the host by their numbers, in that order.

    Examples
    --------
    >>> from headrace import read_csv
    >>> take_rows(read_csv(b"a\\nx\\ny\\nz\\n")["a"], np.array([2, 0])).to_pylist()
    ['z', 'x']
    """
    validity = None if column.validity is None else _bits_of(column.validity, column, rows)
    nulls = len(rows) if column.type.name == "null" else _count_nulls(column, rows) if validity is not None else 0
    made = replace(column, length=len(rows), offset=0, null_count=nulls, validity=validity)
    if column.type.name == "null":
        return made
    if column.offsets is not None:
        return _take_texts(column, made, rows)
    if column.type.name == "bool":
        return replace(made, values=_bits_of(column.values, column, rows))
    width = column.type.bits // 8
    values = np.frombuffer(memoryview(column.values), f"V{width}", column.offset + column.length)[column.offset :]
    return replace(made, values=_buffer(values[rows]))


def _take_texts(column: Column, made: Column, rows: Any) -> Column:
    assert column.offsets is not None
    letter = "i4" if column.type.bits == 32 else "i8"
    ends = np.frombuffer(memoryview(column.offsets), letter, column.offset + column.length + 1)[column.offset :]
    begins, sizes = ends[:-1][rows].astype("i8"), (ends[1:] - ends[:-1])[rows].astype("i8")
    places: np.ndarray[Any, Any] = np.zeros(len(rows) + 1, "i8")
    np.cumsum(sizes, out=places[1:])
    text = np.frombuffer(memoryview(column.values), np.uint8)
    taken = text[np.repeat(begins - places[:-1], sizes) + np.arange(places[-1])]
    return replace(made, values=_buffer(taken), offsets=_buffer(places.astype(letter)))


def _unpacked(buffer: Buffer, column: Column) -> Any:
    packed = np.frombuffer(memoryview(buffer), np.uint8)
    return np.unpackbits(packed, bitorder="little", count=column.offset + column.length)[column.offset :]


def _bits_of(buffer: Buffer, column: Column, rows: Any) -> Buffer:
    return _buffer(np.packbits(_unpacked(buffer, column)[rows], bitorder="little"))


def _count_nulls(column: Column, rows: Any) -> int:
    assert column.validity is not None
    return len(rows) - int(np.count_nonzero(_unpacked(column.validity, column)[rows]))


def _buffer(values: Any) -> Buffer:
    return copy_of(np.ascontiguousarray(values).view(np.uint8).data)


def _hashed(column: Column) -> tuple[tuple[int, int, int, int, int, bool], Any]:
    """What hash_rows.hpp is to know of a column, and what holds its memory. Texts are hashed alike whatever their form."""
    column = _plain(column)
    kind = column.type.name
    if kind == "null" or column.dictionary is not None:  # an empty dictionary is one of nulls
        none: np.ndarray[Any, Any] = np.zeros(len(column) // 8 + 1, np.uint8)
        return (0, 0, none.__array_interface__["data"][0], 0, 1, False), none
    width = 0 if kind == "bool" else column.type.bits // 8
    held = column.values, column.offsets, column.validity
    values, offsets, validity = map(_address, held)
    return (values, offsets, validity, column.offset, width, kind in {"float32", "float64"}), held


def _plain(column: Column) -> Column:
    from headrace.encode.texts import as_plain  # seldom needed

    if column.dictionary is None or not len(column.dictionary):
        return as_plain(column)
    codes = np.frombuffer(memoryview(column.values), np.int32, column.offset + column.length)[column.offset :]
    if column.validity is None:
        return take_rows(_plain(column.dictionary), codes)
    there = _unpacked(column.validity, column)
    texts = take_rows(_plain(column.dictionary), np.where(there, codes, 0))
    return replace(texts, validity=_buffer(np.packbits(there, bitorder="little")), null_count=column.null_count)


def _address(buffer: Buffer | None) -> int:
    if buffer is None:
        return 0
    address: int = np.frombuffer(memoryview(buffer), np.uint8).__array_interface__["data"][0]
    return address
