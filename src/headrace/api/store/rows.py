"""Takes the rows of callers: tables of any library, and raw text."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from headrace.api.read.read_csv import read_csv
from headrace.api.scan.scan import Scan
from headrace.api.scan.scan_csv import scan_csv
from headrace.api.store.row_count import RowCount, joined_rejects
from headrace.api.table import Table
from headrace.columns.column import Column
from headrace.columns.types import DataType
from headrace.core.context import Context
from headrace.core.errors import OptionError, UnknownColumnError
from headrace.core.foreign_names import way_to_table
from headrace.store.schema import fitted, whole_columns

__all__ = ["TextParts", "columns_of_store", "rows_given", "whole_columns"]

_PARTS = 8  # parts of a text that is read while earlier parts are written
_MIN_PART_BYTES, _MAX_PART_BYTES = 8 << 20, 64 << 20  # bytes of a part


class GivenRows(NamedTuple):
    """Rows of a caller."""

    columns: dict[str, Column]  # columns of the types of the store
    table: Table  # the table that they came from, with the rejects and the report of its read

    def counted(self, rows: int) -> RowCount:
        """Return the number of rows that a change has added or replaced, with the account of the read."""
        return RowCount(rows, self.table.num_rows - rows, self.table.rejects, getattr(self.table, "report", None))


@contextmanager
def columns_of_store() -> Iterator[None]:
    """Say in errors of unknown columns that the source lacks a column of the store, which the caller did not name."""
    try:
        yield
    except UnknownColumnError as error:
        missing = str(error).replace("unknown column in dtypes", "no column")
        raise UnknownColumnError(f"source does not have the columns of the store: {missing}") from None


def rows_given(
    source: Any, schema: Mapping[str, DataType], context: Context, options: Mapping[str, Any], *, is_whole: bool = True
) -> GivenRows:
    """Return the rows of a table, or of raw text, that is read by `read_csv` with the schema's types.

    Text that need not have all columns (`is_whole` is false) is read twice, first its header.

    Raise OptionError if a column has another type, `source` is a mapping, or options are given with a table. Raise
    UnknownColumnError if a column is not in the schema.
    """
    if isinstance(source, Table) or (hasattr(source, "__arrow_c_stream__") and not isinstance(source, type)):
        if options:
            raise OptionError(f"{next(iter(options))} is an option for raw text, and source is a table")
        table = source if isinstance(source, Table) else Table.from_arrow(source)
        return GivenRows(fitted(table.to("cpu").columns, schema, context), table)
    if isinstance(source, Mapping):
        raise OptionError("source is a mapping; polars.DataFrame(source) or pyarrow.table(source) makes a table of it")
    if way := way_to_table(source):
        raise OptionError(f"source is a {type(source).__name__}, which is no table{way}")
    given = _of_read(schema, context, options)
    if not is_whole:
        if getattr(source, "closed", False) is True:
            raise OptionError("source is a file that is closed")
        source = source.read() if hasattr(source, "readable") else source
        there = read_csv(source, **{**given, "n_rows": 0}).column_names
        schema = {name: type_ for name, type_ in schema.items() if name in there}
    with columns_of_store():
        table = read_csv(source, **{"dtypes": dict(schema), **given})
    return GivenRows(fitted(table.to("cpu").columns, schema, context), table)


class TextParts:
    """Rows of a scan, which is read part by part."""

    def __init__(self, scan: Scan, schema: Mapping[str, DataType], context: Context) -> None:
        self.scan = scan
        self._schema, self._context = schema, context
        self._rejects: list[Table] = []
        self._rows = 0

    @classmethod
    def of(cls, source: Any, schema: Mapping[str, DataType], context: Context, options: Mapping[str, Any]) -> TextParts | None:
        """Return the parts of a source that is text of two parts or more, in memory or in a file; None for others."""
        nbytes = 0
        if isinstance(source, bytes | bytearray | memoryview):
            nbytes = memoryview(source).nbytes
        elif isinstance(source, str | os.PathLike) and os.path.isfile(source):
            nbytes = os.path.getsize(source)
        if nbytes < 2 * _MIN_PART_BYTES or options.get("shrink"):
            return None
        part_bytes = min(max(nbytes // _PARTS, _MIN_PART_BYTES), _MAX_PART_BYTES)
        given = {"dtypes": dict(schema), **_of_read(schema, context, options)}
        return cls(scan_csv(source, batch_bytes=part_bytes, **given), schema, context)

    def columns(self) -> Iterator[Mapping[str, Column]]:
        """Yield the columns of each part, of the types of the store."""
        with columns_of_store():
            for batch in self.scan.batches():
                self._rejects.append(batch.rejects)
                self._rows += batch.num_rows
                yield whole_columns(fitted(batch.to("cpu").columns, self._schema, self._context), self._schema)

    def counted(self, rows: int) -> RowCount:
        """Return the number of rows that a change has added, with the account of the read."""
        return RowCount(rows, self._rows - rows, joined_rejects(self._rejects, self._context), self.scan.report)


def _of_read(schema: Mapping[str, DataType], context: Context, options: Mapping[str, Any]) -> dict[str, Any]:
    given = {"header": True, "context": context, **options}
    if not given["header"]:
        given.setdefault("names", list(schema))
    return given
