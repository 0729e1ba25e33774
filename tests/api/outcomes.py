"""Complete result of a reader for a text, to be compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import headrace
from headrace import ParseError, Table

Outcome = tuple[Any, ...]


def outcome(read: Callable[[], Table]) -> Outcome:
    """Return the complete result of a reader for a text, except seconds."""
    try:
        table = read()
    except ParseError as error:
        return error.record, error.line, error.byte, error.column, error.kind, error.text
    except headrace.HeadraceError as error:
        return type(error), str(error)
    report = table.report
    report.check()
    columns = [(one.name, str(one.type), one.inferred, one.evidence, one.nulls) for one in report.columns]
    counts = report.records, report.rows, report.rejected, report.skipped, report.filled, report.faults, report.replaced
    return table.to_pydict(), table.schema.items(), table.rejects.to_pydict(), columns, counts
