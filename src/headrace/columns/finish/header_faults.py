"""Checks the header for faults, and adds them to the table of rejects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from headrace import _native
from headrace.columns.column import Column
from headrace.columns.faults.rejects import FAULT_KINDS, parse_error, rejects_of
from headrace.columns.finish.concat import SharedLoads
from headrace.columns.plan.load_plan import ValueOptions
from headrace.columns.records.data_range import DataStart
from headrace.columns.schema import SchemaOptions
from headrace.core.context import Context
from headrace.sources.open import OpenSource


def check_header(source: OpenSource, beginning: DataStart, schema: SchemaOptions, values: ValueOptions) -> DataStart:
    """Check the header for malformed quotes and undecodable text.

    Raise ParseError with ``on_error="raise"``; its record is 0.

    Result: the argument, with a row of rejects if there is a fault. The names are used as they are.
    """
    first = beginning.first
    if first is None or beginning.header is None:
        return beginning
    # Names given by the caller replace those that cannot be decoded.
    is_mended = values.replace_invalid or schema.names is not None
    if first.malformed is not None:
        at, kind = first.malformed, "unclosed_quote" if first.malformed == first.begin else "quote"
    elif first.undecodable is not None and not is_mended:
        at, kind = first.undecodable, "encoding"
    else:
        return beginning
    result = _native.header_reject(source.native, first.begin, at, FAULT_KINDS.index(kind), first.text)
    rejects = rejects_of(dict(result), 1)
    if values.on_error == "raise":
        raise parse_error(rejects)
    return replace(beginning, rejects=rejects)


def with_header_count(counts: Mapping[str, int], beginning: DataStart) -> dict[str, int]:
    """Return the counts of a load with the faults of the header."""
    above = 0 if beginning.rejects is None else beginning.rejects["record"].length
    return {**counts, "faults": counts["faults"] + above}


def with_header_faults(rejects: Mapping[str, Column], beginning: DataStart, context: Context) -> Mapping[str, Column]:
    """Return a table of rejects with the faults of the header before the others."""
    above = beginning.rejects
    if above is None:
        return rejects
    shared = SharedLoads.of(len(above), context)
    return {name: shared.join([column, rejects[name]], column.type)[0] for name, column in above.items()}
