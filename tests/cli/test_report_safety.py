"""Tests `headrace report`: its figures, and that no text of the input becomes markup."""

from __future__ import annotations

import random
from html.parser import HTMLParser
from pathlib import Path

import pytest

from headrace import read_csv
from headrace.cli.main import main
from headrace.cli.report.column_summary import ColumnSummary, RowSample
from headrace.cli.report.page import escaped

TAGS = {
    "html",
    "head",
    "meta",
    "title",
    "style",
    "body",
    "h1",
    "h2",
    "h3",
    "p",
    "div",
    "b",
    "span",
    "table",
    "tr",
    "td",
    "th",
    "code",
    "pre",
    "svg",
    "rect",
}
ATTRIBUTES = {
    "lang",
    "charset",
    "name",
    "content",
    "http-equiv",
    "class",
    "viewbox",
    "preserveaspectratio",
    "role",
    "aria-label",
    "x",
    "y",
    "width",
    "height",
}
HOSTILE = [
    "<script>",
    "</title>",
    '"onload="',
    "'x",
    "&lt;",
    "-->",
    "<!--",
    "]]>",
    "<img src=x>",
    "\x00",
    "\x1b[2J",
    "é",
    "\u202e",
    "<",
]


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def page_of(folder: Path, text: str, *options: str) -> Tags:
    (folder / "in.csv").write_text(text, newline="")
    assert main(["report", str(folder / "in.csv"), "--html", str(folder / "o.html"), *options]) == 0
    html = (folder / "o.html").read_text()
    assert "http:" not in html and "https:" not in html and "url(" not in html
    parsed = Tags()
    parsed.feed(html)
    parsed.close()
    return parsed


def test_figures_of_a_small_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = page_of(tmp_path, "id;day;who\n1;2024-01-31;x\nbad\n4;;x\n9;2024-03-01;y\n", "--on-error", "reject")
    for shown in (
        "int64",
        "date32",
        "2024-01-31",
        "2024-03-01",
        "1 nulls (33.3%)",
        "66.7%",
        "too_few_fields",
        "3 rows + 1 rejected",
    ):
        assert shown in page.text
    assert {"svg", "rect"} <= page.tags
    assert capsys.readouterr().out == f"{tmp_path / 'o.html'}\n"


@pytest.mark.parametrize("seed", range(4))
def test_no_text_becomes_markup(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)

    def field() -> str:
        return '"' + "".join(draw.choices(HOSTILE, k=3)).replace('"', '""') + '"'

    lines = [",".join(field() for _ in range(3)) for _ in range(6)] + [field() + "x"]
    page = page_of(tmp_path, "\n".join(lines), "--sep", ",", "--header", "--on-error", "reject")
    assert page.tags <= TAGS and page.attributes <= ATTRIBUTES
    assert "\x1b" not in page.text and "\x00" not in page.text


def test_escaped_text_is_shown_whole_or_cut() -> None:
    assert escaped("<a & b>") == "&lt;a &amp; b&gt;"
    assert escaped("x" * 9, 5) == "xxxxx…"


def test_a_full_sample_is_thinned_alike_in_all_columns() -> None:
    chosen, one, other = RowSample(100), ColumnSummary(), ColumnSummary()
    numbers = b"".join(b"%d,%s\n" % (value, b"" if value % 2 else b"%d.0" % value) for value in range(5000))
    table = read_csv(b"one,other\n" + numbers)
    steps = set()
    for begin in range(0, 5000, 50):
        places = chosen.places(50)
        for name, summary in (("one", one), ("other", other)):
            summary.add(table[name][begin : begin + 50], chosen, places)
        steps.add(chosen.step)
        assert all(map(chosen.has, chosen.chosen)) and one.sample == chosen.chosen
    assert (one.rows, one.lowest, one.highest, one.nulls, other.nulls) == (5000, 0, 4999, 0, 2500)
    assert 30 <= len(one.sample) <= 120 and one.step == chosen.step == 64 and {1, 2, 4, 8, 16, 32, 64} == steps
    assert other.sample == [None if row % 2 else row for row in one.sample]
    assert len({row // 64 for row in one.sample}) == len(one.sample) == 5000 // 64
    assert len({row % 64 for row in one.sample}) > 30
    assert min(one.histogram()) > 0


def test_the_input_is_not_overwritten_and_a_failure_leaves_no_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "in.csv"
    source.write_text("a,b\n1,2\n3\n4,5\n6,7\n8,9\n")
    assert main(["report", str(source), "--html", str(source)]) == 2
    assert "is a file that is read" in capsys.readouterr().err
    assert main(["report", str(source), "--html", str(tmp_path / "o.html"), "--on-error", "raise"]) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]
