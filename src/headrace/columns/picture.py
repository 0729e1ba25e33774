"""Formats a table as text."""

from __future__ import annotations

import datetime
import shutil
import unicodedata
from collections.abc import Mapping, Sequence

from headrace.columns.column import Column
from headrace.columns.traits import FAMILIES, TRAITS, UNITS
from headrace.columns.types import DataType
from headrace.columns.zone import zone_named

ROWS = 10
_CELL = 32
GAP = "…"


def table_picture(columns: Mapping[str, Column], num_rows: int, max_rows: int = ROWS) -> str:
    """Return names, types, and the first and last rows, `max_rows` in all, cut to the width of the terminal."""
    shape = f"shape: ({num_rows:_}, {len(columns):_})"
    if not columns:
        return shape
    drawn = _fit(
        [_drawn(name, column, max_rows) for name, column in columns.items()], shutil.get_terminal_size((100, 24)).columns
    )
    widths = [max(map(text_width, cells)) for cells in drawn]
    lines = [
        " │ ".join(cell + " " * (width - text_width(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in zip(*drawn, strict=True)
    ]
    rule = "─┼─".join("─" * width for width in widths)
    return "\n".join([shape, *lines[:2], rule, *lines[2:]])


def _drawn(name: str, column: Column, max_rows: int) -> list[str]:
    """Return the cells of a column from top to bottom."""
    head = [cut(name), str(column.type)]
    if len(column) <= max_rows:
        return [*head, *cells(column)]
    return [*head, *cells(column[: max_rows // 2]), GAP, *cells(column[len(column) - max_rows // 2 :])]


def cells(column: Column) -> list[str]:
    """Return the text of each value of a column."""
    values = column.to_pylist()
    if column.type.unit == "ns":
        return ["null" if count is None else _nanoseconds(count, column.type) for count in values]
    if column.type.name == "decimal128":
        return ["null" if value is None else format(value, "f") for value in values]
    return [_cell(value) for value in values]


def _nanoseconds(count: int, type_: DataType) -> str:
    """Return the text of a timestamp, time or duration in nanoseconds, which Python's classes do not have."""
    to_python = FAMILIES[TRAITS[type_.name].family].to_python
    assert to_python is not None
    seconds, rest = divmod(count, UNITS["ns"])
    value = to_python(seconds, 1, None if type_.tz is None else zone_named(type_.tz))
    text, fraction = str(value), f".{rest:09}" if rest else ""
    return text[:19] + fraction + text[19:] if isinstance(value, datetime.datetime) else text + fraction


def _cell(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    return cut(str(value))


def printable(text: str) -> str:
    """Return the text with an escape for each control character, so that a terminal does not execute it."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def cut(text: str) -> str:
    """Return the beginning of `text`, without control characters."""
    text = printable(text[: 2 * _CELL])
    return text if len(text) <= _CELL else text[: _CELL - 1] + GAP


def _fit(columns: Sequence[list[str]], width: int) -> Sequence[list[str]]:
    """Return the columns that fit `width`, without the middle ones."""

    def total(chosen: Sequence[list[str]]) -> int:
        return sum(max(map(text_width, cells)) + 3 for cells in chosen)

    if total(columns) <= width or len(columns) == 1:
        return columns
    gap = [[GAP] * len(columns[0])]
    left, right = 1, 0
    while left + right < len(columns):
        more_left, more_right = (left + 1, right) if left <= right else (left, right + 1)
        chosen = [*columns[:more_left], *gap, *columns[len(columns) - more_right :]]
        if total(chosen) > width:
            break
        left, right = more_left, more_right
    return [*columns[:left], *gap, *columns[len(columns) - right :]]


def text_width(text: str) -> int:
    """Return the width of a text on a terminal: 2 for wide characters, 0 for combining ones."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
