"""Defines the table of rejects, which has a row for each fault of a load."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from headrace import _native
from headrace.columns.column import Column
from headrace.columns.native_columns import column_of
from headrace.core.errors import ParseError
from headrace.core.lazy import LazyMapping

FAULT_KINDS = ("type", "overflow", "encoding", "quote", "unclosed_quote", "too_few_fields", "too_many_fields")
"""Names of `Fault` (columns/rules/fault.hpp), in its order."""


def rejects_of(columns: Mapping[str, Any], rows: int) -> Mapping[str, Column]:
    """Return the table with a number of rows from the native columns. For no rows the native code makes none."""
    return {name: column_of(parts, rows) for name, parts in columns.items()} if rows else no_rejects()


@cache
def no_rejects() -> LazyMapping[Column]:
    """Return the table without rows. All loads without faults share it, which saves ten columns for each batch of a stream."""
    result = _native.no_rejects()
    return LazyMapping({name: number for number, (name, _) in enumerate(result)}, [column_of(parts, 0) for _, parts in result])


def parse_error(rejects: Mapping[str, Column]) -> ParseError:
    """Return the first row of a table of rejects as an error."""
    first = {name: column[0] for name, column in rejects.items()}
    text = first["field"] if first["field"] is not None else first["text"]
    return ParseError(**{name: first[name] for name in ("record", "line", "byte", "column", "kind", "expected")}, text=text)
