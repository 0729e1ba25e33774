"""Finds the minimum and the maximum of a column in host memory."""

from __future__ import annotations

from typing import Any

from headrace import _native
from headrace.arrange.filter.column_layout import described_column
from headrace.columns.column import Column


def value_range(column: Column) -> tuple[Any, Any] | None:
    """Return the minimum and the maximum as Python values; None if no row has a value. Nulls and NaN are left out.

    >>> from headrace import read_csv
    >>> value_range(read_csv(b"a\\n3\\n\\n1\\n2\\n")["a"])
    (1, 3)
    """
    held: list[Any] = []
    rows = _native.value_range(described_column(column, held), len(column))
    return None if rows is None else (column[rows[0]], column[rows[1]])
