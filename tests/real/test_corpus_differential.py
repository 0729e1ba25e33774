"""DuckDB's CSV tests against DuckDB and a third reader: nothing differs without a reason; docs/duckdb-corpus.md is current."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest
from corpus import COMMITTED, NOTES, PAGE, Case, Line, cases, compare, line, page, versions
from corpus_readers import Answer, Stated, difference, third_reader

CASES = {case.name: case for case in cases(COMMITTED)}
TEXT = PAGE.read_text(encoding="utf-8")
LINES = {found.name.strip("`"): found for found in map(Line.parse, TEXT.splitlines()) if found is not None}
WHOLE = os.environ.get("HEADRACE_DUCKDB_CSV")


def page_versions() -> str:
    return next(line for line in TEXT.splitlines() if line.startswith("Versions: "))[len("Versions: ") : -1]


def check(case: Case) -> None:
    """Each difference has a reason, each reason a difference; the page has the same line if its peers are those here."""
    outcome = compare(case)
    assert outcome.to_explain == set(case.why), outcome.differences
    found, written = line(outcome), LINES[case.name]
    assert (found.stated, found.headrace, found.verdict, found.why) == (
        written.stated,
        written.headrace,
        written.verdict,
        written.why,
    )
    if versions() == page_versions():
        assert found == written


@pytest.mark.parametrize("name", CASES)
def test_file(name: str) -> None:
    check(CASES[name])


@pytest.mark.skipif(WHOLE is None, reason="HEADRACE_DUCKDB_CSV does not say where the whole folder is")
def test_files_that_are_not_here() -> None:
    assert WHOLE is not None
    found = {case.name: case for case in cases(Path(WHOLE))}
    assert list(found) == list(LINES)
    folded = NOTES["folded"]
    assert sum(path.is_file() for path in (Path(WHOLE) / folded["folder"]).rglob("*")) == folded["count"]
    for name in found.keys() - CASES.keys():
        check(found[name])


def test_page_says_what_its_lines_say() -> None:
    assert page(list(LINES.values()), page_versions()) == TEXT


def test_all_files_but_those_left_out_are_here() -> None:
    assert CASES.keys() == LINES.keys() - NOTES["left_out"].keys()
    assert NOTES["left_out"].keys() <= LINES.keys()


def test_notes_are_of_files_and_reasons_are_used() -> None:
    assert NOTES["files"].keys() <= LINES.keys()
    used = {reason for notes in NOTES["files"].values() for reason in notes.get("why", {}).values()}
    assert used == NOTES["reasons"].keys()


def test_dialects_are_those_that_the_sniffer_is_held_to() -> None:
    """Both tables were written down by a look at the files, each for itself."""
    with (COMMITTED.parent / "sniffed.csv").open(newline="") as stream:
        rows = {row["file"].removeprefix("duckdb-csv/"): row for row in csv.DictReader(stream) if "duckdb-csv/" in row["file"]}
    assert len(rows) > 100
    for name, row in rows.items():
        assert row["sep"] in {"", CASES[name].form.sep}, name


def test_line_is_read_as_it_is_written() -> None:
    written = Line("`a|b`", "", "1,000", "refuses: '1|2'", "csv: same", "differs", "")
    assert Line.parse(str(written)) == written
    assert Line.parse("| --- | --- | ---: | --- | --- | --- | --- |") is None


@pytest.mark.parametrize(
    ("ours", "theirs", "reader", "expected"),
    [
        ([("a", None)], [("a", None)], "DuckDB", ""),
        ([("a", None)], [("a", "")], "DuckDB", "1 cell"),
        ([("a", None)], [("a", "")], "csv", ""),
        ([("a", "b")], [("b", "a")], "PyArrow", "2 cells"),
        ([("a",)], [("a",), ("b",)], "csv", "2 rows"),
        ([("a", "b")], [("a",)], "csv", "1 column"),
        ([("a",)], None, "DuckDB", "refuses: no"),
        (None, [], "DuckDB", "reads 0 rows"),
        (None, None, "DuckDB", ""),
    ],
)
def test_comparison_sees_every_difference(ours: object, theirs: object, reader: str, expected: str) -> None:
    assert difference(Answer("headrace", ours), Answer(reader, theirs, "no")) == expected  # type: ignore[arg-type]


def test_third_reader_is_one_that_can() -> None:
    assert third_reader(Stated()) == "PyArrow"
    assert third_reader(Stated(sep="||")) == third_reader(Stated(short_records="null")) == "csv"
    assert third_reader(Stated(comment="#")) == "pandas"
