"""Chooses policies for records of another width, so that a proposal reads its own sample.

Without them a read raises at the first such record. The table keeps the columns that its names say, unless most records have
more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def row_policies(widths: Sequence[int], columns: int) -> Mapping[str, str]:
    """Return the policies that records of these `widths` need in a table of `columns` columns.

    Fields that a record lacks are null. The surplus of most records gets columns of its own; that of few goes to the rejects.
    """
    needed = {}
    if any(width < columns for width in widths):
        needed["short_records"] = "null"
    if longer := sum(width > columns for width in widths):
        needed["long_records"] = "widen" if 2 * longer > len(widths) else "truncate"
    return needed
