"""Finds equal rows of tables in host memory: by a table of 64-bit hashes, whose matches are compared.

The hashes depend on a secret of the process, so that no rows can be chosen whose hashes are equal. No answer depends on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headrace import _native
from headrace.arrange.partition_rows.rows import ComparedRows, compared_columns, hashed_width, row_hashes
from headrace.columns.column import Column
from headrace.core.context import Context
from headrace.core.errors import OptionError

_TEXTS = {"string", "large_string", "string_view", "dictionary"}  # types of columns whose rows are equal if their texts are
HASH_BITS = 64
MAX_SHORT_BYTES = 8


@dataclass(frozen=True, slots=True)
class HashedRows:
    """Rows of a table, by the columns that are compared."""

    columns: Mapping[str, Column]  # the columns that are compared
    hashes: NDArray[np.uint64]  # hash of each row
    context: Context  # threads and memory
    is_exact: bool = False  # True if rows of one hash are known to be equal

    @classmethod
    def of(cls, columns: Mapping[str, Column], by: Sequence[str], context: Context, hash_bits: int = HASH_BITS) -> HashedRows:
        """Return the rows of a table.

        `hash_bits`: bits of a hash that are used; tests use few.
        """
        hashes = row_hashes(columns, by, context, by_secret=True)
        if hash_bits < HASH_BITS:
            hashes >>= np.uint64(HASH_BITS - hash_bits)
        some = {name: columns[name] for name in by}
        return cls(some, hashes, context, hash_bits == HASH_BITS and len(some) == 1 and _is_short(*some.values()))

    def __len__(self) -> int:
        return len(self.hashes)

    def equal(self, rows: NDArray[np.int64], other: HashedRows, others: NDArray[np.int64], *, are_nulls_equal: bool) -> Any:
        """Return for each pair of rows whether they are equal."""
        pairs = ComparedRows.of(rows, others, are_nulls_equal=are_nulls_equal)
        for name, column in self.columns.items():
            pairs.compare(column, other.columns[name], self.context)
        return pairs.equal.view(bool)

    def described(self) -> tuple[Any, Any]:
        """Return the fields of a ``RowSet`` (row_groups.hpp), and the objects that own its memory."""
        columns, held = compared_columns(self.columns.values(), self.context)
        hashes = np.ascontiguousarray(self.hashes)
        return (columns, hashes.__array_interface__["data"][0], len(self), self.is_exact), (held, hashes)


def first_rows(rows: HashedRows) -> NDArray[np.int64]:
    """Return for each row the number of the first row that is equal to it. Nulls are equal to each other."""
    result: NDArray[np.int64] = np.empty(len(rows), np.int64)
    given, _held = rows.described()
    resources = rows.context.memory_limit or 0, rows.context.thread_count
    _native.find_first_rows(given, result.__array_interface__["data"][0], *resources)
    return result


def matching_rows(rows: HashedRows, other: HashedRows) -> NDArray[np.int64]:
    """Return for each row the number of the first equal row of another table, -1 if there is none. Nulls have no match."""
    result: NDArray[np.int64] = np.empty(len(rows), np.int64)
    given, _held = rows.described()
    others, _held_by_other = other.described()
    resources = rows.context.memory_limit or 0, rows.context.thread_count
    _native.find_matching_rows(given, others, result.__array_interface__["data"][0], *resources)
    return result


def check_types(columns: Mapping[str, Column], other: Mapping[str, Column], names: Sequence[str]) -> None:
    """Check that columns of two tables can be compared. Raise OptionError if columns have different types."""
    for name in names:
        types = {columns[name].type, other[name].type}
        if len(types) > 1 and not {kind.name for kind in types} <= _TEXTS and "null" not in {kind.name for kind in types}:
            raise OptionError(
                f"column {name!r} is of {columns[name].type} here and of {other[name].type} in other; read both as one type"
            )


def _is_short(column: Column) -> bool:
    """Return whether a column has values of up to 8 bytes without nulls, whose hashes differ if they do."""
    has_texts = column.offsets is not None or column.dictionary is not None or column.type.name == "string_view"
    return not has_texts and column.null_count == 0 and hashed_width(column)[0] <= MAX_SHORT_BYTES
