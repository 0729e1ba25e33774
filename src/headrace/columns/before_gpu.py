"""What a load on a GPU leaves out in front of the data: found and counted by the native loader, since it is little."""

from __future__ import annotations

from dataclasses import dataclass, replace

from headrace import _native
from headrace.columns.load import LoadPlan, native_errors, type_named
from headrace.columns.types import DataType
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect


@dataclass(frozen=True, slots=True)
class Before:
    """Where the data begins, and how many records and lines of which kind stand before it."""

    begin: int
    counts: dict[str, int]


def find_data(source: OpenSource, dialect: Dialect, plan: LoadPlan) -> Before:
    """Where the data begins: records before, and blank lines in front of the first, are counted by the native loader."""
    begin = plan.begin
    if plan.data_begin > begin:
        begin = min(_first_record(source, dialect, begin, plan.data_begin), plan.end)
    nothing: list[tuple[str, DataType | None, bool]] = [(name, type_named("string"), False) for name, _, _ in plan.columns]
    before = replace(plan, columns=nothing, end=begin, progress=None)
    with native_errors():
        made = _native.load(source.native, _native.Dialect.make(dialect), before)
    counts = {name: made["counts"][name] for name in ("leading", "blank", "comment")}
    return Before(begin, counts)


def _first_record(source: OpenSource, dialect: Dialect, begin: int, least: int) -> int:
    """Where the first record that begins at `least` or behind it does; the source's end if there is none."""
    count = 2
    while True:
        records = _native.peek(source.native, _native.Dialect.make(dialect), "", begin, count)
        found = next((record[0] for record in records if record[0] >= least), None)
        if found is not None or len(records) < count:
            return source.size if found is None else found
        count *= 4
