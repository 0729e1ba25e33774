"""Finds rows by keys of texts or of several columns: by hash maps of 64-bit hashes, whose matches are compared.

A row number is in the first map that has no other row of its hash. So there is nearly always one map, and there are as many as
rows of one hash.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from headrace.arrange.gather.take import take_rows
from headrace.columns.column import Column
from headrace.core.context import Context
from headrace.core.errors import MissingDependencyError, SourceError, shown
from headrace.index.hash_map.hash_map import HashMap
from headrace.index.hash_map.row_groups import HASH_BITS, HashedRows, first_rows
from headrace.store.keys.key_values import FoundRows, column_of_keys, keys_of

try:
    import numpy as np
except ImportError:
    raise MissingDependencyError.of("numpy", "numpy", "a store") from None

Fetch: TypeAlias = Callable[[Any], Mapping[str, Column]]  # returns the key columns of rows with given numbers


@dataclass(frozen=True, slots=True)
class KeyRows:
    """Keys as rows of columns: texts, int64 and uint64."""

    rows: HashedRows  # the columns and their hashes

    @classmethod
    def of(cls, columns: Mapping[str, Column], context: Context, hash_bits: int = HASH_BITS) -> KeyRows:
        """Return the keys of key columns without nulls."""
        plain = {name: _comparable(column) for name, column in columns.items()}
        return cls(HashedRows.of(plain, list(plain), Context(threads=context.threads), hash_bits))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, chosen: Any) -> KeyRows:
        """Return some keys: by a mask, or by an array of positions."""
        places = np.flatnonzero(chosen) if chosen.dtype == bool else chosen
        columns = {name: take_rows(column, places, self.rows.context.thread_count) for name, column in self.rows.columns.items()}
        return KeyRows(HashedRows(columns, self.rows.hashes[places], self.rows.context))

    def first_places(self) -> Any:
        """Return the position of the first row of each key, ascending."""
        return np.flatnonzero(first_rows(self.rows) == np.arange(len(self)))

    def values(self, place: int) -> Any:
        """Return a key: a value, or a tuple of several columns."""
        found = tuple(column[place] for column in self.rows.columns.values())
        return found if len(found) > 1 else found[0]


class KeyRowIndex:
    """Row numbers by key. `fetch`: returns the key columns of rows of the index. `context`: threads that may be used."""

    def __init__(self, fetch: Fetch, context: Context) -> None:
        self._fetch = fetch
        self._context = Context(threads=context.threads)
        self._maps: list[HashMap] = []

    def find(self, keys: KeyRows) -> FoundRows:
        """Return the row of each key."""
        numbers: Any = np.zeros(len(keys), np.uint64)
        found: Any = np.zeros(len(keys), bool)
        for table in self._maps:
            rest = np.flatnonzero(~found)
            present = table.find(keys.rows.hashes[rest])
            rest, candidates = rest[present.found], present.values[present.found]
            equal = self._are_equal(keys, rest, candidates)
            numbers[rest[equal]] = candidates[equal]
            found[rest[equal]] = True
        return FoundRows(numbers, found)

    def insert(self, keys: KeyRows, numbers: Any) -> None:
        """Add the rows of distinct keys, none of which is present. Raise SourceError if they are not distinct.

        Files may be forged, and each row of one key would take a map of its own.
        """
        hashes, level = keys.rows.hashes, 0
        while len(hashes):
            if level == 1:
                _check_distinct(keys)
            if level == len(self._maps):
                self._maps.append(HashMap("uint64", "uint64", context=self._context))
            table = self._maps[level]
            table.upsert(hashes, numbers, reduce="first")
            others = table.find(hashes).values != numbers
            hashes, numbers, level = hashes[others], numbers[others], level + 1

    def erase(self, keys: KeyRows, numbers: Any) -> None:
        """Remove keys, given their row numbers."""
        for table in self._maps:
            present = table.find(keys.rows.hashes)
            table.erase(keys.rows.hashes[present.found & (present.values == numbers)])

    def _are_equal(self, keys: KeyRows, places: Any, numbers: Any) -> Any:
        if not len(places):
            return np.empty(0, bool)
        columns = {name: _comparable(column) for name, column in self._fetch(numbers).items()}
        stored = HashedRows(columns, keys.rows.hashes[places], self._context)
        return keys.rows.equal(places, stored, np.arange(len(places)), are_nulls_equal=False)


def _check_distinct(keys: KeyRows) -> None:
    first = keys.first_places()
    if len(first) < len(keys):
        again = np.setdiff1d(np.arange(len(keys)), first)[0]
        key = shown(keys.values(again))
        raise SourceError(f"the store is damaged: two rows have the key {key}; restore its files from a copy")


def _comparable(column: Column) -> Column:
    """Return a key column in a form that does not depend on the width of its integers."""
    return column if column.type.is_string else column_of_keys(keys_of(column))
