"""Tests tables as HTML: the view in a notebook, and that no text of the data becomes a part of the page."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest

import headrace
from headrace import Table


def page(text: bytes, **options: object) -> str:
    return headrace.read_csv(text, **options)._repr_html_()


class Parts(HTMLParser):
    """Texts of the cells by row, those of nulls in brackets; and every tag with its attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.caption = ""
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.stack: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "br":
            self.rows[-1][-1] += "\n"
        else:
            self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.stack and self.stack[-1] == "caption":
            self.caption += data
        elif {"td", "th"} & set(self.stack):
            self.rows[-1][-1] += f"[{data}]" if self.stack[-1] == "i" else data


def test_small_table_is_shown_whole():
    parts = Parts(page(b"id,name,ok\n1,null,true\n22,,\n,cy,false\n"))
    assert parts.caption == "shape: (3, 3)"
    assert parts.rows == [
        ["id\nint64", "name\nstring", "ok\nbool"],
        ["1", "null", "True"],
        ["22", "[null]", "[null]"],
        ["[null]", "cy", "False"],
    ]


def test_long_table_shows_first_and_last_rows():
    parts = Parts(page(b"n\n" + b"".join(b"%d\n" % i for i in range(123_456))))
    assert parts.caption == "shape: (123_456, 1)"
    assert [row[0] for row in parts.rows[1:]] == ["0", "1", "2", "3", "4", "…", "123451", "123452", "123453", "123454", "123455"]


def test_wide_table_shows_first_and_last_columns():
    text = ",".join(f"c{i}" for i in range(1000)) + "\n" + ",".join(map(str, range(1000))) + "\n"
    html = page(text.encode())
    head, row = Parts(html).rows
    assert [cell.partition("\n")[0] for cell in (head[0], head[19], head[20], head[21], head[40])] == [
        "c0",
        "c19",
        "…",
        "c980",
        "c999",
    ]
    assert len(row) == 41 and (row[19], row[20], row[21]) == ("19", "…", "980")
    assert len(html) < 20_000


def test_table_of_nothing_and_table_without_rows():
    assert Parts(Table({})._repr_html_()).caption == "shape: (0, 0)"
    assert Parts(page(b"a,b\n", dtypes={"a": "int8"})).rows == [["a\nint8", "b\nstring"]]


HOSTILE = [
    "<script>alert(1)</script>",
    "</td></table><img src=x>",
    "<!-- ",
    "]]>",
    "&lt;&amp;",
    "\"' onmouseover='x",
    "{{7*7}} $x$",
]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("place", ["cell", "name"])
def test_no_text_becomes_markup(text: str, place: str):
    quoted = '"' + text.replace('"', '""') + '"'
    html = page((f"{quoted},b\n1,2\n" if place == "name" else f"a,b\n{quoted},2\n").encode())
    parts = Parts(html)
    assert parts.tags == {"table", "caption", "thead", "tbody", "tr", "th", "td", "br", "span"}
    assert parts.attributes == {"style", "scope"}
    shown = parts.rows[0][0].partition("\n")[0] if place == "name" else parts.rows[1][0]
    assert shown == (text if len(text) <= 32 else text[:31] + "…")
    ET.fromstring(html.replace("<br>", "<br/>"))


def test_control_characters_are_shown_and_not_obeyed():
    assert Parts(page('a\n"x\ny\x1b\u202e"\n'.encode())).rows[1] == [r"x\ny\x1b\u202e"]


def test_there_is_no_script_and_no_fixed_colour():
    html = page(b"a,b\n1,\n")
    assert "script" not in html and "color" not in html and "#" not in html and "http" not in html


def test_slices_and_rejects_have_one_too():
    table = headrace.read_csv(b"a\n1\nx\n", dtypes="int64", on_error="reject")
    assert Parts(table[:1]._repr_html_()).rows[1] == ["1"]
    assert "type" in Parts(table.rejects._repr_html_()).rows[1]
