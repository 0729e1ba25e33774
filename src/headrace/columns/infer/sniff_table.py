"""Finds the parts of a sample: lines before the table, the records that hold its names, and lines after it.

The width of records alone does not separate them: a title may be padded with separators (``TITLE,,,``), and names may stand in
two records. Each rule asks `find_header` whether a record holds names, and needs evidence in the columns below:

- A padded line, with one field filled or none, or a pair, is preamble if a header follows.
- Titles and pairs above the first blank line are preamble if a header over values follows it.
- Of equal records of names at the top the last one counts.
- Two records of names are joined if the upper one groups the lower one, with gaps (``,first,,second,``). They are also joined if
  the lower one holds units, text over values in each place that it fills (``,cm,kg``).
- Lines with one field at the end are a footer after a blank line, or where they are text below values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from headrace.columns.infer.sniff import is_clean, is_value
from headrace.columns.infer.sniff_header import find_header, plain_fields
from headrace.columns.plan.value_forms import NULL_WORDS
from headrace.structure.layout import Regularity, SampleLayout
from headrace.structure.sample import LINE_END

_RECORDS_JUDGED = 100
_COLUMNS_JUDGED = 200
_MIN_SHARE = 0.9  # share of values in a column of values
_MIN_ROWS = 2
_MAX_PADDED = 10  # padded lines before a table
_MAX_EQUAL = 3  # equal records of names
_MAX_ABOVE_BLANK = 5  # lines above the first blank line that may be preamble
_MAX_FOOTER = 5  # lines of a footer
_PAIR = 2


@dataclass(frozen=True, slots=True)
class TableBegin:
    """Begin and end of the table."""

    first: int  # index of its first record; records before it are the preamble
    header: bool | tuple[int, ...]  # True if that record holds names; or, counted from it, the indexes of the records that do
    reason: str  # the reason, in words
    footer: int = 0  # number of records after the table

    @property
    def names(self) -> int:
        """Number of records up to the last one that holds names."""
        return self.header[-1] + 1 if isinstance(self.header, tuple) else int(self.header)


def find_table(layout: SampleLayout, regular: Regularity, *, first_is_given: bool = False) -> TableBegin:
    """Find where the table begins and which records hold its names. A given first record is not questioned."""
    layout = _without_empty_end(layout)
    first = 0 if first_is_given else _first_record(layout, regular.first)
    if joined := _join_names(layout, first):
        return TableBegin(first, (0, 1), joined)
    header, reason = find_header(layout, first)
    if 0 < first == regular.first and _is_header_above(layout, first, regular.width):
        _, why = find_header(layout, first - 1)
        return TableBegin(first - 1, True, f"{why}, though it has {layout.widths[first - 1]} fields")
    return TableBegin(first, header, reason)


def _first_record(layout: SampleLayout, steady: int) -> int:
    """Return the first record of the table, where `steady` is the first one of the steady width."""
    first = steady
    if first and not find_header(layout, first)[0]:
        # A record of data that lacks a field is not preamble.
        while first and layout.widths[first - 1] > 1 and _has_value(layout, first - 1) and not _follows_blank(layout, first):
            first -= 1
    first = _below_blank(layout, _below_padding(layout, first))
    return _last_of_equals(layout, first)


def _last_of_equals(layout: SampleLayout, first: int) -> int:
    """Return the last of equal records of names at the top; `first` if one of them recurs below."""
    names, last = _fields(layout, first), first
    if not _has_names(layout, first):
        return first
    while last - first < _MAX_EQUAL and _fields(layout, last + 1) == names:
        last += 1
    below = range(last + 1, min(last + 1 + _RECORDS_JUDGED, len(layout.starts)))
    return last if below and all(_fields(layout, row) != names for row in below) else first


def _without_empty_end(layout: SampleLayout) -> SampleLayout:
    """Return the layout without last columns that are empty everywhere: separators at line ends name no columns."""
    sep, last = layout.dialect.sep, 1
    for record, width in enumerate(layout.widths):
        filled = width
        text = layout.record_text(record) if width > last else b""
        end = len(text)
        while filled > last and text.endswith(sep, 0, end):
            end, filled = end - len(sep), filled - 1
        last = max(last, filled)
    return layout if last == max(layout.widths) else replace(layout, widths=[min(width, last) for width in layout.widths])


def _is_header_above(layout: SampleLayout, first: int, width: int) -> bool:
    """Return whether the line above the records is a header of another width than theirs; its names would be lost.

    It is a field longer or shorter than they are, or has three names or more, no gap, and at least half of their width.
    """
    above, width = layout.widths[first - 1], min(width, max(layout.widths))
    is_full = 2 < len(_filled(layout, first - 1)) == above >= width / 2
    if above < 2 or not (is_full or abs(above - width) < 2) or _follows_blank(layout, first):
        return False
    return not _is_over_values(layout, first) and find_header(layout, first - 1)[0]


def _below_padding(layout: SampleLayout, first: int) -> int:
    """Return the first record that is not a padded line, if it is a header; else `first`."""
    below = first
    while below < min(first + _MAX_PADDED, len(layout.starts)) and _is_padded(layout, below):
        below += 1
    if below == first or below == len(layout.starts) or not _is_sure_header(layout, below):
        return first
    return below


def _is_padded(layout: SampleLayout, record: int) -> bool:
    """Return whether at most one field of a record is filled, or only its first two of more."""
    filled = _filled(layout, record)
    return len(filled) <= 1 < layout.widths[record] or filled == {0, 1} < set(range(layout.widths[record]))


def _is_sure_header(layout: SampleLayout, record: int) -> bool:
    """Return whether a record holds names over values; or, with three columns or more, a name for each column."""
    full = len(_filled(layout, record)) == layout.widths[record] > 2
    return find_header(layout, record)[0] and (full or _is_over_values(layout, record))


def _is_over_values(layout: SampleLayout, record: int) -> bool:
    """Return whether a record is only text, some of it over columns of values."""
    return _has_names(layout, record) and bool(_value_columns(layout, record) & _filled(layout, record))


def _below_blank(layout: SampleLayout, first: int) -> int:
    """Return the record after the first blank line, if it is a header over values below titles or pairs; else `first`."""
    near = range(first + 1, min(first + 1 + _MAX_ABOVE_BLANK, len(layout.starts)))
    below = next((record for record in near if _follows_blank(layout, record)), None)
    if below is None:
        return first
    are_pairs = all(len(_filled(layout, record)) <= _PAIR for record in range(first, below))
    if not are_pairs and _value_columns(layout, first, end=below):
        return first  # a separate table
    enough = len(layout.starts) - below > max(_MIN_ROWS, below - first)
    return below if enough and _is_over_values(layout, below) else first


def _join_names(layout: SampleLayout, first: int) -> str:
    """Return why records `first` and the next hold the names together; empty if they do not."""
    if len(layout.starts) - first < 2 + _MIN_ROWS or layout.widths[first : first + 2] != [max(layout.widths[first], 2)] * 2:
        return ""
    if not _has_names(layout, first) or not _has_names(layout, first + 1):
        return ""
    columns, upper, lower = _value_columns(layout, first + 1), _filled(layout, first), _filled(layout, first + 1)
    everywhere = set(range(layout.widths[first]))
    if not lower & columns:
        return ""
    if 2 <= len(upper) < len(everywhere) == len(lower):
        return "the second record has a name over values in each place, and the first groups them"
    if upper == everywhere and lower <= columns and not set(NULL_WORDS) & set(_fields(layout, first + 1)):
        return "the second record is text over values, as units are, below a record of names"
    return ""


def find_footer(layout: SampleLayout, begin: TableBegin) -> int:
    """Return the number of records at the end of a whole text that do not belong to its table."""
    last = len(layout.starts)
    above = begin.first + begin.names
    begins = last
    while begins > max(above, last - _MAX_FOOTER) and _is_note(layout, begins - 1):
        begins -= 1
    if begins == last or begins - above < _MIN_ROWS:
        return 0
    filled = set().union(*(_filled(layout, record) for record in range(begins, last)))
    if filled and (_follows_blank(layout, begins) or filled <= _value_columns(layout, above - 1, end=begins)):
        return last - begins
    return 0


def _is_note(layout: SampleLayout, record: int) -> bool:
    """Return whether a record of a table of several columns has at most one filled field, made of words."""
    filled = [field for field in _fields(layout, record) if field]
    return len(filled) < 2 and max(layout.widths) > 1 and all(is_clean(field) and not is_value(field) for field in filled)


def _follows_blank(layout: SampleLayout, record: int) -> bool:
    """Return whether a blank line precedes a record."""
    end = layout.starts[record - 1] + len(layout.record_text(record - 1))
    return record > 0 and len(LINE_END.findall(layout.text, end, layout.starts[record])) > 1


def _has_names(layout: SampleLayout, record: int) -> bool:
    """Return whether a record has text and no value."""
    if record >= len(layout.starts):
        return False
    filled = [field for field in _fields(layout, record) if field]
    return bool(filled) and not any(map(is_value, filled))


def _has_value(layout: SampleLayout, record: int) -> bool:
    """Return whether a record has a value."""
    return any(is_value(field) for field in _fields(layout, record) if field)


def _value_columns(layout: SampleLayout, record: int, end: int | None = None) -> set[int]:
    """Return the columns that hold values in the records after `record`, up to `end`."""
    below = range(record + 1, len(layout.starts) if end is None else end)
    rows = [_fields(layout, row) for row in below[:: max(1, len(below) // _RECORDS_JUDGED)]]
    found = set()
    for place in range(min(max(layout.widths), _COLUMNS_JUDGED)):
        column = [row[place] for row in rows if place < len(row) and row[place]]
        if column and sum(map(is_value, column)) >= _MIN_SHARE * len(column):
            found.add(place)
    return found


def _filled(layout: SampleLayout, record: int) -> set[int]:
    """Return the indexes of a record's fields that are not empty."""
    return {place for place, field in enumerate(_fields(layout, record)) if field}


def _fields(layout: SampleLayout, record: int) -> list[bytes]:
    return plain_fields(layout, record) if record < len(layout.starts) else []
