"""Formats a table as HTML for notebooks, without scripts, in the colours of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TypeVar

from headrace.columns.column import Column
from headrace.columns.picture import GAP, ROWS, cells, cut

ItemT = TypeVar("ItemT")

_COLUMNS = 40
_CELL = "padding:.2em .6em;white-space:pre;text-align:"
_PALE = "opacity:.6;font-weight:normal"
_LINE = "border-bottom:1px solid"


def table_html(columns: Mapping[str, Column], num_rows: int) -> str:
    """Return the shape, and names, types, first and last rows of the first and last columns.

    Every text is escaped. A null has another style than the text "null".
    """
    return _table(columns, f"shape: ({num_rows:_}, {len(columns):_})")


def column_html(column: Column) -> str:
    """Return the number of rows, the type, and the first and last values."""
    return _table({"": column}, f"{len(column):_} rows, {max(column.null_count, 0):_} null")


def _table(columns: Mapping[str, Column], what: str) -> str:
    shape = f"<caption style='caption-side:top;text-align:left'>{what}</caption>"
    chosen = _outer(list(columns.items()), _COLUMNS)
    heads = [_gap("th") if item is None else _head(*item) for item in chosen]
    bodies = [None if item is None else _body(item[1]) for item in chosen]
    height = max((len(body) for body in bodies if body is not None), default=0)
    rows = [[_gap("td") if body is None else body[row] for body in bodies] for row in range(height)]
    return "\n".join(
        [
            f"<table style='border-collapse:collapse'>{shape}",
            f"<thead><tr style='{_LINE}'>{''.join(heads)}</tr></thead>",
            "<tbody>",
            *(f"<tr>{''.join(row)}</tr>" for row in rows),
            "</tbody></table>",
        ]
    )


def _outer(items: Sequence[ItemT], most: int) -> list[ItemT | None]:
    """Return all items, or the first and last of them around a None."""
    if len(items) <= most:
        return list(items)
    return [*items[: most // 2], None, *items[len(items) - most // 2 :]]


def _gap(tag: str) -> str:
    return f"<{tag} style='{_CELL}center'>{GAP}</{tag}>"


def _head(name: str, column: Column) -> str:
    kind = f"<span style='{_PALE}'>{escape(str(column.type))}</span>"
    return f"<th scope='col' style='{_CELL}{_side(column)}'>{escape(cut(name))}<br>{kind}</th>"


def _body(column: Column) -> list[str]:
    """Return the cells of a column from top to bottom."""
    if len(column) <= ROWS:
        return _rows(column)
    return [*_rows(column[: ROWS // 2]), _gap("td"), *_rows(column[len(column) - ROWS // 2 :])]


def _rows(column: Column) -> list[str]:
    texts = zip(cells(column), column.to_pylist(), strict=True)
    shown = [f"<i style='{_PALE}'>null</i>" if value is None else escape(text) for text, value in texts]
    return [f"<td style='{_CELL}{_side(column)}'>{text}</td>" for text in shown]


def _side(column: Column) -> str:
    """Return the alignment of a column: right for numbers."""
    return "right" if column.type.name.startswith(("int", "uint", "float", "decimal")) else "left"
