"""Defines `Store`: rows in compressed columns, with changes that are merged, in memory or durable in a folder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Never, Self

from headrace.api.scan.scan import Scan
from headrace.api.store.row_count import RowCount, joined_rejects
from headrace.api.store.snapshot import FoundTable, StoreSnapshot, caller_keys
from headrace.api.store.statistics import Salvaged, StoreStatistics, statistics_of
from headrace.api.store.store_columns import StoreColumns
from headrace.api.table import Table
from headrace.core.context import Context, context_of
from headrace.core.errors import OptionError
from headrace.core.expressions.column_expression import ColumnExpression
from headrace.core.foreign_names import ForeignNames
from headrace.core.options import flag, instance
from headrace.store.files.log import SyncPolicy
from headrace.store.triggers import MergeTriggers

if TYPE_CHECKING:
    import polars as pl

    from headrace.store.engine import StoreEngine
    from headrace.store.state import StoreState


class _LastSnapshot(NamedTuple):
    """The snapshot that look-ups and ranges use while the state is the same."""

    state: StoreState
    snapshot: StoreSnapshot


class Store(StoreColumns, ForeignNames):
    """Rows in compressed columns that take changes at any time.

    The *main* has a sorted dictionary and packed codes for each column. Rows that are added go to the *delta*, which is not
    compressed. A merge makes a main of both, while reads and changes go on (Krueger et al. 2011).

    With a path the store is a folder. Each change is in a log before a call returns, and a store that is opened after a crash has
    each acknowledged row once. One process writes, and any number of others read.

    Parameters
    ----------
    path
        Folder of the store, which is created if it has none. None for a store in memory.
    schema
        Name and type of each column, such as ``table.schema``. None to open a store that exists.
    key
        Name of a column whose values are distinct and not null: integers, dates, timestamps or texts. Or several names in a list:
        then rows differ in at least one of these columns, and a key is a tuple of values. None without a key.
    on_duplicate
        Policy for rows whose key is present: ``"raise"`` adds none of the rows, ``"replace"`` replaces the old rows, ``"keep"``
        leaves out the new ones. Of equal keys in one call, ``"replace"`` takes the last and ``"keep"`` the first.
    sync
        ``"always"``: each change is on the disk when a call returns. ``"batch"``: it is if `sync_seconds` have passed since the
        last sync; call `flush` before a pause. ``"never"``: at merges and at `close`. A crash of the process loses nothing
        with any of them; a crash of the machine loses the last changes that were not synced.
    sync_seconds
        Seconds between two syncs, for ``"batch"``.
    read_only
        Open the store as it is now, without its lock; `refresh` reads it again.
    merge_rows, merge_bytes, merge_ratio, merge_seconds
        Thresholds: a change that reaches one begins a merge in another thread. The first counts rows of the delta and removed
        rows, the second bytes of the delta. The ratio divides such rows by the main's. The last counts seconds since a merge
        began or the store was opened: rows that are not merged by then are, without any change. None for no such threshold.
    context
        Threads and memory of each call. None for the defaults. If its device is a GPU, merges run there, column by column, and
        files have the same bytes. Rows stay in host memory: those of a table on a GPU are copied when they are appended.

    Raises
    ------
    OptionError
        An option is wrong, or the folder has a store of another schema.
    SourceError
        There is no store and no schema, another writer has the store, or a file is damaged; the message has the offset. A column
        of the main is read and checked when a call first uses it, which raises this error if the column is damaged.
    MissingDependencyError
        NumPy is not installed, or PyArrow for a store with a path.
    OSError
        A file cannot be read or written.

    Examples
    --------
    >>> import headrace
    >>> store = headrace.Store(schema={"city": "string", "founded": "int64"}, key="city")
    >>> store.append(b"city,founded\\nRome,-753\\nOslo,1048\\n")
    2
    >>> store.merge()
    True
    >>> store.append(b"city,founded\\nParis,-52\\n")
    1
    >>> store.lookup(["Paris", "Bonn"]).found.tolist()
    [True, False]
    >>> store.table()["city"].to_pylist()
    ['Rome', 'Oslo', 'Paris']
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        schema: Mapping[str, Any] | None = None,
        key: str | Sequence[str] | None = None,
        on_duplicate: str | None = None,
        sync: str = "always",
        sync_seconds: float = 1.0,
        read_only: bool = False,
        merge_rows: int | None = None,
        merge_bytes: int | None = 1 << 28,
        merge_ratio: float | None = None,
        merge_seconds: float | None = None,
        context: Context | None = None,
    ) -> None:
        from headrace.store.opening import Source, StoreRequest, opened  # needs NumPy

        triggers = MergeTriggers.of(merge_rows, merge_bytes, merge_ratio, merge_seconds)
        policy = SyncPolicy.of(sync, sync_seconds)
        self._source = Source.of(path, policy, triggers, context_of(context))
        request = StoreRequest.of(schema, key, on_duplicate, flag("read_only", read_only))
        self._opened = opened(self._source, request)
        self._last: _LastSnapshot | None = None

    def __reduce__(self) -> Never:
        where = self._source.where
        way = "pickle its table()" if where is None else f"open it in the other process by Store({where!r}, read_only=True)"
        raise TypeError(f"a Store cannot be pickled; {way}")

    def append(self, source: Any, **options: Any) -> RowCount:
        """Add rows, and return their number. They are visible, and by `sync` on the disk, when the call returns.

        The number has ``rejects`` and ``report`` of raw text, and counts the rows that the policy for duplicates left out.

        If the store has a path, bytes or a file of 16 MB or more are read in parts. The log has a part while the next one is
        read. A change of another thread that comes meanwhile is made first, and reads do not wait. The rows are one change: after
        a crash all of them are there, or none.

        Parameters
        ----------
        source
            A table with all columns: of headrace, PyArrow, Polars, pandas or DuckDB. Or anything that `read_csv` takes as raw
            text: bytes, a path or a file. Columns may be in any order.
        **options
            Options of `read_csv` for raw text. It has a header; with ``header=False`` its columns are those of the schema.
            ``on_error="reject"`` leaves out records that have a fault; the result's ``rejects`` have them.

        Raises
        ------
        OptionError
            A column is missing, unknown or of another type, a key is null, or is present and the policy is ``"raise"``. Nothing
            is added.
        ParseError
            The text is malformed. Nothing is added.
        OSError, SourceError
            The disk is full, or fails. Nothing is added, and all earlier changes are safe. If the message says so, the store must
            be opened again.
        """
        from headrace.api.store.rows import TextParts, rows_given, whole_columns  # needs NumPy

        engine = self._engine("append")
        if engine.takes_parts and (parts := TextParts.of(source, engine.state.schema, self._source.context, options)):
            with parts.scan:
                return parts.counted(engine.append_parts(parts.columns()))
        given = rows_given(source, engine.state.schema, self._source.context, options)
        return given.counted(engine.append(whole_columns(given.columns, engine.state.schema)))

    def ingest(self, scan: Scan, *, atomic: bool = False) -> RowCount:
        """Add the rows of a scan, batch by batch, and return their number, as by `append`.

        Rejects of all batches are kept in memory. If there are too many, append each batch of ``scan.batches()``.

        Parameters
        ----------
        scan
            The scan, of one text or of many files.
        atomic
            If true, the whole scan is one change. After an error or a crash none of its rows is there, so the call can be
            repeated. Changes that come before all is read are made first, and its rows are visible at its end. If false, each
            batch is one change.

        Raises
        ------
        OptionError, ParseError, OSError, SourceError
            As for `append`. The batches before remain if `atomic` is false.

        Examples
        --------
        >>> import headrace
        >>> store = headrace.Store(schema={"n": "int64"})
        >>> store.ingest(headrace.scan_csv(b"n\\n1\\n2\\n", batch_bytes=1000))
        2
        """
        scan = instance("scan", scan, Scan, "a scan of scan_csv")
        if flag("atomic", atomic):
            from headrace.api.store.rows import TextParts  # needs NumPy

            engine = self._engine("ingest")
            parts = TextParts(scan, engine.state.schema, self._source.context)
            return parts.counted(engine.append_parts(parts.columns()))
        added = [self.append(batch) for batch in scan.batches()]
        rejects = joined_rejects([one.rejects for one in added], self._source.context)
        return RowCount(sum(added), sum(one.duplicates for one in added), rejects, scan.report)

    def update(
        self,
        source: Any = None,
        *,
        where: ColumnExpression | None = None,
        values: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> RowCount:
        """Replace columns of the rows with given keys, or of those for which a condition is true; return the number of rows.

        Parameters
        ----------
        source
            A table or raw text as for `append`, with the key and any other columns. Columns that are missing keep their values.
            None with `where`.
        where
            A condition on columns, such as ``headrace.col("n") > 3``.
        values
            With `where`: new values by name of the column. A value is a literal, None for null, or an expression of columns, such
            as ``headrace.col("n") * 2``, which is evaluated on the old row. Sums of integers wrap at 64 bits.
        **options
            As for `append`.

        Raises
        ------
        OptionError
            The store has no key, a key is absent, null or twice in the rows, or as for `append`. A column's type does not have a
            value. New keys are not distinct. Nothing is changed.
        UnknownColumnError
            There is no such column.
        ParseError, OSError, SourceError
            As for `append`.

        Examples
        --------
        >>> import headrace
        >>> store = headrace.Store(schema={"n": "int64", "city": "string", "rank": "int64"}, key="n")
        >>> store.append(b"n,city,rank\\n1,Rome,5\\n2,Oslo,7\\n")
        2
        >>> store.update(b"n,rank\\n1,6\\n")
        1
        >>> store.update(where=headrace.col("city") == "Rome", values={"rank": headrace.col("rank") + 1, "city": "Roma"})
        1
        >>> store.lookup(1).rows.to_pylist()
        [{'n': 1, 'city': 'Roma', 'rank': 7}]
        """
        engine = self._engine("update")
        if where is not None or values is not None:
            if source is not None or options:
                raise OptionError("update() takes rows, or where= and values=, not both")
            return self._update_where(engine, where, values)
        from headrace.api.store.rows import rows_given, whole_columns  # needs NumPy
        from headrace.store.keys.store_key import needed_key

        key = needed_key(engine.rules.key, "update")
        given = rows_given(source, engine.state.schema, self._source.context, options, is_whole=False)
        return given.counted(engine.update(whole_columns(given.columns, key.names)))

    def _update_where(self, engine: StoreEngine, where: object, values: object) -> RowCount:
        from headrace.store.assignment import assignment  # needs NumPy
        from headrace.store.opening import selection

        condition = instance("where", where, ColumnExpression, "a condition on columns, such as headrace.col('n') > 3")
        assigned = assignment(values, engine.state.schema, self._source.context)
        selected = selection(condition, engine.state.schema, self._source.context)
        return RowCount(engine.update_where(selected, assigned))

    def delete(self, keys: Any) -> int:
        """Remove rows, and return their number.

        Parameters
        ----------
        keys
            Keys as for `lookup`; absent ones are ignored. Or a condition on columns, such as ``headrace.col("n") > 3``.

        Raises
        ------
        OptionError
            The store has no key, or the keys or the condition do not fit the columns.
        OSError, SourceError
            As for `append`.

        Examples
        --------
        >>> import headrace
        >>> store = headrace.Store(schema={"n": "int64"})
        >>> store.append(b"n\\n1\\n2\\n3\\n")
        3
        >>> store.delete(headrace.col("n") >= 2)
        2
        """
        from headrace.store.keys.store_key import needed_key
        from headrace.store.opening import selection  # needs NumPy

        engine = self._engine("delete")
        if isinstance(keys, ColumnExpression):
            selected = selection(keys, engine.state.schema, self._source.context)
            return engine.remove_where(selected)
        return engine.remove_keys(needed_key(engine.rules.key, "delete").given(caller_keys(keys), "keys"))

    def merge(self) -> bool:
        """Merge the delta into the main, and drop removed rows. Reads and changes go on. Return whether there was a delta.

        Raises
        ------
        OSError, SourceError
            A file cannot be written; the rows are as before. An error of a merge that a threshold began is raised here too.
        MemoryLimitError
            Both mains together do not fit the memory.
        """
        return self._engine("merge").merge()

    def wait_for_merge(self) -> None:
        """Return when a merge that a threshold began has ended; errors are those of `merge`."""
        self._engine("wait_for_merge").wait_for_merge()

    def flush(self) -> None:
        """Return when all changes are on the disk.

        Raises
        ------
        OSError, SourceError
            The disk fails; the store must be opened again.
        """
        self._engine("flush").flush()

    def snapshot(self) -> StoreSnapshot:
        """Return the rows as they are now. Nothing is copied, and reads of a snapshot need no lock."""
        return StoreSnapshot(self._opened.state, self._opened.key, self._source.context)

    def table(self, columns: Sequence[str] | None = None) -> Table:
        """Return the rows, as by `StoreSnapshot.table`."""
        return self.snapshot().table(columns)

    def sql(self, query: str) -> Table:
        """Return the result of a query of DuckDB, as by `StoreSnapshot.sql`."""
        return self.snapshot().sql(query)

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a frame of Polars."""
        return self.snapshot().to_polars()

    def lookup(self, keys: Any) -> FoundTable:
        """Return the rows of keys, by a hash map that changes keep up to date.

        Parameters
        ----------
        keys
            A list, an array, a Series or a column of keys, one key, or a table with the columns of the key. If the key has
            several columns, a tuple or a list of tuples.

        Raises
        ------
        OptionError
            The store has no key, or the keys are of another type.

        Examples
        --------
        >>> import headrace
        >>> store = headrace.Store(schema={"city": "string", "year": "int16", "n": "int64"}, key=["city", "year"])
        >>> store.append(b"city,year,n\\nRome,2023,5\\nRome,2024,7\\n")
        2
        >>> store.lookup([("Rome", 2024), ("Oslo", 2024)]).found.tolist()
        [True, False]
        """
        from headrace.store.keys.store_key import needed_key  # needs NumPy

        key = needed_key(self._opened.key, "lookup")
        state, found = self._opened.rows.find(key.given(caller_keys(keys), "keys"))
        return StoreSnapshot(state, key, self._source.context).rows_found(found)

    def range(self, low: Any, high: Any) -> Table:
        """Return the rows whose keys are from `low` to `high`, as by `StoreSnapshot.range`."""
        return self._last_snapshot().range(low, high)

    def _last_snapshot(self) -> StoreSnapshot:
        """Return the rows as they are now, with the order and the map of keys that an earlier call has made."""
        state, last = self._opened.state, self._last
        if last is None or last.state is not state:
            last = self._last = _LastSnapshot(state, StoreSnapshot(state, self._opened.key, self._source.context))
        return last.snapshot

    @property
    def statistics(self) -> StoreStatistics:
        """Sizes of main, delta and log."""
        return statistics_of(self._opened.state, self._opened.engine, self._opened.torn_bytes)

    def refresh(self) -> None:
        """Read a store again that is open with ``read_only=True``.

        Raises
        ------
        OptionError
            The store is open for writing.
        SourceError, OSError
            As for a new store.
        """
        from headrace.store.reader import StoreReader  # needs NumPy

        rows = self._opened.rows
        if not isinstance(rows, StoreReader):
            raise OptionError("refresh() is for read_only=True; a store that is open for writing has all rows")
        self._last = None
        rows.refresh()

    def close(self) -> None:
        """Wait for a merge, sync the log and release the lock. Later changes raise an error; reads go on.

        Raises
        ------
        OSError, SourceError
            The log cannot be synced, or a merge failed.
        """
        self._last = None
        if self._opened.engine is not None:
            self._opened.engine.close()

    @classmethod
    def salvage(cls, path: str | os.PathLike[str], copy: str | os.PathLike[str], *, context: Context | None = None) -> Salvaged:
        """Copy the rows of a damaged store, up to the damage, to a new store.

        Columns of the main that are damaged become nulls. If one of them is a column of the key, or the main is missing, the copy
        has the rows of the log alone. The damaged store is not changed.

        Parameters
        ----------
        path
            Folder of the store.
        copy
            Folder of the copy, which has no store yet.
        context
            Threads and memory of the call.

        Returns
        -------
        Salvaged
            Number of rows, the place of the damage, and the columns that are lost.

        Raises
        ------
        SourceError
            There is no store, or its manifest is damaged.
        OptionError
            The folder of the copy has a store.
        OSError
            A file cannot be read or written.
        """
        from headrace.store.opening import Source, salvaged  # needs NumPy

        source, target = (Source.of(folder, SyncPolicy(), MergeTriggers(), context_of(context)) for folder in (path, copy))
        rows, damage, lost_columns = salvaged(source, target)
        if damage is None:
            return Salvaged(rows, None, None, None, lost_columns)
        return Salvaged(rows, damage.file, damage.fault.offset, damage.fault.reason, lost_columns)

    def __len__(self) -> int:
        return self._opened.state.num_rows

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        place = "in memory" if self._source.where is None else f"in {self._source.where!r}"
        return f"<headrace.Store {place}, {len(self)} rows, {len(self.schema)} columns>"
