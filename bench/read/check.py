"""Compares the tables of two libraries: rows, nulls and every value, whatever the types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.read.cases import Case
from bench.read.contenders import arrow_type

# Maximum error of a peer's float, by bytes of the type, since not all peers round correctly. A float32 may be one last place off.
_TOLERANCE = {4: 1.2e-7, 8: 1e-12}


def write_reference(table: pa.Table, case: Case, path: Path) -> None:
    """Write an answer to a file, so that each contender's process can compare with it without both in memory."""
    plain = comparable(table, case)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, plain.schema) as writer:
        writer.write_table(plain)


def read_reference(path: Path) -> pa.Table:
    """Return the stored answer, memory-mapped."""
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()


def comparable(table: Any, case: Case) -> pa.Table:
    """Return a contender's result as an Arrow table, with the case's types; if all readers infer, the types are unchanged."""
    arrow = pa.Table.from_pandas(table, preserve_index=False) if hasattr(table, "iloc") else pa.table(table)
    columns = [_plain(column, case.types.get(name)) for name, column in zip(arrow.column_names, arrow.columns, strict=True)]
    return pa.table(columns, names=arrow.column_names)


def _plain(column: pa.ChunkedArray, text: str | None) -> pa.ChunkedArray:
    if text is None:
        wanted = pa.timestamp("us") if pa.types.is_timestamp(column.type) else column.type
        wanted = pa.string() if pa.types.is_large_string(wanted) or pa.types.is_string_view(wanted) else wanted
    else:
        wanted = arrow_type(text)
    if pa.types.is_timestamp(column.type) and pa.types.is_date(wanted):
        column = column.cast(pa.timestamp("s"))
    return column.cast(wanted)


def differences(found: pa.Table, expected: pa.Table, *, typed: bool, rounded: bool) -> str:
    """Return the first difference as text, "" if there is none.

    Empty strings and nulls are equal, because peers do not distinguish them. If all readers infer (`typed=False`), the types
    may differ, but not the values. Floats that must be correctly rounded (`rounded=True`) are equal to the last bit.
    """
    if found.num_rows != expected.num_rows or found.column_names != expected.column_names:
        return f"{found.num_rows} rows of {found.column_names[:5]}, not {expected.num_rows} of {expected.column_names[:5]}"
    for name, column, array in zip(expected.column_names, found.columns, expected.columns, strict=True):
        wanted = array if typed or column.type == array.type else array.cast(column.type)
        if pa.types.is_string(wanted.type):
            same = pc.fill_null(column, "").equals(pc.fill_null(wanted, ""))
        elif pa.types.is_floating(wanted.type):
            same = _same_floats(column, wanted, rounded=rounded)
        else:
            same = column.equals(wanted)
        if not same:
            return f"column {name}"
    return ""


def _same_floats(found: pa.ChunkedArray, wanted: pa.ChunkedArray, *, rounded: bool) -> bool:
    """Return whether floats agree. NaN and null are equal, since some libraries have no nulls."""
    mine, theirs = found.to_numpy(), wanted.to_numpy()
    tolerance = 0.0 if rounded else _TOLERANCE[theirs.dtype.itemsize]
    return bool(np.allclose(mine, theirs, rtol=tolerance, atol=0.0, equal_nan=True))
