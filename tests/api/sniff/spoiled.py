"""Texts with the reading that a careful person gives them, and the tables that most of them are rendered from.

No expectation comes from headrace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

Cells = list[list[str]]


@dataclass(frozen=True, kw_only=True)
class Spoiled:
    """A text and its expected reading.

    Parameters
    ----------
    name
        Kind of damage and base table.
    text
        The bytes to sniff.
    sep
        The expected separator; empty if the text has one column.
    names
        The expected names of the columns; None if the text has no header.
    width
        The expected number of columns.
    rows
        The expected number of rows.
    cells
        Expected texts by row and column; None for null.
    quote, escape
        Expected options; ``"any"`` where the text leaves them open.
    skipped
        The expected number of lines that are left out before the header.
    """

    name: str
    text: bytes
    sep: str
    names: tuple[str, ...] | None
    width: int
    rows: int
    cells: dict[tuple[int, int], str | None] = field(default_factory=dict)
    quote: str = "any"
    escape: str | None = "any"
    skipped: int | None = None


BASES: dict[str, tuple[str, Cells]] = {
    "cities": (
        ";",
        [
            ["city", "founded", "area", "river"],
            ["Rome", "-753", "1285.31", "Tiber"],
            ["Paris", "250", "105.4", "Seine"],
            ["Oslo", "1048", "480.75", "Aker"],
            ["Lima", "1535", "2672.28", "Rimac"],
            ["Cairo", "969", "3085.1", "Nile"],
            ["Bern", "1191", "51.62", "Aare"],
            ["Quito", "1534", "372.39", "Machangara"],
        ],
    ),
    "parts": (
        ",",
        [
            ["id", "part", "price", "ordered", "note"],
            ["1", "bolt", "0.25", "2024-01-31", "in stock"],
            ["2", "nut", "0.10", "2024-02-01", "two boxes"],
            ["3", "washer", "0.05", "2024-02-03", ""],
            ["4", "gear", "12.50", "2024-02-07", "on order"],
            ["5", "belt", "7.99", "2024-03-01", "last one"],
            ["6", "pump", "149.00", "2024-03-02", "heavy"],
            ["7", "valve", "23.40", "2024-03-05", "in stock"],
            ["8", "hose", "5.75", "2024-03-09", "by the metre"],
        ],
    ),
    "sensors": (
        ",",
        [
            ["taken", "station", "celsius", "wind"],
            ["12:30:15", "north", "21.5", "3"],
            ["12:31:15", "south", "22.0", "4"],
            ["12:32:15", "east", "20.9", "2"],
            ["12:33:15", "west", "21.1", "7"],
            ["12:34:15", "north", "21.7", "5"],
            ["12:35:15", "south", "22.4", "6"],
        ],
    ),
    "hosts": (
        "\t",
        [
            ["address", "page", "contact", "hits"],
            ["10.0.0.1", "http://a.example/x", "ann@a.example", "120"],
            ["10.0.0.2", "http://b.example/y?z=1", "bo@b.example", "85"],
            ["10.0.1.7", "https://c.example/", "cy@c.example", "9"],
            ["192.168.1.1", "http://d.example/q", "di@d.example", "1402"],
            ["192.168.1.2", "http://e.example/r", "ed@e.example", "77"],
            ["172.16.0.9", "https://f.example/s", "flo@f.example", "5"],
        ],
    ),
    "colours": (
        "|",
        [
            ["colour", "shape", "finish"],
            ["red", "round", "matt"],
            ["green", "square", "gloss"],
            ["blue", "oval", "satin"],
            ["amber", "long", "rough"],
            ["teal", "flat", "smooth"],
            ["pink", "tall", "waxed"],
        ],
    ),
}


def render(rows: Sequence[Sequence[str]], sep: str, end: str = "\n") -> str:
    return "".join(sep.join(row) + end for row in rows)


def expect(
    kind: str, base: str, text: str, sep: str, header: Sequence[str] | None, rows: Sequence[Sequence[str]], **more
) -> Spoiled:
    """The reading of `rows` below `header`; records of another width than `width` give cells where there are columns."""
    width = more.pop("width", len(header or rows[0]))
    cells = {(i, j): (row[j] or None) if j < len(row) else None for i, row in enumerate(rows) for j in range(width)}
    cells = more.pop("only", cells)
    names = None if header is None else tuple(header)
    return Spoiled(
        name=f"{kind}: {base}", text=text.encode(), sep=sep, names=names, width=width, rows=len(rows), cells=cells, **more
    )
