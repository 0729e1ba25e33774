"""Takes the rows of callers: tables of any library, and raw text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headrace.api.read.read_csv import read_csv
from headrace.api.table import Table
from headrace.columns.column import Column
from headrace.columns.types import DataType
from headrace.core.context import Context
from headrace.core.errors import OptionError
from headrace.store.schema import fitted


def columns_given(
    rows: Any, schema: Mapping[str, DataType], context: Context, options: Mapping[str, Any], *, is_whole: bool = True
) -> dict[str, Column]:
    """Return the columns of a table, or of raw text, that is read by `read_csv` with the schema's types.

    Text that need not have all columns (`is_whole` is false) is read twice, first its header.

    Raises
    ------
    OptionError
        A column has another type, or options are given with a table.
    UnknownColumnError
        A column is not in the schema.
    """
    if isinstance(rows, Table) or (hasattr(rows, "__arrow_c_stream__") and not isinstance(rows, type)):
        if options:
            raise OptionError(f"{next(iter(options))} is an option for raw text, and rows is a table")
        table = rows if isinstance(rows, Table) else Table.from_arrow(rows)
        return fitted(table.to("cpu").columns, schema, context)
    given = {"header": True, "context": context, **options}
    if not given["header"]:
        given.setdefault("names", list(schema))
    if not is_whole:
        rows = rows.read() if hasattr(rows, "read") else rows
        there = read_csv(rows, **{**given, "n_rows": 0}).column_names
        schema = {name: type_ for name, type_ in schema.items() if name in there}
    return fitted(read_csv(rows, **{"dtypes": dict(schema), **given}).columns, schema, context)
