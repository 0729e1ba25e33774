"""Defines the state of a store: a main, and the changes since it was made. A state never changes, so reads need no lock."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, NamedTuple

from headrace.arrange.gather.take import take_rows
from headrace.columns.column import Column
from headrace.columns.finish.concat import SharedLoads
from headrace.columns.types import DataType
from headrace.core.context import Context
from headrace.core.errors import MissingDependencyError
from headrace.core.lazy import LazyAttribute
from headrace.core.prefix import Prefix
from headrace.encode.texts import as_dictionary
from headrace.store.change import Change
from headrace.store.dictionary.decode import decode, dictionary_column
from headrace.store.main import Main, MergingMain
from headrace.store.row_runs import RowRuns
from headrace.store.schema_change import SchemaChange

try:
    import numpy as np
except ImportError:
    raise MissingDependencyError.of("numpy", "numpy", "a store") from None


_first_row = attrgetter("first_row")
_MAX_ROWS_PER_ROW = 4  # a change is joined as a whole if it has at most this many rows for each row that is needed

_FEW_VALUES, _FEW_BYTES = 1 << 10, 1 << 20
"""A dictionary of at most this many texts and bytes is copied for each batch of rows that DuckDB reads."""
_MAX_DELTA_BYTES = 1 << 30


class _ChangedRows(NamedTuple):
    """Rows of the delta."""

    parts: list[tuple[Change, Any]]  # changes, each with the positions of rows in it; None for all its rows
    places: Any  # position of each row in the concatenation of the parts


@dataclass(frozen=True)
class StoreState:
    """The rows of a store at one time."""

    schema: Mapping[str, DataType]  # name and type of each column
    main: Main
    added: Prefix[Change] = field(default_factory=Prefix)  # changes with rows, which are the delta
    removed: Prefix[Any] = field(default_factory=Prefix)
    """Numbers of the rows of main and delta that are removed: arrays of uint64."""
    delta_rows: int = 0
    delta_bytes: int = 0  # size of the delta
    removed_rows: int = 0  # number of removed rows of main and delta
    is_altered: bool = False  # True if the columns were changed since the main was made

    def after(self, change: Change) -> StoreState:
        """Return the state after a change."""
        added = self.added.appended(change) if change.length else self.added
        removed = self.removed.appended(change.removed) if len(change.removed) else self.removed
        return replace(
            self,
            added=added,
            removed=removed,
            delta_rows=self.delta_rows + change.length,
            delta_bytes=self.delta_bytes + change.nbytes,
            removed_rows=self.removed_rows + len(change.removed),
        )

    def altered(self, change: SchemaChange) -> StoreState:
        """Return the same rows after a change of the columns."""
        added = [replace(one, columns=change.columns(one.columns, one.length)) for one in self.added]
        return replace(
            self,
            schema=change.types,
            main=change.main(self.main),
            added=Prefix(added, len(added)),
            delta_bytes=sum(one.nbytes for one in added),
            is_altered=True,
        )

    def with_main(self, main: Main, merged: StoreState) -> StoreState:
        """Return the same rows with a main that has those of an earlier state."""
        return replace(
            self,
            main=main,
            added=self.added.after(merged.added),
            removed=self.removed.after(merged.removed),
            delta_rows=self.delta_rows - merged.delta_rows,
            delta_bytes=self.delta_bytes - merged.delta_bytes,
            removed_rows=self.removed_rows - merged.removed_rows,
            is_altered=False,
        )

    @property
    def num_rows(self) -> int:
        """Number of rows that are not removed."""
        return len(self.main.rows) + self.delta_rows - self.removed_rows

    @LazyAttribute
    def rows(self) -> RowRuns:
        """Numbers of all rows of main and delta."""
        return self.main.rows.then(self._delta_runs)

    @LazyAttribute
    def _delta_runs(self) -> RowRuns:
        runs = [(change.first_row, change.length) for change in self.added]
        starts, lengths = zip(*runs, strict=True) if runs else ((), ())
        return RowRuns.of_runs(starts, lengths)

    @LazyAttribute
    def removed_numbers(self) -> Any:
        """Numbers of the rows of main and delta that are removed: an array of uint64, in no order."""
        none: Any = np.empty(0, np.uint64)
        return np.concatenate([none, *self.removed])

    @LazyAttribute
    def keep(self) -> Any:
        """Mask of the rows of main and delta that are not removed; None for all rows."""
        if not self.removed_rows:
            return None
        keep: Any = np.ones(len(self.rows), bool)
        keep[self.rows.positions(self.removed_numbers)[0].astype(np.int64)] = False
        return keep

    @LazyAttribute
    def row_numbers(self) -> Any:
        """Number of each row that is not removed, ascending: an array of uint64."""
        numbers = self.rows.numbers()
        return numbers if self.keep is None else numbers[self.keep]

    def columns(self, names: Iterable[str], context: Context) -> dict[str, Column]:
        """Return columns of the rows that are not removed, in the order of their numbers."""
        places = None if self.keep is None else np.flatnonzero(self.keep)
        found = {}
        for name in names:
            whole = decode(self.main.columns[name], context=context)
            column = self._joined(name, [whole, *self._parts(name)], context)
            found[name] = column if places is None else take_rows(column, places, context.thread_count)
        return found

    def delta_column(self, name: str, context: Context) -> tuple[Column, Any]:
        """Return a column of the rows of the delta that are not removed, and their numbers."""
        column, numbers = self._joined(name, self._parts(name), context), self._delta_runs.numbers()
        places, is_in_delta = self._delta_runs.positions(self.removed_numbers)
        if not is_in_delta.any():
            return column, numbers
        keep: Any = np.ones(len(numbers), bool)
        keep[places[is_in_delta].astype(np.int64)] = False
        return take_rows(column, np.flatnonzero(keep), context.thread_count), numbers[keep]

    def parts(self, names: Iterable[str], few: Container[str], context: Context) -> list[dict[str, Column]]:
        """Return columns of the rows that are not removed in two parts, those of the main and of the delta.

        So they are not copied to be joined. Columns of the names `few` have the type ``dictionary``.
        """
        names, keep, first, threads = list(names), self.keep, len(self.main.rows), context.thread_count
        main, delta = {}, {}
        for name in names:
            column, later = self.main.columns[name], self._joined(name, self._parts(name), context)
            main[name] = dictionary_column(column, context) if name in few else decode(column, context=context)
            delta[name] = as_dictionary(later, threads) if name in few else later
        if keep is None:
            return [main, delta]
        places = [np.flatnonzero(mask) for mask in (keep[:first], keep[first:])]
        return [
            {name: take_rows(part[name], rows, threads) for name in names}
            for part, rows in zip((main, delta), places, strict=True)
        ]

    def names_of_few(self, names: Iterable[str]) -> list[str]:
        """Return those of the names whose columns are texts with few distinct values in the main."""
        if self.delta_bytes > _MAX_DELTA_BYTES:
            return []
        return [name for name in names if self.schema[name].is_string and _has_few(self.main.columns[name].dictionary)]

    def rows_at(self, numbers: Any, names: Iterable[str], context: Context) -> dict[str, Column]:
        """Return columns of the rows with given numbers, in their order. All numbers are those of rows.

        Only changes that have such rows are read, so that the cost does not depend on the size of the delta.
        """
        places, in_main = self.main.rows.positions(numbers)
        later = np.flatnonzero(~in_main)
        later = later[np.argsort(numbers[later], kind="stable")]
        changed = self._changed_rows(numbers[later])
        order: Any = np.empty(len(numbers), np.int64)
        first = np.flatnonzero(in_main)
        order[first] = np.arange(len(first))
        order[later] = len(first) + changed.places
        found = {}
        for name in names:
            parts = [decode(self.main.columns[name], places[in_main].astype(np.int64), context=context)]
            for change, rows in changed.parts:
                column = change.columns[name]
                parts.append(column if rows is None else take_rows(column, rows, context.thread_count))
            found[name] = take_rows(self._joined(name, parts, context), order, context.thread_count)
        return found

    def _changed_rows(self, numbers: Any) -> _ChangedRows:
        """Return the rows of the delta with given numbers, ascending: from each change that has some, these or all rows."""
        found = _ChangedRows([], np.empty(len(numbers), np.int64))
        begin = total = 0
        while begin < len(numbers):
            change = self.added.last_up_to(int(numbers[begin]), _first_row)
            end = begin + int(np.searchsorted(numbers[begin:], np.uint64(change.first_row + change.length)))
            rows = (numbers[begin:end] - np.uint64(change.first_row)).astype(np.int64)
            is_dense = change.length <= _MAX_ROWS_PER_ROW * len(rows)
            found.parts.append((change, None if is_dense else rows))
            found.places[begin:end] = total + (rows if is_dense else np.arange(len(rows)))
            total += change.length if is_dense else len(rows)
            begin = end
        return found

    def merging_main(self, context: Context, merge_context: Context) -> AbstractContextManager[MergingMain]:
        """Merge all rows that are not removed (Krueger et al. 2011, section 2.2) in the second context, during the body."""

        def delta_of(name: str) -> Column:
            return self._joined(name, self._parts(name), context)

        return self.main.merging(delta_of, self.rows, self.keep, merge_context)

    def _parts(self, name: str) -> list[Column]:
        return [change.columns[name] for change in self.added]

    def _joined(self, name: str, parts: Sequence[Column], context: Context) -> Column:
        parts = [part for part in parts if len(part)]
        if len(parts) == 1:
            return parts[0]
        return SharedLoads.of(1, context).join(parts, self.schema[name])[0]


def _has_few(dictionary: Column) -> bool:
    return 0 < len(dictionary) <= _FEW_VALUES and dictionary.values.nbytes <= _FEW_BYTES
