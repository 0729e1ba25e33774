"""Converts a scan to objects of other libraries, which take its batches one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from headrace.api.optional import duckdb_connection, needed

if TYPE_CHECKING:
    import duckdb
    import polars as pl
    import pyarrow as pa

    from headrace.api.scan.scan import Scan


def to_reader(scan: Scan) -> pa.RecordBatchReader:
    """Return a PyArrow reader of the batches."""
    return needed("pyarrow", "arrow", "to_reader()").RecordBatchReader.from_stream(scan)


def to_duckdb(scan: Scan, connection: duckdb.DuckDBPyConnection | None) -> duckdb.DuckDBPyRelation:
    """Return a DuckDB relation over the Arrow stream."""
    return duckdb_connection(connection).from_arrow(to_reader(scan))


def to_polars(scan: Scan) -> pl.LazyFrame:
    """Return a Polars lazy frame of the scan: columns are selected and rows limited before anything is read.

    A query must not change which records are rejected, so a scan that rejects values converts all columns.
    """
    polars = needed("polars", "polars", "to_polars()")
    from polars.io.plugins import register_io_source

    def batches(columns: list[str] | None, predicate: Any, rows: int | None, _: int | None) -> Iterator[Any]:
        for table in (scan if columns is None or scan.rejects_values else scan.select(columns)).batches():
            frame = polars.DataFrame(table)
            frame = frame if columns is None else frame.select(columns)
            if rows is not None:  # the predicate applies to the first rows of the text
                frame = frame.head(rows)
                rows -= len(frame)
            yield frame if predicate is None else frame.filter(predicate)
            if rows == 0:
                return

    return register_io_source(batches, schema=polars.DataFrame(scan.schema_table()).schema)


def to_torch(scan: Scan) -> Any:
    """Return a PyTorch iterable data set: one mapping of name to tensor a batch."""
    data = needed("torch", None, "to_torch()").utils.data

    class Batches(data.IterableDataset):  # type: ignore[misc,name-defined]  # PyTorch has no type information here
        def __iter__(self) -> Iterator[dict[str, Any]]:
            worker = data.get_worker_info()
            for number, table in enumerate(scan.batches()):
                if worker is None or number % worker.num_workers == worker.id:
                    yield table.to_torch()

    return Batches()
