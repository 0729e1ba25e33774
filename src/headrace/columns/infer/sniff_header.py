"""Decides whether the first record of a sample holds names, and gives the reason."""

from __future__ import annotations

from headrace import _native
from headrace.columns.infer.sniff import is_typed, is_value
from headrace.columns.records.data_range import DataStart, decide_header, first_records
from headrace.columns.schema import SchemaOptions
from headrace.core.context import Context
from headrace.sources.open import OpenSource
from headrace.structure.layout import SampleLayout
from headrace.structure.survey import ByteSpan

_RECORDS_JUDGED = 100
_MIN_SHARE = 0.9


def find_header(layout: SampleLayout, first: int) -> tuple[bool, str]:
    """Decide whether record `first` is a header over the records below it, and why.

    The decision is that of `read_csv`. If that is in doubt, the whole sample is used. Evidence for data: a text that looks like a
    value, a missing or repeated name among texts, or a text that recurs in its column.
    """
    source = OpenSource(_native.Source.from_bytes(layout.text), "<sample>", cut=layout.is_cut)
    context = Context(threads=1)
    span = ByteSpan(begin=layout.starts[first])
    found = DataStart(begin=0, lines=0, first=first_records(source, layout.dialect, span, context, 1)[0])
    decision = decide_header(source, layout.dialect, found, SchemaOptions(), context).decision
    assert decision is not None  # there is a record
    why = _why_data(layout, first) if decision.in_doubt else None
    return (decision.is_header, decision.reason) if why is None else (False, why)


def _why_data(layout: SampleLayout, first: int) -> str | None:
    names = plain_fields(layout, first)
    below = range(first + 1, len(layout.starts))
    ends_inside = layout.is_cut and not below  # the sample may end inside the last name, and has no record after it
    if ends_inside:
        names.pop()
    filled = [name for name in names if name]
    sampled = (plain_fields(layout, record) for record in below[:: max(1, len(below) // _RECORDS_JUDGED)])
    has_values = any(map(is_typed, filled))
    rows = [row for row in sampled if row != names or not has_values]  # names with values may be repeated as a whole
    if not below and has_values and not ends_inside:
        return "it holds values, and as a header it would be one of no record"
    if value := next((name for name in filled if is_value(name) and not is_typed(name)), None):
        return f"the first record holds {_shown(value)}, which looks like a value"
    for place, name in enumerate(names):
        column = [row[place] for row in rows if place < len(row) and row[place]]
        if name and not is_typed(name) and column and sum(map(is_value, column)) >= _MIN_SHARE * len(column):
            return None
    if not has_values and (len(filled) < len(names) or len(set(filled)) < len(filled)):
        return "all columns hold text, and a name would be missing or there twice"
    repeated = (name for place, name in enumerate(names) if name and any(row[place : place + 1] == [name] for row in rows))
    again = next(repeated, None)
    return None if again is None else f"{_shown(again)} of the first record is there again below"


def plain_fields(layout: SampleLayout, record: int) -> list[bytes]:
    """Return fields without enclosing quotes; the text inside is left unchanged."""
    quote = layout.dialect.quote_char
    fields = [field.strip(b" ") for field in layout.fields(record)]
    if quote is None:
        return fields
    return [field[1:-1] if len(field) > 1 and field[:1] == field[-1:] == quote else field for field in fields]


def _shown(text: bytes) -> str:
    return repr(text[:40].decode("utf-8", "backslashreplace"))
