"""Which part of a text is data: what is skipped in front of the header, behind it, and at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headrace.columns.load.load import first_records
from headrace.columns.schema import FirstRecord
from headrace.core.context import Context
from headrace.core.errors import EmptyInputError, OptionError
from headrace.core.quick import quick
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect
from headrace.structure.survey import Span, record_begin, skip_lines, survey


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtentOptions:
    """The reader's options that say which part of the text is data.

    Parameters
    ----------
    skip_rows
        Physical lines to leave out in front of everything.
    header
        Indexes of the records behind those that hold the names; None if the schema decides about the first.
    skip_rows_after_header
        Records of data to leave out.
    n_rows
        Records of data to read at most; None for all.
    skip_footer
        Records to leave out at the end.
    widest
        Whether the most fields of any record are to be known.
    """

    skip_rows: int = 0
    header: tuple[int, ...] | None = None
    skip_rows_after_header: int = 0
    n_rows: int | None = None
    skip_footer: int = 0
    widest: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """Where the text begins, and its first record that matters.

    Parameters
    ----------
    begin
        First byte behind the byte-order mark and the skipped lines.
    lines
        Lines that were skipped.
    first
        The record that holds the names, or the first of all; None if there is none.
    leading
        Records in front of `first`, and further ones that its names were joined from.
    header
        First byte of `first` if it holds the names.
    """

    begin: int
    lines: int
    first: FirstRecord | None
    leading: int = 0
    header: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """The data of a text.

    Parameters
    ----------
    begin, end
        The bytes to read; `end` is exclusive.
    data_begin
        Records that begin before it are no data.
    footer
        Records left out behind `end`.
    unread
        Bytes behind `end` that nobody looked at, because enough rows were read.
    most_fields
        Of any record of data; 0 if nobody asked.
    """

    begin: int
    data_begin: int
    end: int
    footer: int = 0
    unread: int = 0
    most_fields: int = 0


def find_beginning(source: OpenSource, dialect: Dialect, options: ExtentOptions, context: Context) -> Beginning:
    """Skip lines, and look for the record that holds the names.

    Raises
    ------
    EmptyInputError
        There are fewer records than the header needs.
    """
    begin = source.begin
    lines = 0
    if options.skip_rows:
        begin, lines = skip_lines(source, dialect, begin, options.skip_rows)
    if options.header is None:
        records = first_records(source, dialect, begin, context, 1)
        return _beginning(begin=begin, lines=lines, first=records[0] if records else None)
    last = options.header[-1]
    records = first_records(source, dialect, begin, context, last + 1)
    if len(records) <= last:
        raise EmptyInputError(f"header={last} names the record with index {last}, but there are {len(records)}")
    joined = _joined([records[index] for index in options.header])
    return Beginning(begin=begin, lines=lines, first=joined, leading=last)


def _joined(records: Sequence[FirstRecord]) -> FirstRecord:
    """Several records of names as one: `a,,` over `x,y,z` is `a_x,y,z`; it stands where the last one does."""
    last = records[-1]
    width = max(len(record.fields) for record in records)
    columns = ([record.fields[i] for record in records if i < len(record.fields)] for i in range(width))
    fields = tuple(b"_".join(part for part in parts if part) for parts in columns)
    malformed = next((record for record in records if record.malformed is not None), last)
    return FirstRecord(last.begin, fields, malformed.malformed, malformed.text)


def find_extent(source: OpenSource, dialect: Dialect, beginning: Beginning, options: ExtentOptions, context: Context) -> Extent:
    """Settle what is data.

    Only a footer and `widest` cost a pass over the whole structure; a limit costs one over the records up to it.
    """
    begin = beginning.begin
    header = beginning.header
    before = (beginning.leading + 1 if header is not None else 0) + options.skip_rows_after_header
    data_begin = 0 if header is None else header + 1
    if options.skip_rows_after_header or options.skip_footer or options.widest:
        data_begin = record_begin(source, dialect, begin, before, context)
    end, footer, most_fields = source.size, 0, 0
    if options.skip_footer or options.widest:
        found = survey(source, dialect, Span(begin=data_begin), context=context, last=options.skip_footer)
        most_fields = found.most_fields if options.widest else 0
        footer = len(found.last)
        end = found.last[0] if found.last else end
    unread = 0
    if options.n_rows is not None:
        limit = record_begin(source, dialect, begin, before + options.n_rows, context)
        unread, end = max(end - limit, 0), min(end, limit)
    return _extent(begin=begin, data_begin=data_begin, end=end, footer=footer, unread=unread, most_fields=most_fields)


_beginning = quick(Beginning)
_extent = quick(Extent)


def header_indexes(header: object) -> tuple[int, ...] | None:
    """The records that an option `header` names: an index, or several in order; None if it is no index.

    Raises
    ------
    OptionError
        An index is negative, or they are not in order.
    """
    if isinstance(header, bool | str | bytes) or not isinstance(header, int | Sequence):
        return None
    indexes = (header,) if isinstance(header, int) else tuple(header)
    if not indexes or not all(isinstance(i, int) and not isinstance(i, bool) and i >= 0 for i in indexes):
        raise OptionError(f"header must be True, False, 'infer', the index of a record or several in order, not {header!r}")
    if list(indexes) != sorted(set(indexes)):
        raise OptionError(f"header must name records in order, each once, not {header!r}")
    return indexes
