"""What two tables must have in common to be the same answer: rows, nulls, and every value, whatever the library's types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.cases import Case


def fingerprint(table: Any, case: Case) -> dict[str, Any]:
    """Rows, bytes in memory, and each column in the case's type (or, where all infer, as it came)."""
    arrow = pa.Table.from_pandas(table, preserve_index=False) if hasattr(table, "iloc") else pa.table(table)
    columns = {}
    for name, column in zip(arrow.column_names, arrow.columns, strict=True):
        columns[name] = _plain(column, case.types.get(name))
    return {"rows": arrow.num_rows, "bytes": arrow.nbytes, "columns": columns}


def _plain(column: pa.ChunkedArray, text: str | None) -> pa.Array:
    from bench.contenders import arrow_type

    if text is None:
        wanted = pa.timestamp("us") if pa.types.is_timestamp(column.type) else column.type
        wanted = pa.string() if pa.types.is_large_string(wanted) or pa.types.is_string_view(wanted) else wanted
    else:
        wanted = arrow_type(text)
    if pa.types.is_timestamp(column.type) and pa.types.is_date(wanted):
        column = column.cast(pa.timestamp("s"))
    return column.cast(wanted).combine_chunks()


def differences(found: dict[str, Any], expected: dict[str, Any], *, exact: bool) -> str:
    """The first difference as a text, "" if there is none. Empty strings and nulls are one: peers do not tell them apart."""
    if found["rows"] != expected["rows"] or list(found["columns"]) != list(expected["columns"]):
        return f"{found['rows']} rows of {list(found['columns'])[:5]}, not {expected['rows']} of {list(expected['columns'])[:5]}"
    for name, array in expected["columns"].items():
        column = found["columns"][name]
        wanted = array if exact or column.type == array.type else array.cast(column.type)
        if pa.types.is_string(wanted.type):
            same = pc.fill_null(column, "").equals(pc.fill_null(wanted, ""))
        elif pa.types.is_floating(wanted.type):
            same = _same_floats(column, wanted)
        else:
            same = column.equals(wanted)
        if not same:
            return f"column {name}"
    return ""


def _same_floats(found: pa.Array, wanted: pa.Array) -> bool:
    """Equal to the last bit; nan and null are one, since some have no nulls."""
    mine, theirs = (np.asarray(array.to_numpy(zero_copy_only=False)) for array in (found, wanted))
    return bool(np.array_equal(mine, theirs, equal_nan=True))
