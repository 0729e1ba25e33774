"""Whether the first record of a sample holds names, and why one thinks so."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.columns.infer.sniff import is_value
from headrace.structure.layout import Layout, Regularity

_RECORDS_JUDGED = 100
_MOSTLY = 0.9


@dataclass(frozen=True, slots=True)
class TableBegin:
    """Where the table begins.

    Parameters
    ----------
    first
        Index of its first record; those before are the preamble.
    header
        Whether that record holds names.
    reason
        Why, in words.
    """

    first: int
    header: bool
    reason: str


def find_table(layout: Layout, regular: Regularity) -> TableBegin:
    """The first record of the table, by its width and by what it holds.

    A line of names in front of records that are a field longer or shorter is no preamble: left out, its names would be lost.
    """
    first = regular.first
    header, reason = find_header(layout, first)
    if first and not header and layout.widths[first - 1] > 1 and abs(layout.widths[first - 1] - regular.width) == 1:
        named, why = find_header(layout, first - 1)
        if named:
            return TableBegin(first - 1, True, f"{why}, though it has {layout.widths[first - 1]} fields")
    return TableBegin(first, header, reason)


def plain_fields(layout: Layout, record: int) -> list[bytes]:
    """Fields without the quotes around them; what is inside is left as it stands."""
    quote = layout.dialect.quote
    fields = [field.strip(b" ") for field in layout.fields(record)]
    if quote is None:
        return fields
    return [field[1:-1] if len(field) > 1 and field[:1] == field[-1:] == quote else field for field in fields]


def find_header(layout: Layout, first: int) -> tuple[bool, str]:
    """Whether the record `first` is a header over those behind it, and a reason in words.

    A value in it (a number, a date, an address) makes it data. Otherwise it is one over columns of values; over columns
    of text too, as `read_csv` has it, unless a name is missing, there twice, or there again below.
    """
    names = plain_fields(layout, first)
    filled = [name for name in names if name]
    if value := next(filter(is_value, filled), None):
        return False, f"the first record holds the value {_shown(value)}"
    if not filled:
        return False, "the first record is empty"
    behind = range(first + 1, len(layout.starts))
    step = max(1, len(behind) // _RECORDS_JUDGED)
    rows = [plain_fields(layout, record) for record in behind[::step]]
    for place, name in enumerate(names):
        column = [row[place] for row in rows if place < len(row) and row[place]]
        if name and column and sum(map(is_value, column)) >= _MOSTLY * len(column):
            return True, f"{_shown(name)} is text over values such as {_shown(column[0])}"
    if len(filled) < len(names) or len(set(filled)) < len(filled):
        return False, "all columns hold text, and a name would be missing or there twice"
    if again := next((name for place, name in enumerate(names) if any(row[place : place + 1] == [name] for row in rows)), None):
        return False, f"all columns hold text, and {_shown(again)} of the first record is there again below"
    return True, "all columns hold text, and the names are all different"


def _shown(text: bytes) -> str:
    return repr(text[:40].decode("utf-8", "backslashreplace"))
