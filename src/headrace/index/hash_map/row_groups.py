"""Finds equal rows of tables in host memory: by a hash map of 64-bit hashes, whose matches are compared.

If rows of one hash differ, those that are not equal to the first row of the hash are searched again among themselves. Each round
finishes at least one row, and with 64-bit hashes one round nearly always finishes all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headrace.arrange.partition_rows.rows import ComparedRows, row_hashes
from headrace.columns.column import Column
from headrace.core.context import Context
from headrace.core.errors import OptionError
from headrace.index.hash_map.hash_map import HashMap

_TEXTS = {"string", "large_string", "string_view", "dictionary"}
"""Types of columns whose rows are equal if their texts are."""
HASH_BITS = 64


@dataclass(frozen=True, slots=True)
class HashedRows:
    """Rows of a table, by the columns that are compared."""

    columns: Mapping[str, Column]
    """The columns that are compared."""
    hashes: NDArray[np.uint64]
    """Hash of each row."""
    context: Context
    """Threads and memory."""

    @classmethod
    def of(cls, columns: Mapping[str, Column], by: Sequence[str], context: Context, hash_bits: int = HASH_BITS) -> HashedRows:
        """Return the rows of a table.

        Parameters
        ----------
        columns, by
            The table, and names of columns.
        context
            Threads and memory.
        hash_bits
            Bits of a hash that are used; tests use few.
        """
        hashes = row_hashes(columns, by, context) >> np.uint64(HASH_BITS - hash_bits)
        return cls({name: columns[name] for name in by}, hashes, context)

    def __len__(self) -> int:
        return len(self.hashes)

    def map_of(self, rows: NDArray[np.int64]) -> HashMap:
        """Return a map from hashes to the first of these rows."""
        found = HashMap("uint64", "int64", context=self.context)
        found.upsert(self.hashes[rows], rows, reduce="first")
        return found

    def equal(self, rows: NDArray[np.int64], other: HashedRows, others: NDArray[np.int64], *, are_nulls_equal: bool) -> Any:
        """Return for each pair of rows whether they are equal."""
        pairs = ComparedRows.of(rows, others, are_nulls_equal=are_nulls_equal)
        for name, column in self.columns.items():
            pairs.compare(column, other.columns[name], self.context)
        return pairs.equal.view(bool)


def first_rows(rows: HashedRows) -> NDArray[np.int64]:
    """Return for each row the number of the first row that is equal to it. Nulls are equal to each other."""
    result: NDArray[np.int64] = np.empty(len(rows), np.int64)
    rest = np.arange(len(rows))
    while len(rest):
        firsts = rows.map_of(rest).find(rows.hashes[rest]).values
        result[rest] = firsts
        rest = rest[~rows.equal(rest, rows, firsts, are_nulls_equal=True)]
    return result


def matching_rows(rows: HashedRows, other: HashedRows) -> NDArray[np.int64]:
    """Return for each row the number of the first equal row of another table, -1 if there is none. Nulls have no match."""
    result: NDArray[np.int64] = np.full(len(rows), -1, np.int64)
    rest, other_rest = np.arange(len(rows)), np.arange(len(other))
    while len(rest) and len(other_rest):
        table = other.map_of(other_rest)
        found = table.find(rows.hashes[rest])
        rest, candidates = rest[found.found], found.values[found.found]
        equal = rows.equal(rest, other, candidates, are_nulls_equal=False)
        result[rest[equal]] = candidates[equal]
        rest = rest[~equal]
        if len(rest):
            firsts = table.find(other.hashes[other_rest]).values
            other_rest = other_rest[~other.equal(other_rest, other, firsts, are_nulls_equal=True)]
    return result


def check_types(columns: Mapping[str, Column], other: Mapping[str, Column], names: Sequence[str]) -> None:
    """Check that columns of two tables can be compared. Raise OptionError if columns have different types."""
    for name in names:
        types = {columns[name].type, other[name].type}
        if len(types) > 1 and not {kind.name for kind in types} <= _TEXTS and "null" not in {kind.name for kind in types}:
            raise OptionError(
                f"column {name!r} is of {columns[name].type} here and of {other[name].type} in other; read both as one type"
            )
