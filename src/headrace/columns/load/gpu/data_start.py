"""Finds the begin of the data on the host and counts what precedes it, which is short."""

from __future__ import annotations

from headrace import _native
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.plan.native_errors import native_errors
from headrace.sources.open import OpenSource

_COUNTS = ("records", "rows", "rejected", "leading", "filled", "blank", "comment", "passes")


def find_data(source: OpenSource, dialect: _native.Dialect, plan: LoadPlan) -> tuple[int, dict[str, int]]:
    """Return the first byte of the data, and the counts of records, blank lines and comments before it."""
    counts = dict.fromkeys(_COUNTS, 0)
    if plan.data_begin <= plan.begin:
        return plan.begin, counts
    if plan.before is not None:
        begin, counts["leading"], counts["blank"], counts["comment"] = plan.before
        return begin, counts
    with native_errors():
        preceding = _native.find_data(source.native, dialect, plan.isa, plan.begin, plan.data_begin, plan.end)
    begin, counts["leading"], counts["blank"], counts["comment"] = preceding
    return begin, counts
