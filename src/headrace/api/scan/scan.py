"""Defines `Scan`: batches of bounded size, an Arrow stream of all batches, and conversions to other libraries."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, Self

from headrace.api.conversions import ArrowWrites
from headrace.api.options.csv_options import CsvOptions
from headrace.api.read.file_parts import FilePart
from headrace.api.report import Position, Report
from headrace.api.scan.copy_ahead import copied_ahead
from headrace.api.scan.scan_account import Account
from headrace.api.scan.scan_parts import BatchCut
from headrace.api.scan.scan_state import ScanRequest, ScanState, start
from headrace.api.scan.scan_types import ScanTypes, as_given
from headrace.api.scan.shared_batches import SharedBatches
from headrace.api.table import Table
from headrace.columns.column import Column
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.types import DataType
from headrace.core.errors import HeadraceError, OptionError
from headrace.core.expressions.column_expression import ColumnExpression, all_of, name_of
from headrace.core.foreign_names import ForeignNames, Schema
from headrace.core.options import choice, index_of, instance, integer
from headrace.core.process.timeline import Timeline
from headrace.export.arrow.arrow import ArrowBatch, schema_capsule, stream_of_batches

if TYPE_CHECKING:
    import duckdb
    import polars as pl
    import pyarrow as pa

    from headrace.columns.buffers.fetch_gpu import FetchShape


class Scan(ArrowWrites, ForeignNames):
    """A text that is read batch by batch; made by `scan_csv`. Nothing is read before a batch is requested.

    A scan of paths or bytes can be pickled; the copy begins anew.

    Threads may share a scan, or an iterator of its batches. They take turns, and each batch of an iterator goes to one thread.

    Examples
    --------
    >>> import headrace
    >>> scan = headrace.scan_csv(b"city,founded\\nRome,-753\\nParis,\\n")
    >>> for batch in scan.select(["founded"]).batches():
    ...     print(batch["founded"].to_pylist())
    [-753, None]
    """

    def __init__(self, request: ScanRequest) -> None:
        self._request = instance("request", request, ScanRequest, "a request of scan_csv")
        self._state: ScanState | None = None
        self._is_closed = False
        self._report: Report | None = None
        self._lock = RLock()  # held by the thread that reads

    def select(self, *columns: str | int | ColumnExpression | Sequence[str | int | ColumnExpression]) -> Scan:
        """Return the same scan with these columns only, in the table's order; others are not converted.

        Columns are given by name, position or `col`, one by one or in a list. Fields of other columns have no faults, so with
        ``on_error="reject"`` more records may remain than in the whole scan.

        Raises
        ------
        OptionError
            `columns` has something else than names and positions.
        """
        flat: list[Any] = []
        for one in columns:
            if isinstance(one, str | ColumnExpression) or index_of(one) is not None:
                flat.append(one)
            elif isinstance(one, Sequence) and not isinstance(one, bytes):
                flat += one
            else:
                raise OptionError.wrong("columns", "names or positions, in a list", one)
        schema = replace(self._request.options.schema, columns=[name_of(one) for one in flat])
        return self._with(replace(self._request.options, schema=schema))

    def where(self, expression: ColumnExpression, *more: ColumnExpression, convert: Literal["all", "chosen"] = "all") -> Scan:
        """Return the same scan with the rows for which a condition is true, as by `Table.filter`. Needs NumPy.

        Each batch has its rows of which the condition is true, and may have none. The report counts the others as
        ``skipped.where``. Views and dictionaries are made of the chosen rows. Conditions of several calls hold together, and so
        do those of one call. The columns of the condition need not be selected.

        Parameters
        ----------
        expression, more
            The conditions.
        convert
            ``"all"``: all selected columns are converted before rows are chosen, so rejects do not depend on the condition.
            ``"chosen"``: the columns of the condition are converted first, then the others for the chosen rows only, which is
            faster if few are chosen. Faults of other columns in rows left out are not found. Types are inferred before the first
            batch, as for several batches. The text is read on the CPU.

        Raises
        ------
        OptionError
            `expression` is no condition, or `convert` is another value. With the first batch: types do not fit, or a column of
            the condition is from the paths and `convert` is ``"chosen"``.
        UnknownColumnError
            With the first batch: there is no such column.

        Examples
        --------
        >>> import headrace
        >>> scan = headrace.scan_csv(b"city,founded\\nRome,-753\\nOslo,1048\\n")
        >>> scan.where(headrace.col("founded") > 0).select("city").read().to_pydict()
        {'city': ['Oslo']}
        >>> scan = headrace.scan_csv(b"city,founded\\nRome,x\\nOslo,1048\\n", dtypes={"founded": int})
        >>> scan.where(headrace.col("city") == "Oslo", convert="chosen").read().to_pydict()
        {'city': ['Oslo'], 'founded': [1048]}
        """
        chooses = choice("convert", convert, ("all", "chosen")) == "chosen"
        found = all_of(expression, *more)
        where = found if self._request.where is None else self._request.where & found
        options = self._request.options
        schema = replace(options.schema, also=where.column_names())
        chooses |= self._request.chooses
        return Scan(replace(self._request, where=where, chooses=chooses, options=replace(options, schema=schema)))

    def limit(self, records: int) -> Scan:
        """Return the same scan with the first records of data only, as with ``n_rows``. No byte after them is read.

        Raises
        ------
        OptionError
            `records` is no number of records, or the scan has a condition: records are counted before it.
        """
        if self._request.records is not None:
            raise OptionError("limit() counts records of the text, before where=; give scan_csv() n_rows= instead")
        if self._request.where is not None:
            raise OptionError("limit() counts records of the text; call it before where()")
        records = integer("records", records, "an integer from 0 on", 0)
        extent = self._request.options.extent
        least = records if extent.n_rows is None else min(records, extent.n_rows)
        return self._with(replace(self._request.options, extent=replace(extent, n_rows=least)))

    def _with(self, options: CsvOptions) -> Scan:
        return Scan(replace(self._request, options=options))

    def batches(self) -> Iterator[Table]:
        """Return the rows as one table a batch, in order; ``.rejects`` and ``.report`` are those of the batch.

        An exception ends the scan.

        Raises
        ------
        ParseError, SourceError, MemoryLimitError
            As for `read_csv`, when the batch is reached.
        """
        return SharedBatches(self._moved(self._request.cut), self._lock, lambda: self._is_closed)

    def _moved(self, cut: BatchCut) -> Iterator[Table]:
        context = self._request.options.context
        return copied_ahead(self._batches(), self._request.to or context.device, context, cut)

    def _batches(self, *, keep: bool = False) -> Generator[Table, None, None]:
        state = self._started()
        account = Account(state, self._request.resume or Position())
        scan_types, end = state.scan_types, self._request.resume
        change = as_given(scan_types.types) if scan_types is not None and scan_types.from_first else _as_it_is

        def changed(plan: LoadPlan) -> LoadPlan:
            return change(plan)

        is_kept = scan_types is not None and scan_types.passes > 0  # the text was kept to infer types, and stays available
        parts = state.parts.all(changed, self._request.resume, keep=keep or is_kept)
        waiting: list[FilePart] = []  # parts without rows before the first part that has some, which gives the types
        try:
            for part in parts:
                if scan_types is None and not part.is_last and self._request.infer == "all":
                    parts.close()  # type: ignore[attr-defined]
                    del part
                    state.infer_types()
                    yield from self._batches(keep=keep)
                    return
                end = part.reached
                waiting.append(part)
                if scan_types is None:
                    if not part.rows:
                        continue
                    scan_types = state.take_types_of(part, self._request.infer == "first")
                    change = as_given(scan_types.types) if scan_types.from_first else _as_it_is
                yield from _tables(state, waiting, scan_types, account)
        finally:
            parts.close()  # type: ignore[attr-defined]
        if waiting:  # no part has rows
            scan_types = state.take_types_of(waiting[-1], self._request.infer == "first")
            yield from _tables(state, waiting, scan_types, account)
        account.finish()
        if not account.has_batches:
            state.describe_empty(account)
        self._report = account.whole(scan_types or ScanTypes([], False, 0), end)

    @property
    def rejects_values(self) -> bool:
        """True if a value that does not fit its column takes its record out of the table."""
        return self._request.options.values.on_error == "reject"

    def __iter__(self) -> Iterator[Table]:
        return self.batches()

    @property
    def report(self) -> Report:
        """Report of the whole scan, once all batches have been read: records = rows + rejected + skipped.

        Raises
        ------
        HeadraceError
            Batches are left.
        """
        if self._report is None:
            raise HeadraceError("the report of a scan is there when all its batches have been read")
        return self._report

    @property
    def schema(self) -> Mapping[str, DataType]:
        """Type of each column by name. To infer types, all of the text is read, or the first batch."""
        return Schema({name: column.type for name, column in self._empty().items()})

    def read(self) -> Table:
        """Return all batches as one table, with all rejects and one report. Batches are concatenated where they are.

        Several batches with dictionaries need NumPy. On a GPU, dictionaries are not joined.
        """
        with self._lock:
            return self._read()

    def _read(self) -> Table:
        state = self._started()
        on_host = state.parts.is_on_host
        batches = list(self._batches() if on_host else self._moved(replace(self._request.cut, holds_all=True)))
        faulty = [batch.rejects.columns for batch in batches]
        pieces = [dict(batch.columns) for batch in batches]
        del batches  # so that each column is freed as soon as it has been concatenated
        empty = self._empty()
        columns = {name: state.joined([piece.pop(name) for piece in pieces], empty[name]) for name in empty}
        rejects = {name: state.joined([one[name] for one in faulty], like) for name, like in state.empty_rejects().items()}
        table = Table(columns, rejects=Table(rejects), report=self.report)
        return table.to(self._request.to or state.options.context.device, context=state.options.context)

    def sink(self, target: str | os.PathLike[str] | Callable[[Table], object]) -> Report:
        """Write all batches to a file, or pass each to a function, in bounded memory. Return the report of the scan.

        Parameters
        ----------
        target
            A path whose suffix names the format: ``.parquet``, ``.arrow``, ``.feather``, ``.csv``, ``.tsv`` or ``.duckdb``. The
            file appears when it is complete. Or a function of a table.

        Raises
        ------
        OptionError
            The suffix names no format, or `target` is neither a path nor a function. Batches with dictionaries cannot be written
            to an Arrow file, which has one for a column.
        MissingDependencyError
            The package that writes the format is not installed.
        ParseError, SourceError, MemoryLimitError
            As for `read_csv`.

        Examples
        --------
        >>> import headrace
        >>> headrace.scan_csv(b"a\\n1\\n2\\n").sink(lambda batch: print(batch["a"].to_pylist())).rows
        [1, 2]
        2
        """
        if callable(target):
            for batch in self.batches():
                target(batch)
        else:
            from headrace.export.files import write_table  # not needed to read

            if not isinstance(target, str | os.PathLike):
                raise OptionError.wrong("target", "a path or a function of a table", target)
            write_table(self, target)
        return self.report

    def timed(self, timeline: Timeline) -> Scan:
        """Return the same scan, which records in `timeline` when its threads work and wait."""
        instance("timeline", timeline, Timeline)
        return Scan(replace(self._request, cut=replace(self._request.cut, timeline=timeline)))

    def fetched(self, shape: FetchShape) -> Scan:
        """Return the same scan with another way to copy batches from a GPU; for benchmarks."""
        from headrace.columns.buffers.fetch_gpu import FetchShape  # seldom needed

        instance("shape", shape, FetchShape)
        return Scan(replace(self._request, cut=replace(self._request.cut, fetch=shape)))

    def close(self) -> None:
        """Close files and end threads. A closed scan gives no more batches."""
        with self._lock:
            self._is_closed = True
            if self._state is not None:
                self._state.closing.close()
                self._state = None

    def __reduce__(self) -> tuple[object, ...]:
        return Scan, (self._request,)

    def __repr__(self) -> str:
        from headrace.api.scan.scan_picture import scan_text  # not needed to read

        return scan_text(self._request, self._known_schema())

    def _repr_html_(self) -> str:
        """Return a description as HTML, for notebooks. Nothing is read for it."""
        from headrace.api.scan.scan_picture import scan_html  # not needed to read

        return scan_html(self._request, self._known_schema())

    def _known_schema(self) -> Mapping[str, DataType] | None:
        """Return the types if they are known without reading."""
        is_known = self._state is not None and self._state.empty is not None
        return self.schema if is_known else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def schema_table(self) -> Table:
        """Return a table with the columns of the batches and no rows."""
        return Table(self._empty())

    def rejects_table(self) -> Table:
        """Return a table with the columns of the rejects and no rows."""
        with self._lock:
            return Table(self._started().empty_rejects())

    def __arrow_c_schema__(self) -> object:
        return schema_capsule(self._empty())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return an Arrow C stream of all batches, each read on request. `requested_schema` is ignored, as Arrow allows."""
        return stream_of_batches(self._empty(), (ArrowBatch(batch.to("cpu").columns, batch.num_rows) for batch in self.batches()))

    def to_reader(self) -> pa.RecordBatchReader:
        """Return a PyArrow reader of record batches."""
        from headrace.api.scan.scan_exports import to_reader

        return to_reader(self)

    def to_duckdb(self, connection: duckdb.DuckDBPyConnection | None = None) -> duckdb.DuckDBPyRelation:
        """Return a DuckDB relation that reads the batches once, while a query runs.

        It belongs to `connection`, or to DuckDB's default connection.
        """
        from headrace.api.scan.scan_exports import to_duckdb

        return to_duckdb(self, connection)

    def to_polars(self) -> pl.LazyFrame:
        """Return a Polars lazy frame, which does not read rows and columns that a query does not need.

        The query does not change which records are rejected: with ``on_error="reject"`` all columns are converted.
        """
        from headrace.api.scan.scan_exports import to_polars

        return to_polars(self)

    def to_torch(self) -> Any:
        """Return a PyTorch iterable data set: one mapping of name to tensor a batch; see `Table.to_torch` for the types."""
        from headrace.api.scan.scan_exports import to_torch

        return to_torch(self)

    def _started(self) -> ScanState:
        if self._is_closed:
            raise HeadraceError("the scan is closed")
        if self._state is None:
            self._state = start(self._request)
        return self._state

    def _empty(self) -> dict[str, Column]:
        with self._lock:
            state = self._started()
            if state.empty is None:
                if state.scan_types is None:
                    with closing(self._batches(keep=True)) as batches:
                        next(batches, None)
                state.empty = state.empty_columns()
            return state.empty


def _tables(state: ScanState, parts: list[FilePart], scan_types: ScanTypes, account: Account) -> Iterator[Table]:
    """Take parts out of a list, and yield those with rows or faults as tables."""
    while parts:
        part = parts.pop(0)
        if account.add(part):
            part.add_header_faults(state.options.context)
        if part.rows or part.left_out or part.counts["faults"]:
            yield state.table(part, scan_types, account)


def _as_it_is(plan: LoadPlan) -> LoadPlan:
    return plan
