"""Finds the data of a text: skips lines before the header, records after it, and records at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from headrace import _native
from headrace.columns.column import Column
from headrace.columns.header import LOOK_BYTES, HeaderDecision
from headrace.columns.plan.native_dialect import native_dialect
from headrace.columns.plan.native_errors import native_errors
from headrace.columns.schema import FirstRecord, SchemaOptions, header_decision, records_to_compare
from headrace.core.context import Context
from headrace.core.errors import EmptyInputError, OptionError
from headrace.core.fast_constructor import fast_constructor
from headrace.core.options import MOST, index_of
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect
from headrace.structure.survey import ByteSpan, record_begin, skip_lines, survey


@dataclass(frozen=True, slots=True, kw_only=True)
class DataRangeOptions:
    """The options that define which part of the text is data."""

    skip_rows: int = 0  # physical lines to skip at the begin of the text
    header: tuple[int, ...] | None = None
    """Indexes, after the skipped lines, of the records that have the names; None if the schema decides about the first record."""
    skip_rows_after_header: int = 0  # data records to skip
    n_rows: int | None = None  # maximum number of data records; None for all
    skip_footer: int = 0  # records to skip at the end
    widest: bool = False  # True if the maximum number of fields of a record is found


@dataclass(frozen=True, slots=True, kw_only=True)
class DataStart:
    """The begin of the text, and its first relevant record."""

    begin: int  # first byte after the byte-order mark and the skipped lines
    lines: int  # number of skipped lines
    first: FirstRecord | None  # the record with the names, or the first one; None if there is no record
    leading: int = 0  # number of records before `first`, including those whose names were joined with its own
    header: int | None = None  # first byte of `first`, if it has the names
    decision: HeaderDecision | None = None  # True if it has the names, and the reason; None if this is not decided yet
    rejects: Mapping[str, Column] | None = None  # table of rejects with the header's faults; None if it has none


@dataclass(frozen=True, slots=True, kw_only=True)
class DataRange:
    """The data of a text."""

    begin: int  # first byte to read
    data_begin: int  # records that begin before it are not data
    end: int  # first byte after those to read
    footer: int = 0  # number of records skipped after `end`
    unread: int = 0  # bytes after `end` that were not read, because `n_rows` was reached
    max_fields: int = 0  # maximum number of fields of a data record; 0 if it was not asked for


def find_data_start(source: OpenSource, dialect: Dialect, options: DataRangeOptions, context: Context) -> DataStart:
    """Skip lines, and find the record that has the names.

    Raise EmptyInputError if there are fewer records than the header needs.
    """
    begin = source.begin
    lines = 0
    if options.skip_rows:
        begin, lines = skip_lines(source, dialect, begin, options.skip_rows)
    if options.header is None:
        records = first_records(source, dialect, ByteSpan(begin=begin), context, 1)
        return _beginning(begin=begin, lines=lines, first=records[0] if records else None)
    last = options.header[-1]
    records = first_records(source, dialect, ByteSpan(begin=begin), context, last + 1)
    if len(records) <= last:
        raise EmptyInputError(f"header={last} names the record with index {last}, but there are {len(records)}")
    joined = _joined([records[index] for index in options.header])
    return DataStart(begin=begin, lines=lines, first=joined, leading=last)


def decide_header(source: OpenSource, dialect: Dialect, found: DataStart, schema: SchemaOptions, context: Context) -> DataStart:
    """Decide whether the first record has the names. The following records are read only if it may be data."""
    if found.first is None:
        return found
    first = found.first
    if count := records_to_compare(first, schema):
        first = replace(first, below=_records_below(source, dialect, first.begin, context, count))
    decision = header_decision(first, schema)
    return _beginning(
        begin=found.begin,
        lines=found.lines,
        first=first,
        leading=found.leading,
        header=first.begin if decision.is_header else None,
        decision=decision,
    )


def _records_below(
    source: OpenSource, dialect: Dialect, begin: int, context: Context, count: int
) -> tuple[tuple[bytes, ...], ...]:
    """Return at most `count` records after the one at `begin`. They must end within `LOOK_BYTES`, which every reader has read."""
    end = begin + LOOK_BYTES
    records = first_records(source, dialect, ByteSpan(begin=begin, end=end), context, count + 2)
    is_cut = source.size > end or source.cut
    complete = records[:-1] if is_cut or len(records) == count + 2 else records
    return tuple(record.fields for record in complete[1:])


def _joined(records: Sequence[FirstRecord]) -> FirstRecord:
    """Join several records of names: `a,,` above `x,y,z` becomes `a_x,y,z`. The result has the position of the last record."""
    last = records[-1]
    width = max(len(record.fields) for record in records)
    columns = ([record.fields[i] for record in records if i < len(record.fields)] for i in range(width))
    fields = tuple(b"_".join(part for part in parts if part) for parts in columns)
    malformed = next((record for record in records if record.malformed is not None), last)
    undecodable = next((record.undecodable for record in records if record.undecodable is not None), None)
    return FirstRecord(last.begin, fields, malformed.malformed, malformed.text, undecodable)


def find_data_range(
    source: OpenSource, dialect: Dialect, beginning: DataStart, options: DataRangeOptions, context: Context
) -> DataRange:
    """Find the range of the data.

    A footer and `widest` cost a pass over the structure of the whole text, `n_rows` a pass over the records up to it.
    """
    begin = beginning.begin
    header = beginning.header
    before = (beginning.leading + 1 if header is not None else 0) + options.skip_rows_after_header
    data_begin = 0 if header is None else header + 1
    if options.skip_rows_after_header or options.skip_footer or options.widest:
        data_begin = record_begin(source, dialect, begin, before, context)
    end, footer, max_fields = source.size, 0, 0
    if options.skip_footer or options.widest:
        found = survey(source, dialect, ByteSpan(begin=data_begin), context=context, last=options.skip_footer)
        max_fields = found.max_fields if options.widest else 0
        footer = len(found.last)
        end = found.last[0] if found.last else end
    unread = 0
    if options.n_rows is not None:
        limit = record_begin(source, dialect, begin, before + options.n_rows, context)
        unread, end = max(end - limit, 0), min(end, limit)
    return _extent(begin=begin, data_begin=data_begin, end=end, footer=footer, unread=unread, max_fields=max_fields)


_beginning = fast_constructor(DataStart)
_extent = fast_constructor(DataRange)


def header_indexes(header: object) -> tuple[int, ...] | None:
    """Return the records that the option `header` names: an index, or several in order; None if it is not an index.

    Raise OptionError if an index is negative, or they are not in order.
    """
    one = index_of(header)
    if one is None and (isinstance(header, bool | str | bytes) or not isinstance(header, Sequence)):
        return None
    given = [one] if one is not None else [index_of(each) for each in header]  # type: ignore[attr-defined]
    indexes = tuple(each for each in given if each is not None and 0 <= each <= MOST)
    if not indexes or len(indexes) < len(given):
        raise OptionError.wrong("header", "True, False, 'infer', the index of a record or several in order", header)
    if list(indexes) != sorted(set(indexes)):
        raise OptionError.wrong("header", "indexes of records in order, each once", header)
    return indexes


def first_records(source: OpenSource, dialect: Dialect, span: ByteSpan, context: Context, count: int) -> list[FirstRecord]:
    """Return at most `count` records of a span that are neither blank nor comments. The text ends where the span does."""
    with native_errors():
        found = _native.peek(source.native, native_dialect(dialect), context.isa, span.begin, count, span.end)
    return [_first_record(begin, tuple(fields), *more) for begin, fields, *more in found]


_first_record = fast_constructor(FirstRecord)
