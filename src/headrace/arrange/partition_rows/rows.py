"""Partitions the rows of a table by the buckets of a column, or of hashes of columns, on the device where they lie."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from headrace import _native
from headrace.arrange.bucket.functions import BucketFunction
from headrace.arrange.bucket.functions import hash as hash_of
from headrace.arrange.gather.take import address_of, is_all_null, take_rows
from headrace.arrange.multisplit.multisplit import multisplit
from headrace.columns.column import Column
from headrace.columns.placement import one_device
from headrace.core.context import Context
from headrace.core.errors import MissingDependencyError, OptionError

try:
    import numpy as np
except ImportError:
    raise MissingDependencyError.of("numpy", "numpy", "partition()") from None

__all__ = ["Parts", "partition_rows", "partition_rows_by_hash", "take_rows"]

Parts = tuple[dict[str, Column], Any]  # columns in their new order, and the start of each bucket in host memory


def partition_rows(columns: Mapping[str, Column], by: str, buckets: BucketFunction, context: Context) -> Parts:
    """Sort rows by the buckets of one column's values; rows of a bucket keep their order."""
    column = columns[by]
    if not column.type.is_numeric:
        raise OptionError(f"column {by!r} is of {column.type}; rows are partitioned by numbers, or by a hash of any columns")
    if column.null_count > 0:
        raise nulls_error(by)
    if one_device(columns).kind != "cpu":
        from headrace.arrange.partition_rows.rows_gpu import partition_on_gpu  # needs cuda-core

        return partition_on_gpu(columns, by, buckets, context)
    return _ordered(columns, column.to_numpy(), buckets, context)


def partition_rows_by_hash(columns: Mapping[str, Column], by: Iterable[str], count: int, context: Context) -> Parts:
    """Sort rows by the buckets of a hash of their values in the columns `by`."""
    function = hash_of(count)
    if one_device(columns).kind != "cpu":
        from headrace.arrange.partition_rows.rows_gpu import partition_by_hash_on_gpu  # needs cuda-core

        return partition_by_hash_on_gpu(columns, by, function, context)
    return _ordered(columns, row_hashes(columns, by, context), function, context)


def row_hashes(
    columns: Mapping[str, Column], by: Iterable[str], context: Context, *, by_secret: bool = False
) -> np.ndarray[Any, Any]:
    """Return a hash of 64 bits for each row of a table on the host, of its values in the columns `by`.

    The hashes are the same in each process or, if `by_secret`, those of tables inside this one (hash_rows_host.hpp). Different
    values of up to 8 bytes in one column without nulls have different hashes.
    """
    rows = len(next(iter(columns.values()))) if columns else 0
    hashes: np.ndarray[Any, Any] = np.zeros(rows, np.uint64)
    for name in by:
        if rows:
            described, _held = _hashed(columns[name], context, by_secret=by_secret)
            _native.hash_rows(described, rows, _address(hashes), by_secret, context.thread_count)
    return hashes


def compared_columns(columns: Iterable[Column], context: Context) -> tuple[list[Any], Any]:
    """Return the fields of a ``ComparedColumn`` for each column, and the objects that own their memory."""
    parts = [_compared(column, context) for column in columns]
    return [described for described, _ in parts], parts


@dataclass(frozen=True, slots=True)
class ComparedRows:
    """Pairs of rows, and whether each pair is equal in the columns that are compared."""

    rows: np.ndarray[Any, Any]
    others: np.ndarray[Any, Any]  # row numbers in the two columns, int64
    equal: np.ndarray[Any, Any]  # a byte for each pair: 1 if it is equal
    are_nulls_equal: bool  # True if two nulls are equal

    @classmethod
    def of(cls, rows: np.ndarray[Any, Any], others: np.ndarray[Any, Any], *, are_nulls_equal: bool) -> ComparedRows:
        """Return pairs that are all equal."""
        contiguous = np.ascontiguousarray(rows, np.int64), np.ascontiguousarray(others, np.int64)
        return cls(*contiguous, np.ones(len(rows), np.uint8), are_nulls_equal)

    def compare(self, one: Column, other: Column, context: Context) -> None:
        """Clear the byte of each pair whose values differ. The columns have one type, or both have texts."""
        parts = [_compared(column, context) for column in (one, other)]
        pairs = (_address(self.rows), _address(self.others), len(self.rows), self.are_nulls_equal)
        _native.compare_rows(parts[0][0], parts[1][0], pairs, _address(self.equal), context.thread_count)


def nulls_error(name: str) -> OptionError:
    """Return the error for a column with nulls, which are in no bucket."""
    return OptionError(f"column {name!r} has nulls, which are in no bucket; partition_by_hash() takes them")


def hashed_width(column: Column) -> tuple[int, bool]:
    """Return the bytes of a value, or of an offset, as hash_rows.hpp has them; and whether values are floats."""
    return column.type.bits // 8, column.type.name in {"float32", "float64"}


def _ordered(columns: Mapping[str, Column], keys: Any, buckets: BucketFunction, context: Context) -> Parts:
    found = multisplit(keys, buckets, np.arange(len(keys)), context=context)
    threads = context.thread_count
    return {name: take_rows(column, found.values, threads) for name, column in columns.items()}, found.offsets


def _address(array: np.ndarray[Any, Any]) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def _compared(column: Column, context: Context) -> tuple[Any, Any]:
    """Return the fields of a ``ComparedColumn``, and the objects that own its memory."""
    described, held = _hashed(column, context)
    if column.dictionary is None or is_all_null(column):
        return (described, None), held
    texts, more = _hashed(column.dictionary, context)
    return (described, texts), (held, more)


def _hashed(
    column: Column, context: Context, *, by_secret: bool = False
) -> tuple[tuple[int, int, int, int, int, int, int, bool], Any]:
    """Return the fields of a ``HashedColumn``, and the objects that own its memory."""
    if is_all_null(column):
        none: np.ndarray[Any, Any] = np.zeros(len(column) // 8 + 1, np.uint8)
        return (0, 0, none.__array_interface__["data"][0], 0, 0, 0, 1, False), none
    data: np.ndarray[Any, Any] | None = None
    words: np.ndarray[Any, Any] | None = None
    if column.type.name == "string_view":
        data = np.array([*map(address_of, column.data), 0], np.uint64)
    if column.dictionary is not None:
        words = np.zeros(len(column.dictionary), np.uint64)
        described, _held = _hashed(column.dictionary, context)
        _native.hash_words(described, len(words), _address(words), by_secret, context.thread_count)
    held = column.values, column.offsets, column.validity, data, words
    return (*map(address_of, held), column.offset, *hashed_width(column)), held  # type: ignore[return-value]
