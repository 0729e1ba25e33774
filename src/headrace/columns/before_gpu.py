"""What a load on a GPU leaves out in front of the data: found and counted on the host, since it is little."""

from __future__ import annotations

from functools import cache

from headrace import _native
from headrace.columns.column import Column
from headrace.columns.load import LoadPlan, ValueOptions, column_of, native_errors
from headrace.columns.rows import RowRules
from headrace.sources.open import OpenSource

_COUNTS = ("records", "rows", "rejected", "leading", "filled", "blank", "comment", "passes")


def find_data(source: OpenSource, dialect: _native.Dialect, plan: LoadPlan) -> tuple[int, dict[str, int]]:
    """Where the data begins, and the load's counts so far: records, blank lines and comments in front of it."""
    counts = dict.fromkeys(_COUNTS, 0)
    if plan.data_begin <= plan.begin:
        return plan.begin, counts
    with native_errors():
        found = _native.find_data(source.native, dialect, plan.isa, plan.begin, plan.data_begin, plan.end)
    begin, counts["leading"], counts["blank"], counts["comment"] = found
    return begin, counts


@cache
def no_rejects() -> dict[str, Column]:
    """A table of rejects without a row."""
    plan = LoadPlan(
        columns=[],
        begin=0,
        end=0,
        data_begin=0,
        rows=RowRules(base_columns=1),
        values=ValueOptions(),
        threads=1,
        tile_bytes=1,
        memory_limit=0,
        isa="",
    )
    made = _native.rejects(_native.Source.from_bytes(b""), plan, [], [])
    return {name: column_of(parts, 0) for name, parts in made}
