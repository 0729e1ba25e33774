"""Tests whether the first record is a header: one test for each rule, and the same result from every reader."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest

import headrace
from headrace import Context, read_csv, scan_csv, sniff_csv
from headrace.testing.compare import assert_same_table
from headrace.testing.reference import ReferenceOptions
from headrace.testing.reference import read as read_reference
from tests.tiers import seeds

HEADERS = {
    "years beside a name": b"name,2023,2024\nRome,1,2\n",
    "dates beside a name": b"name,2024-01-01,2024-02-01\nRome,1,2\n",
    "dates over numbers": b"2024-01-01,2024-02-01\n1,2\n3,4\n",
    "numbers over dates": b"1,2\n2024-01-01,2024-02-01\n",
    "a name over numbers": b"n,1\n5,6\n",
    "numbers over text": b"2023,2024\nx,y\n",
    "no name over row labels": b",0,1\n0,5,6\n1,7,8\n",
    "no name over labels of text": b",2023,2024\nRome,1,2\nOslo,3,4\n",
    "no record below": b"name,2023\n",
    "the header again below": b"name,2023\nRome,1\nname,2023\nOslo,2\n",
    "booleans over numbers": b"n,true,false\nx,1,2\n",
    "text alone": b"a,b\nx,y\n",
    "text alone, again below": b"a\nb\na\n",
}
DATA = {
    "numbers over numbers": b"1,2\n3,4\n",
    "fractions over whole numbers": b"1.5,2\n3,4\n",
    "dates over dates": b"2024-01-01,1\n2024-01-02,2\n",
    "booleans over booleans": b"true,1\nfalse,2\n",
    "text again below": b"open,1\nclose,2\nopen,3\n",
    "text again below but for its number": b"p1,1\np2,2\np13,3\n",
    "a value twice": b"Rome,1,1\nOslo,2,3\n",
    "numbers without a record below": b"1,2\n",
    "numbers over nulls": b"1,2\n,\n",
    "numbers over numbers with a stray word": b"1,2\n3,n/a\n5,6\n",
    "a missing value": b"1,,3\n4,5,6\n",
    "empty": b",\n1,2\n",
}
CASES = [(text, True) for text in HEADERS.values()] + [(text, False) for text in DATA.values()]
NAMES = [*HEADERS, *DATA]


@pytest.mark.parametrize(("text", "is_header"), CASES, ids=NAMES)
def test_every_reader_decides_alike(text: bytes, is_header: bool, tmp_path: Path) -> None:
    table = read_csv(text)
    assert (table.report.skipped.header, table.report.header.is_header) == (is_header, is_header)
    assert table.report.header.reason
    table.report.check()
    path = tmp_path / "t.csv"
    path.write_bytes(text)
    several = read_csv([text, path])
    assert (several.column_names, several.report.header) == (table.column_names, table.report.header)
    scans = [
        scan_csv(source, batch_bytes=size)
        for size in (1, 1 << 20)
        for source in (text, path, io.BytesIO(text), Pipe(text), [text])
    ]
    for scan in scans:
        batches = scan.read()
        assert (batches.to_pydict(), scan.report.header) == (table.to_pydict(), table.report.header)
    sniffed = sniff_csv(text, sep=",")
    # The sniffer looks closer where there is doubt.
    if text not in (HEADERS["no record below"], HEADERS["text alone, again below"]):
        assert (sniffed.header, sniffed.header_reason) == (is_header, table.report.header.reason)
    by_itself = read_csv(text, dialect="auto", sep=";").report
    sniffed = by_itself.sniffed
    assert (by_itself.header.is_header, by_itself.header.reason) == (sniffed.header, sniffed.header_reason)


class Pipe(io.RawIOBase):
    """A source that can be read once only."""

    def __init__(self, text: bytes) -> None:
        self._text = io.BytesIO(text)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        return self._text.readinto(buffer)


def test_the_report_says_what_was_decided_and_why() -> None:
    doubt = "its fields could be names or values ('name' is text over 'Rome'), and in doubt they are names"
    assert f"the first record is taken for the header: {doubt}" in str(read_csv(HEADERS["years beside a name"]).report)
    why = "all its fields are values that could stand in their columns ('1' is a number over '3')"
    assert f"the first record is taken for data: {why}" in str(read_csv(b"1,2\n3,4\n").report)
    given = read_csv(b"1,2\n3,4\n", header=True).report
    assert (given.header.is_header, given.header.inferred) == (True, False)
    assert "taken for" not in str(given)


@pytest.mark.parametrize(
    "options",
    [{"columns": ["2023"]}, {"dtypes": {"2023": int}}, {"null_values": {"2023": "x"}}, {"date_format": {"2023": "%Y-%m-%d"}}],
    ids=lambda options: next(iter(options)),
)
def test_an_unknown_column_tells_of_the_header(options: dict[str, object]) -> None:
    for source in b"2023,2024\n1,2\n", [b"2023,2024\n1,2\n"]:
        with pytest.raises(headrace.OptionError, match=r"'2023'.*first record is taken for data: .*; pass header=True if"):
            read_csv(source, **options)
    with pytest.raises(headrace.OptionError, match=r"taken for the header.*; pass header=False if it is not"):
        read_csv(b"a,b\n1,2\n", columns=["c"])
    with pytest.raises(headrace.OptionError) as given:
        read_csv(b"a,b\n1,2\n", header=True, columns=["c"])
    assert "first record" not in str(given.value)


def test_a_missing_column_of_a_table_tells_of_the_header() -> None:
    with pytest.raises(KeyError, match="taken for data"):
        read_csv(b"2023,2024\n1,2\n")["2023"]


def test_a_schema_that_names_a_field_of_the_first_record() -> None:
    schema = {"name": "string", "2023": "int64"}
    assert read_csv(b"2023,name\n1,x\n", schema=schema).to_pydict() == {"2023": [1], "name": ["x"]}
    assert read_csv(b"Rome,1\n", schema=schema).to_pydict() == {"name": ["Rome"], "2023": [1]}
    with pytest.raises(headrace.OptionError, match="schema lacks column '2024'"):
        read_csv(b"name,2023,2024\nRome,1,2\n", schema=schema)


def test_options_of_values_count() -> None:
    assert read_csv(b"1,5;2,5\n3,5;4,5\n", sep=";", decimal=",").report.skipped.header == 0
    assert read_csv(b"yes,1\nno,2\n", true_values="yes", false_values="no").report.skipped.header == 0
    assert read_csv(b"1,2\n-,-\n-,3\n", null_values="-").report.skipped.header == 0
    assert read_csv(b"31.1.2024,1\n1.2.2024,2\n", date_format="%d.%m.%Y").report.skipped.header == 0


def test_records_far_below_do_not_decide() -> None:
    below = b"x%d,1\n" * 101 % tuple(range(101))
    assert read_csv(b"a,1\n" + below + b"a,2\n").report.header.is_header
    assert not read_csv(b"a,1\n" + below[: below.index(b"x99")] + b"a,2\n").report.header.is_header
    long = b'"' + b"x" * (128 << 10) + b'"'
    assert read_csv(b"a,1\n" + long + b",2\na,3\n").report.header.is_header
    for batch_bytes in 1 << 10, 1 << 20:
        source = Pipe(b"a,1\n" + long + b",2\na,3\n")
        assert scan_csv(source, batch_bytes=batch_bytes).read().report.header.is_header


def test_a_quote_that_never_closes_is_looked_at_up_to_a_limit() -> None:
    text = b'1,2\n3,4\n5,"6\n' + b"7,8\n" * (1 << 18)
    table = read_csv(text, on_error="reject")
    assert (table.num_rows, table.report.header.is_header) == (2, False)


@pytest.mark.parametrize("seed", seeds(60))
def test_agrees_with_the_reference(seed: int) -> None:
    chosen = random.Random(seed)
    fields = [b"a", b"b", b"", b"1", b"2", b"2024", b"1.5", b"2024-01-01", b"true", b"12:30:15", b"n/a"]
    width = chosen.randint(1, 3)
    rows = [[chosen.choice(fields) for _ in range(width)] for _ in range(chosen.choice((1, 2, 3, 6)))]
    text = b"".join(b",".join(row) + b"\n" for row in rows if any(row))
    if not text:
        return
    expected = read_reference(text, ReferenceOptions())
    table = read_csv(text, context=Context(threads=1))
    assert table.report.skipped.header == expected.counts["header"], text
    assert_same_table(table, expected)
