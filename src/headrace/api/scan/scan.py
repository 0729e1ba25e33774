"""A lazy scan: batches of bounded size, the whole as an Arrow stream, and the ways on to other libraries."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from threading import RLock
from typing import TYPE_CHECKING, Any, Self

from headrace.api.options.csv_options import CsvOptions
from headrace.api.report import Position, Report
from headrace.api.scan.scan_account import Account
from headrace.api.scan.scan_moves import moved_ahead
from headrace.api.scan.scan_parts import BatchCut
from headrace.api.scan.scan_state import ScanRequest, ScanState, start
from headrace.api.scan.scan_types import SettledTypes, as_given
from headrace.api.scan.shared_batches import SharedBatches
from headrace.api.table import Table
from headrace.columns.column import Column
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.types import DataType
from headrace.core.errors import HeadraceError, OptionError
from headrace.core.options import instance, integer
from headrace.core.timeline import Timeline
from headrace.export.arrow.arrow import schema_capsule, stream_of_batches

if TYPE_CHECKING:
    import duckdb
    import polars as pl
    import pyarrow as pa

    from headrace.columns.buffers.fetch_gpu import FetchShape


class Scan:
    """A text that is read batch by batch; made by `scan_csv`. Nothing is read before it is asked for.

    Threads may share a scan, or an iterator of its batches: they take turns, and each batch of an iterator goes to one of them.

    Examples
    --------
    >>> import headrace
    >>> scan = headrace.scan_csv(b"city,founded\\nRome,-753\\nParis,\\n")
    >>> for batch in scan.select(["founded"]).batches():
    ...     print(batch["founded"].to_pylist())
    [-753, None]
    """

    def __init__(self, request: ScanRequest) -> None:
        self._request = instance("request", request, ScanRequest, "what scan_csv makes")
        self._state: ScanState | None = None
        self._is_closed = False
        self._report: Report | None = None
        self._lock = RLock()  # held by the thread that reads

    def select(self, columns: str | Sequence[str | int]) -> Scan:
        """The same scan of these columns only, named or by position, in the table's order; others are not converted.

        A text is one name. Fields of other columns have no faults, so with ``on_error="reject"`` more records may stay than in
        the whole scan.

        Raises
        ------
        OptionError
            `columns` is neither a name nor a sequence.
        """
        if isinstance(columns, bytes | Mapping) or not isinstance(columns, str | Sequence):
            raise OptionError.wrong("columns", "names or positions, in a list", columns)
        schema = replace(self._request.options.schema, columns=[columns] if isinstance(columns, str) else list(columns))
        return self._with(replace(self._request.options, schema=schema))

    def limit(self, records: int) -> Scan:
        """The same scan of the first records of data only, as ``n_rows`` has it: no byte behind them is read."""
        records = integer("records", records, "an integer from 0 on", 0)
        extent = self._request.options.extent
        least = records if extent.n_rows is None else min(records, extent.n_rows)
        return self._with(replace(self._request.options, extent=replace(extent, n_rows=least)))

    def _with(self, options: CsvOptions) -> Scan:
        return Scan(replace(self._request, options=options))

    def batches(self) -> Iterator[Table]:
        """The rows, a table for each batch, in order; ``.rejects`` and ``.report`` are the batch's. What raises ends the scan.

        Raises
        ------
        ParseError, SourceError, MemoryLimitError
            As `read_csv`, when the batch is reached.
        """
        return SharedBatches(self._moved(self._request.cut), self._lock, lambda: self._is_closed)

    def _moved(self, cut: BatchCut) -> Iterator[Table]:
        context = self._request.options.context
        return moved_ahead(self._batches(), self._request.to or context.device, context, cut)

    def _batches(self, *, keep: bool = False) -> Generator[Table, None, None]:
        state = self._started()
        account = Account(state, self._request.resume or Position())
        settled, end = state.settled, self._request.resume
        change = as_given(settled.types) if settled is not None and settled.from_first else _as_it_is

        def changed(plan: LoadPlan) -> LoadPlan:
            return change(plan)

        is_kept = settled is not None and settled.passes > 0  # for its types, and so for as many readings as are asked for
        parts = state.parts.all(changed, self._request.resume, keep=keep or is_kept)
        try:
            for part in parts:
                if settled is None and not part.is_last and self._request.infer == "all":
                    parts.close()  # type: ignore[attr-defined]
                    del part
                    state.settle()
                    yield from self._batches(keep=keep)
                    return
                if account.add(part):
                    part.add_header_faults(state.options.context)
                end = part.reached
                if not part.rows and not len(part.rejects["record"]):
                    continue
                if settled is None:
                    settled = state.settle_by(part, self._request.infer == "first")
                    change = as_given(settled.types) if settled.from_first else _as_it_is
                yield state.table(part, settled, account)
        finally:
            parts.close()  # type: ignore[attr-defined]
        account.finish()
        if not account.has_batches:
            state.describe_empty(account)
        self._report = account.whole(settled or SettledTypes([], False, 0), end)

    @property
    def rejects_values(self) -> bool:
        """Whether a value that does not fit its column takes its record out of the table."""
        return self._request.options.values.on_error == "reject"

    def __iter__(self) -> Iterator[Table]:
        return self.batches()

    @property
    def report(self) -> Report:
        """Account of the whole, once `batches` has come to its end: records = rows + rejected + skipped.

        Raises
        ------
        HeadraceError
            It has not.
        """
        if self._report is None:
            raise HeadraceError("the report of a scan is there when all its batches have been read")
        return self._report

    @property
    def schema(self) -> Mapping[str, DataType]:
        """Name to type. Where types are to be inferred, the text is read for it: all of it, or the first batch."""
        return {name: column.type for name, column in self._empty().items()}

    def read(self) -> Table:
        """All batches as one table, with the rejects and the account of all; joined where they are."""
        with self._lock:
            return self._read()

    def _read(self) -> Table:
        state = self._started()
        on_host = state.parts.is_on_host
        batches = list(self._batches() if on_host else self._moved(replace(self._request.cut, holds_all=True)))
        faulty = [batch.rejects.columns for batch in batches]
        pieces = [dict(batch.columns) for batch in batches]
        del batches  # each column of theirs goes when it has been joined
        empty = self._empty()
        columns = {name: state.joined([piece.pop(name) for piece in pieces], empty[name]) for name in empty}
        rejects = {name: state.joined([one[name] for one in faulty], like) for name, like in state.empty_rejects().items()}
        table = Table(columns, rejects=Table(rejects), report=self.report)
        return table.to(self._request.to or state.options.context.device, context=state.options.context)

    def timed(self, timeline: Timeline) -> Scan:
        """The same scan, which notes who works and who waits."""
        instance("timeline", timeline, Timeline)
        return Scan(replace(self._request, cut=replace(self._request.cut, timeline=timeline)))

    def fetched(self, shape: FetchShape) -> Scan:
        """The same scan, whose batches come back from a GPU in another way: for those who measure."""
        from headrace.columns.buffers.fetch_gpu import FetchShape  # seldom needed

        instance("shape", shape, FetchShape)
        return Scan(replace(self._request, cut=replace(self._request.cut, fetch=shape)))

    def close(self) -> None:
        """Let go of files and threads. A scan that is closed gives no more batches."""
        with self._lock:
            self._is_closed = True
            if self._state is not None:
                self._state.closing.close()
                self._state = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def schema_table(self) -> Table:
        """A table like those of the batches, without a row."""
        return Table(self._empty())

    def __arrow_c_schema__(self) -> object:
        """Arrow C schema: a struct of the columns."""
        return schema_capsule(self._empty())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Arrow C stream of all batches, each read when it is asked for. A requested schema is ignored, as is allowed."""
        return stream_of_batches(self._empty(), ((batch.to("cpu").columns, batch.num_rows) for batch in self.batches()))

    def to_reader(self) -> pa.RecordBatchReader:
        """PyArrow reader of record batches."""
        from headrace.api.scan.scan_exports import to_reader

        return to_reader(self)

    def to_duckdb(self, connection: duckdb.DuckDBPyConnection | None = None) -> duckdb.DuckDBPyRelation:
        """DuckDB relation that reads the batches as the query runs, once, in `connection` or in DuckDB's default one."""
        from headrace.api.scan.scan_exports import to_duckdb

        return to_duckdb(self, connection)

    def to_polars(self) -> pl.LazyFrame:
        """Polars lazy frame: rows that a query does not need are not read, nor columns, except with ``on_error="reject"``.

        Which records are rejected does not depend on the query.
        """
        from headrace.api.scan.scan_exports import to_polars

        return to_polars(self)

    def to_torch(self) -> Any:
        """PyTorch iterable data set: name to tensor, a mapping for each batch; see `Table.to_torch` for what can be one."""
        from headrace.api.scan.scan_exports import to_torch

        return to_torch(self)

    def _started(self) -> ScanState:
        if self._is_closed:
            raise HeadraceError("the scan is closed")
        if self._state is None:
            self._state = start(self._request)
        return self._state

    def _empty(self) -> dict[str, Column]:
        """Columns of no rows."""
        with self._lock:
            state = self._started()
            if state.empty is None:
                if state.settled is None:
                    with closing(self._batches(keep=True)) as batches:
                        next(batches, None)
                state.empty = state.empty_columns()
            return state.empty


def _as_it_is(plan: LoadPlan) -> LoadPlan:
    return plan
