"""Reads texts with faults, and compares the counts of the report with the rejects."""

from __future__ import annotations

from headrace import Table, read_csv


def read(data: bytes, **options: object) -> Table:
    """Return the table, each of whose faults is a row of its rejects."""
    table = read_csv(data, **options)  # type: ignore[arg-type]
    table.report.check()
    assert table.report.faults == len(table.rejects)
    return table
