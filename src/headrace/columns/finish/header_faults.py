"""Faults of the record that holds the names: raised, or a row of rejects, as `on_error` says of all faults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from headrace import _native
from headrace.columns.column import Column
from headrace.columns.faults.rejects import FAULT_KINDS, parse_error, rejects_of
from headrace.columns.finish.concat import SharedLoads
from headrace.columns.plan.load_plan import ValueOptions
from headrace.columns.records.data_range import Beginning
from headrace.columns.schema import SchemaOptions
from headrace.core.context import Context
from headrace.sources.open import OpenSource


def check_header(source: OpenSource, beginning: Beginning, schema: SchemaOptions, values: ValueOptions) -> Beginning:
    """Look for malformed quotes and undecodable text in the header.

    Returns
    -------
    Beginning
        With the row of rejects, if there is a fault. The names are taken from the header as it stands.

    Raises
    ------
    ParseError
        With ``on_error="raise"``; record 0.
    """
    first = beginning.first
    if first is None or beginning.header is None:
        return beginning
    # Names that the caller gives take the place of those that cannot be decoded.
    is_mended = values.replace_invalid or schema.names is not None
    if first.malformed is not None:
        at, kind = first.malformed, "unclosed_quote" if first.malformed == first.begin else "quote"
    elif first.undecodable is not None and not is_mended:
        at, kind = first.undecodable, "encoding"
    else:
        return beginning
    made = _native.header_reject(source.native, first.begin, at, FAULT_KINDS.index(kind), first.text)
    rejects = rejects_of(made, 1)
    if values.on_error == "raise":
        raise parse_error(rejects)
    return replace(beginning, rejects=rejects)


def with_header_faults(rejects: Mapping[str, Column], beginning: Beginning, context: Context) -> Mapping[str, Column]:
    """A table of rejects after the faults of the header."""
    above = beginning.rejects
    if above is None:
        return rejects
    shared = SharedLoads.of(len(above), context)
    return {name: shared.join([column, rejects[name]], column.type)[0] for name, column in above.items()}
