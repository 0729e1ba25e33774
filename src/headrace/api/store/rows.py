"""Takes the rows of callers: tables of any library, and raw text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from headrace.api.read.read_csv import read_csv
from headrace.api.store.row_count import RowCount
from headrace.api.table import Table
from headrace.columns.column import Column
from headrace.columns.types import DataType
from headrace.core.context import Context
from headrace.core.errors import OptionError, UnknownColumnError
from headrace.core.foreign_names import way_to_table
from headrace.store.schema import fitted, whole_columns

__all__ = ["columns_of_store", "rows_given", "whole_columns"]


class GivenRows(NamedTuple):
    """Rows of a caller.

    Parameters
    ----------
    columns
        Columns of the types of the store.
    table
        The table that they came from, with the rejects and the report of its read.
    """

    columns: dict[str, Column]
    table: Table

    def counted(self, rows: int) -> RowCount:
        """Return the number of rows that a change has added or replaced, with the account of the read."""
        return RowCount(rows, self.table.num_rows - rows, self.table.rejects, getattr(self.table, "report", None))


@contextmanager
def columns_of_store() -> Iterator[None]:
    """Add to errors of unknown columns that they are those of the store, and not options of the caller."""
    try:
        yield
    except UnknownColumnError as error:
        raise UnknownColumnError(f"source does not have the columns of the store: {error}") from None


def rows_given(
    source: Any, schema: Mapping[str, DataType], context: Context, options: Mapping[str, Any], *, is_whole: bool = True
) -> GivenRows:
    """Return the rows of a table, or of raw text, that is read by `read_csv` with the schema's types.

    Text that need not have all columns (`is_whole` is false) is read twice, first its header.

    Raises
    ------
    OptionError
        A column has another type, `source` is a mapping, or options are given with a table.
    UnknownColumnError
        A column is not in the schema.
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
    given = {"header": True, "context": context, **options}
    if not given["header"]:
        given.setdefault("names", list(schema))
    if not is_whole:
        if getattr(source, "closed", False) is True:
            raise OptionError("source is a file that is closed")
        source = source.read() if hasattr(source, "readable") else source
        there = read_csv(source, **{**given, "n_rows": 0}).column_names
        schema = {name: type_ for name, type_ in schema.items() if name in there}
    with columns_of_store():
        table = read_csv(source, **{"dtypes": dict(schema), **given})
    return GivenRows(fitted(table.to("cpu").columns, schema, context), table)
