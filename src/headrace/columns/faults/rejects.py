"""The table of rejects: a row for each fault of a load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from headrace import _native
from headrace.columns.column import Column
from headrace.columns.native_columns import column_of
from headrace.core.errors import ParseError
from headrace.core.lazy import Named

FAULT_KINDS = ("type", "overflow", "encoding", "quote", "unclosed_quote", "too_few_fields", "too_many_fields")
"""Names of `Fault` (columns/rules/fault.hpp), in its order."""


def rejects_of(made: Sequence[tuple[str, Any]], faults: int) -> Mapping[str, Column]:
    """The table that the native part made of so many faults; of none it makes nothing."""
    return {name: column_of(parts, faults) for name, parts in made} if faults else no_rejects()


@cache
def no_rejects() -> Named[Column]:
    """A table without a row, one for all loads without a fault: of a stream, each batch would make ten columns for it."""
    made = _native.no_rejects()
    return Named({name: number for number, (name, _) in enumerate(made)}, [column_of(parts, 0) for _, parts in made])


def parse_error(rejects: Mapping[str, Column]) -> ParseError:
    """The first row of a table of rejects as an error."""
    first = {name: column[0] for name, column in rejects.items()}
    text = first["field"] if first["field"] is not None else first["text"]
    return ParseError(
        record=first["record"],
        line=first["line"],
        byte=first["byte"],
        column=first["column"],
        kind=first["kind"],
        expected=first["expected"],
        text=text,
    )
