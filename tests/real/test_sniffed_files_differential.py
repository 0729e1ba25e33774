"""Compares the sniffer's proposals for the small files of csv-spectrum, DuckDB and `data/synthetic` with a person's answers.

`data/sniffed.csv` began as the proposals themselves. Each was then compared with its file by eye and with DuckDB's sniffer, and
corrected where a person would decide otherwise. `sep` is empty for a single column. `quote` is empty if the file has none or is
UTF-16. `left_out` counts lines before the table and comments.
"""

import csv
from dataclasses import dataclass
from pathlib import Path

import pytest

import headrace

DATA = Path(__file__).parents[1] / "data"

NOT_FOUND = {
    "auto/empty_header.csv",  # ,, over values: a header without a name
    "comments/14648.csv",  # comments after data, which headrace does not read
    "comments/mid_line.csv",
    "comments/mid_line_header.csv",
    "comments/mid_line_invalid.csv",
    "comments/only_midline.csv",
    "comments/simple_comma.csv",  # , for comments, where ; separates
    "multidelimiter/aa_delim.csv",  # letters as separators: 1aa2
    "multidelimiter/aa_delim_quoted.csv",
    "multidelimiter/aa_delim_quoted_2.csv",
    "multidelimiter/aaa_delim.csv",
    "multidelimiter/aaaa_delim.csv",
    "multidelimiter/aaaa_delim_rn.csv",
    "multidelimiter/ab_delim.csv",
}


@dataclass(frozen=True)
class Expected:
    """A line of the table."""

    file: str
    sep: str
    quote: str
    escape: str
    columns: int
    header: bool
    left_out: int


def expected():
    with (DATA / "sniffed.csv").open(newline="") as stream:
        return [
            Expected(
                row["file"],
                row["sep"],
                row["quote"],
                row["escape"],
                int(row["columns"]),
                row["header"] == "true",
                int(row["left_out"]),
            )
            for row in csv.DictReader(stream)
        ]


def is_right(one):
    sniffed = headrace.sniff_csv(DATA / one.file)
    shape = (sniffed.sep if one.sep else "", sniffed.escape_char or "", len(sniffed.schema), sniffed.header, len(sniffed.skipped))
    wanted = (one.sep, one.escape, one.columns, one.header, one.left_out)
    return shape == wanted and one.quote in ("", sniffed.quote_char)


@pytest.mark.parametrize("one", expected(), ids=lambda one: one.file)
def test_as_a_person_says(one):
    assert is_right(one) == (one.file.removeprefix("duckdb-csv/") not in NOT_FOUND), str(headrace.sniff_csv(DATA / one.file))


@pytest.mark.parametrize("one", expected(), ids=lambda one: one.file)
def test_a_read_accounts_for_every_line(one):
    # Not even a wrong proposal may lose a record; some files are malformed on purpose, so faults are kept as rejects.
    table = headrace.read_csv(DATA / one.file, dialect="auto", on_error="reject", short_records="null", long_records="collect")
    table.report.check()
    sniffed = table.report.sniffed
    assert table.report.skipped.preamble + table.report.skipped.comment >= len(sniffed.skipped) - table.report.skipped.blank
    assert table.report.skipped.header == sniffed.header


def test_more_are_right_than_by_peers():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()

    def by_duckdb(path):
        query = "SELECT Delimiter, HasHeader, len(Columns) FROM sniff_csv(?)"
        try:
            return connection.execute(query, [str(path)]).fetchone()
        except duckdb.Error:
            return None

    def by_python(path):
        try:
            text = path.read_text()
            return csv.Sniffer().sniff(text).delimiter, csv.Sniffer().has_header(text)
        except (csv.Error, UnicodeDecodeError):
            return None

    right = {"headrace": 0, "duckdb": 0, "python": 0}
    for one in expected():
        wanted = (one.sep, one.header, one.columns)
        sniffed = headrace.sniff_csv(DATA / one.file)
        right["headrace"] += (sniffed.sep if one.sep else "", sniffed.header, len(sniffed.schema)) == wanted
        if (found := by_duckdb(DATA / one.file)) is not None:
            right["duckdb"] += (found[0] if one.sep else "", *found[1:]) == wanted
        if (guessed := by_python(DATA / one.file)) is not None:
            right["python"] += (guessed[0] if one.sep else "", guessed[1]) == wanted[:2]
    assert right["headrace"] >= 135, right
    assert right["headrace"] > right["duckdb"] > right["python"], right
