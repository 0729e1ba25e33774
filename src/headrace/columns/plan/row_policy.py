"""Defines the policies for records that have fewer or more fields than there are columns.

The rule for the outcome of a fault is native (row_policy.hpp); this module asks it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from headrace import _native

ShortRecords = Literal["null", "error", "reject"]
LongRecords = Literal["error", "truncate", "collect", "widen", "reject"]
COLLECTED = "extra_fields"  # name of the column that ``long_records="collect"`` adds


@dataclass(frozen=True, slots=True, kw_only=True)
class RowOptions:
    """Policies for short and long records; None: the outcome follows from `on_error`."""

    short_records: str | None = None  # `"null"` fills with nulls, `"error"` raises, `"reject"` rejects
    long_records: str | None = None
    """``"truncate"`` moves the surplus to the rejects, ``"collect"`` keeps its text in a column, ``"widen"`` adds columns for it,
    ``"error"`` raises, ``"reject"`` rejects.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class RowRules:
    """`RowOptions` as the native code reads them. An outcome is ``"raise"``, ``"keep"`` or ``"reject"``."""

    base_columns: int  # number of fields of a complete record
    fill_short: bool = False  # True if missing fields become null
    collect_long: bool = False  # True if the last column receives the text after the other fields
    on_short: str = "raise"
    on_long: str = "raise"
    on_malformed: str = "raise"  # outcomes of short records, long records and records with malformed quotes


def row_rules(options: RowOptions, base_columns: int, on_error: str) -> RowRules:
    """Return the rules for a table whose complete records have `base_columns` fields."""
    on_short, on_long, on_malformed = _native.record_outcomes(options.short_records, options.long_records, on_error)
    return RowRules(
        base_columns=base_columns,
        fill_short=options.short_records == "null",
        collect_long=options.long_records == "collect",
        on_short=on_short,
        on_long=on_long,
        on_malformed=on_malformed,
    )


def fault_outcomes(rows: RowRules, on_error: str, *, lenient: bool) -> list[str]:
    """Return the outcome of each kind of fault, in the order of `FAULT_KINDS`; `lenient`: the dialect repairs quotes."""
    return _native.fault_outcomes(rows, on_error, lenient)
