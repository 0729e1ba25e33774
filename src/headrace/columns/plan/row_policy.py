"""What becomes of records that have fewer or more fields than there are columns: the contract of the native rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ShortRecords = Literal["null", "error", "reject"]
LongRecords = Literal["error", "truncate", "collect", "widen", "reject"]
COLLECTED = "extra_fields"
"""Name of the column that ``long_records="collect"`` adds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowOptions:
    """Policies, one for each direction; None: as `on_error` says.

    Parameters
    ----------
    short_records
        ``"null"`` fills with nulls, ``"error"`` raises, ``"reject"`` rejects.
    long_records
        ``"truncate"`` leaves the surplus to the rejects, ``"collect"`` keeps its text in a column, ``"widen"`` makes columns for
        it, ``"error"`` raises, ``"reject"`` rejects.
    """

    short_records: str | None = None
    long_records: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowRules:
    """`RowOptions` as the native rows take them; outcomes are ``"raise"``, ``"keep"`` and ``"reject"``.

    Parameters
    ----------
    base_columns
        Fields of a whole record.
    fill_short
        Nulls for the fields that a record lacks.
    collect_long
        The last column takes the text behind the others.
    on_short, on_long, on_malformed
        Outcomes.
    """

    base_columns: int
    fill_short: bool = False
    collect_long: bool = False
    on_short: str = "raise"
    on_long: str = "raise"
    on_malformed: str = "raise"


_OUTCOMES = {"error": "raise", "reject": "reject", "truncate": "keep"}


def row_rules(options: RowOptions, base_columns: int, on_error: str) -> RowRules:
    """Rules for a table whose whole records have so many fields."""
    default = "raise" if on_error == "raise" else "reject"
    return RowRules(
        base_columns=base_columns,
        fill_short=options.short_records == "null",
        collect_long=options.long_records == "collect",
        on_short=_OUTCOMES.get(options.short_records or "", default),
        on_long=_OUTCOMES.get(options.long_records or "", default),
        on_malformed=default,
    )
