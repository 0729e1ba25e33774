"""Defines `StoreSnapshot`: the rows of a store at one time, for reads while changes and merges go on."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Never

from headrace.api.optional import needed
from headrace.api.table import Table
from headrace.columns.column import Column
from headrace.columns.types import DataType
from headrace.core.context import Context
from headrace.core.errors import OptionError
from headrace.core.process.process_lock import renew_in_children

if TYPE_CHECKING:
    import polars as pl

    from headrace.api.store.rows_by_key import RowsByKey
    from headrace.store.keys.key_values import FoundRows
    from headrace.store.keys.store_key import StoreKey
    from headrace.store.published_rows import PublishedRows
    from headrace.store.state import StoreState


class FoundTable(NamedTuple):
    """The result of `Store.lookup`."""

    rows: Table  # the rows of the keys that are present, in the order of the keys
    found: Any  # True if each key is present: an array of bools


def caller_keys(keys: Any) -> Any:
    """Return keys of a caller; of a table, of any library, its columns; of a Series, or an array of PyArrow, a column."""
    if isinstance(keys, Table):
        return keys.columns
    if isinstance(keys, Column) or not (hasattr(keys, "__arrow_c_stream__") or hasattr(keys, "__arrow_c_array__")):
        return keys
    from headrace.export.arrow.from_arrow import column_from_arrow, columns_from_arrow  # not needed for other keys

    if hasattr(keys, "columns"):
        return columns_from_arrow(keys)
    return column_from_arrow(keys, "keys", "a list, an array, a Series or a table of keys")


class StoreSnapshot:
    """The rows of a store at one time. Made by `Store.snapshot`; later changes of the store do not appear in it.

    Examples
    --------
    >>> import headrace
    >>> store = headrace.Store(schema={"city": "string", "n": "int64"}, key="n")
    >>> store.append(b"city,n\\nRome,2\\nOslo,1\\n")
    2
    >>> before = store.snapshot()
    >>> store.delete(2)
    1
    >>> before.table()["city"].to_pylist(), store.table()["city"].to_pylist()
    (['Rome', 'Oslo'], ['Oslo'])
    """

    def __init__(self, state: StoreState, key: StoreKey | None, context: Context) -> None:
        self._state, self._key, self._context = state, key, context
        self._lock = threading.Lock()
        self._rows: PublishedRows | None = None
        self._order: RowsByKey | None = None
        renew_in_children(self)

    def renew_after_fork(self) -> None:
        """See `Renewable`. The order of the keys goes if a thread was reading it."""
        if self._lock.locked():
            self._order = None
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return self._state.num_rows

    def __reduce__(self) -> Never:
        raise TypeError("a StoreSnapshot cannot be pickled; pickle its table()")

    @property
    def schema(self) -> Mapping[str, DataType]:
        """Mapping from name to type."""
        return dict(self._state.schema)

    def table(self, columns: Sequence[str] | None = None) -> Table:
        """Return the rows, in the order in which they were added. An updated row counts as added.

        Parameters
        ----------
        columns
            Names of columns; None for all.

        Raises
        ------
        UnknownColumnError
            There is no such column.
        """
        return Table(self._state.columns(self._names(columns), self._context))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return an Arrow C stream of the rows."""
        return self.table().__arrow_c_stream__(requested_schema)

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a frame of Polars."""
        return self.table().to_polars()

    def sql(self, query: str) -> Table:
        """Return the result of a query of DuckDB, in which the table ``store`` has the rows.

        Columns that the query does not use are not decoded. DuckDB has the threads of the store's context. It returns intervals
        without months as durations of microseconds.

        Parameters
        ----------
        query
            A statement that returns rows.

        Raises
        ------
        OptionError
            DuckDB refuses the query, or it returns no rows.
        MissingDependencyError
            DuckDB is not installed.

        Examples
        --------
        >>> import headrace
        >>> store = headrace.Store(schema={"city": "string", "n": "int64"})
        >>> store.append(b"city,n\\nRome,2\\nOslo,1\\nRome,5\\n")
        3
        >>> store.sql("select city, sum(n)::bigint as n from store group by city order by city").to_pydict()
        {'city': ['Oslo', 'Rome'], 'n': [1, 7]}
        """
        if not isinstance(query, str):
            raise OptionError.wrong("query", "a text", query)
        needed("duckdb", "duckdb", "sql()")
        needed("pyarrow", "arrow", "sql()")
        from headrace.api.store.sql_rows import SqlRows, result_of  # needs both

        return result_of(query, SqlRows(self._state, self._context, query), self._context.thread_count)

    def lookup(self, keys: Any) -> FoundTable:
        """Return the rows of keys. The first call builds a hash map of all keys.

        Parameters
        ----------
        keys
            As for `Store.lookup`.

        Raises
        ------
        OptionError
            The store has no key, or the keys are of another type.
        """
        from headrace.store.keys.store_key import needed_key
        from headrace.store.published_rows import PublishedRows  # needs NumPy

        key = needed_key(self._key, "lookup")
        wanted = key.given(caller_keys(keys), "keys")

        with self._lock:
            if self._rows is None:
                self._rows = PublishedRows(self._state, key, self._context)
        return self.rows_found(self._rows.find(wanted)[1])

    def rows_found(self, found: FoundRows) -> FoundTable:
        """Return the rows of row numbers."""
        rows = self._state.rows_at(found.numbers[found.found], self._state.schema, self._context)
        return FoundTable(Table(rows), found.found)

    def range(self, low: Any, high: Any) -> Table:
        """Return the rows whose keys are from `low` to `high`, both included, in the order of the keys.

        Merged keys have an order, which the first call after a merge looks up. The first call after a change sorts the others.

        Raises
        ------
        OptionError
            The store has no key, or one of several columns, or a bound is of another type.

        Examples
        --------
        >>> import headrace
        >>> store = headrace.Store(schema={"n": "int64", "city": "string"}, key="n")
        >>> store.append(b"n,city\\n7,Rome\\n2,Oslo\\n5,Paris\\n")
        3
        >>> store.range(2, 5)["city"].to_pylist()
        ['Oslo', 'Paris']
        """
        from headrace.store.keys.key_values import keys_from  # needs NumPy
        from headrace.store.keys.store_key import needed_key

        (key, type_), *others = needed_key(self._key, "range").types.items()
        if others:
            raise OptionError("range() takes keys of one column; filter() of table() finds rows by several")
        bounds = [keys_from(bound, type_, name) for name, bound in (("low", low), ("high", high))]
        if any(len(bound) != 1 for bound in bounds):
            raise OptionError("low and high must each be one key")
        from headrace.api.store.rows_by_key import RowsByKey  # needs NumPy

        with self._lock:
            if self._order is None:
                self._order = RowsByKey(self._state, key, self._context)
            numbers = self._order.between(*bounds)
        return Table(self._state.rows_at(numbers, self._state.schema, self._context))

    def _names(self, columns: object) -> Sequence[str]:
        if columns is None:
            return list(self._state.schema)
        names = [columns] if isinstance(columns, str) else columns
        if not isinstance(names, list | tuple):
            raise OptionError.wrong("columns", "names of columns, in a list", columns)
        from headrace.store.schema import check_names  # needs NumPy

        check_names("columns", names, self._state.schema)
        return names

    def __repr__(self) -> str:
        return f"<headrace.StoreSnapshot, {len(self)} rows, {len(self._state.schema)} columns>"
