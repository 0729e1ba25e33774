"""Defines `RowCount`: the number of rows of a change of a store, with the account of the text that they were read from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from headrace.api.report import Report
from headrace.api.table import Table
from headrace.columns.finish.concat import SharedLoads
from headrace.core.context import Context


class RowCount(int):
    """Number of rows that `Store.append`, `Store.ingest` or `Store.update` added or replaced.

    ``report.records == rows + duplicates + report.rejected + report.skipped.total``.

    Parameters
    ----------
    rows
        The number itself.
    duplicates
        Number of rows that were read, and left out by the store's policy for duplicates.
    rejects
        Table of the faults of the read, one row each, as of `read_csv`; without rows if there were none.
    report
        Report of the read. None if the rows came from a table that no read created.

    Examples
    --------
    >>> import headrace
    >>> store = headrace.Store(schema={"n": "int64"}, key="n", on_duplicate="keep")
    >>> added = store.append(b"n\\n1\\nx\\n1\\n2\\n", on_error="reject")
    >>> added, added.duplicates, added.rejects["text"].to_pylist()
    (2, 1, ['x'])
    """

    duplicates: int
    rejects: Table
    report: Report | None

    def __new__(cls, rows: int, duplicates: int = 0, rejects: Table | None = None, report: Report | None = None) -> Self:
        """Return the number of rows; the parameters are those of the class."""
        found = super().__new__(cls, rows)
        found.duplicates = duplicates
        found.rejects = Table({}) if rejects is None else rejects
        found.report = report
        return found

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self)


def joined_rejects(tables: Sequence[Table], context: Context) -> Table:
    """Return the rejects of several batches as one table."""
    faulty = [table for table in tables if table.num_rows]
    if len(faulty) < 2:
        return faulty[0] if faulty else Table({})
    join = SharedLoads.of(1, context).join
    return Table({name: join([one[name] for one in faulty], type_)[0] for name, type_ in faulty[0].schema.items()})
