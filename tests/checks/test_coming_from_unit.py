"""The check of words finds rows without an option, rows that occur twice, and a page that is out of date."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks import coming_from, options

TABLE = """\
WORDS = (
    ignored("engine", "pandas", why="there is one engine"),
    refused("chunksize", "pandas", use="use scan_csv"),
    translated("all_varchar", "duckdb", by=by.all_varchar, meaning="`infer_schema=False`"),
)
"""
TEXT = """\
TEXT_OPTIONS = (
    Option(
        "sep",
        default=",",
        parse=text,
        help="separator",
        words=(option("sep", "pandas", meaning="literal"), option("delimiter", "pandas", "cudf")),
    ),
)
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    files = {
        coming_from.TABLE: TABLE,
        options.TABLES["text"]: TEXT,
        coming_from.PAGE: "<!-- words -->\n<!-- end of words -->\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    page = tmp_path / coming_from.PAGE
    page.write_text(coming_from.with_tables(page.read_text(), coming_from.rows_of(tmp_path), options.rows_of(tmp_path)))
    return tmp_path


def messages(tree: Path) -> list[str]:
    return [finding.message for finding in coming_from.check(tree)]


def test_a_tree_in_agreement_has_no_findings(tree: Path) -> None:
    assert messages(tree) == []
    page = (tree / coming_from.PAGE).read_text()
    assert "## pandas\n\n| there | here |\n| --- | --- |\n| `chunksize` | an error: use scan_csv |\n" in page
    assert "| `delimiter` | `sep` |\n| `engine` | no effect: there is one engine |\n| `sep` | the same: literal |\n" in page
    assert page.count("| `delimiter` | `sep` |") == 2


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        (coming_from.TABLE, 'ignored("engine"', 'ignored("sep"', "sep is an option too"),
        (coming_from.TABLE, '"chunksize"', '"engine"', "engine occurs twice"),
        (coming_from.TABLE, "one engine", "an engine", "the tables of words are out of date"),
        (coming_from.PAGE, "<!-- words -->", "", "has no tables of words"),
    ],
)
def test_a_difference_is_found(tree: Path, name: str, old: str, new: str, message: str) -> None:
    path = tree / name
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    assert any(message in found for found in messages(tree)), messages(tree)
