"""Describes a scan as text and as HTML, without reading anything."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from html import escape

from headrace.api.scan.scan_state import ScanRequest
from headrace.columns.types import DataType
from headrace.core.errors import shown

_SHOWN = 3


def scan_text(request: ScanRequest, schema: Mapping[str, DataType] | None) -> str:
    """Return e.g. ``Scan('trips.csv', batches of 64 MiB, columns: id, fare)``; `schema` is given if it is known."""
    return f"Scan({', '.join([_sources(request.sources), *_facts(request), _columns(schema)])})"


def scan_html(request: ScanRequest, schema: Mapping[str, DataType] | None) -> str:
    """Return the same as a list in HTML, with the type of each column if it is known."""
    facts = [*_facts(request), _columns(schema)]
    types = "".join(f"<tr><td>{escape(name)}</td><td>{escape(str(type_))}</td></tr>" for name, type_ in (schema or {}).items())
    table = f"<table>{types}</table>" if types else ""
    return f"<b>Scan</b> of {escape(_sources(request.sources))}<br>{escape('; '.join(facts))}{table}"


def _facts(request: ScanRequest) -> list[str]:
    options = request.options
    facts = [f"batches of {_size(request.cut.nbytes)}"]
    if options.schema.columns is not None:
        facts.append(f"select: {shown(options.schema.columns, 60)}")
    if request.where is not None:
        facts.append(f"where: {shown(request.where, 60)}")
    if request.records is not None:
        facts.append(f"where: {shown(request.records, 60)}")
    if options.extent.n_rows is not None:
        facts.append(f"limit: {options.extent.n_rows:_} records")
    if options.context.device.kind != "cpu":
        facts.append(f"device: {options.context.device}")
    return facts


def _columns(schema: Mapping[str, DataType] | None) -> str:
    return "types not inferred yet" if schema is None else f"{len(schema):_} columns"


def _sources(sources: Sequence[object]) -> str:
    names = [repr(os.fspath(one)) if isinstance(one, str | os.PathLike) else f"<{type(one).__name__}>" for one in sources]
    more = f" and {len(names) - _SHOWN:_} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"


def _size(nbytes: int) -> str:
    return f"{nbytes >> 20:_} MiB" if nbytes >= 1 << 20 and nbytes % (1 << 20) == 0 else f"{nbytes:_} bytes"
