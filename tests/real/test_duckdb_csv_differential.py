"""Real files of DuckDB's tests, and synthetic ones in place of those with names of people, cell by cell against other readers.

All are UTF-8. One, goofs_escaped.csv, is no standard CSV: its quotes are escaped, which strict quoting rejects.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from inspect import signature
from itertools import product
from pathlib import Path
from runpy import run_path

import pytest
from peers import (
    PEERS,
    Difference,
    Format,
    because,
    cell_differences,
    check_evidence,
    different_cells,
    explained,
    read,
    type_differences,
)

import headrace
from headrace.testing.oracle import split

DATA = Path(__file__).parents[1] / "data"
FOLDERS = (DATA / "duckdb-csv/real", DATA / "synthetic")
GOOFS = "goofs_escaped.csv"
PIPE = Format(sep="|", header=False)
FORMATS = {
    "greek_utf8.csv": PIPE,
    GOOFS: Format(header=False, escape_char="\\"),
    "lineitem_sample.csv": PIPE,
    "residents_without_names.tsv": Format(sep="\t", header=False),
    "nfc_normalization.csv": PIPE,
    "nfc_normalization_rn.csv": PIPE,
    "ontime_sample.csv": Format(),
    "tmp2013-06-15.csv": Format(null_values=("", "NA")),
    "residents.tsv": Format(sep="\t"),
    "web_page.csv": PIPE,
}
SHAPES = {
    "greek_utf8.csv": (8, 3),
    GOOFS: (201, 5),
    "lineitem_sample.csv": (10, 16),
    "residents_without_names.tsv": (10, 94),
    "nfc_normalization.csv": (18819, 3),
    "nfc_normalization_rn.csv": (18819, 3),
    "ontime_sample.csv": (9, 110),
    "tmp2013-06-15.csv": (37459, 10),
    "residents.tsv": (600, 94),
    "web_page.csv": (60, 14),
}
NOT_TEXT: dict[str, dict[str, str]] = {
    "greek_utf8.csv": {"int64": "column_1 column_3"},
    GOOFS: {"int64": "column_1 column_2 column_3"},
    "lineitem_sample.csv": {
        "int64": "column_1 column_2 column_3 column_4 column_5",
        "float64": "column_6 column_7 column_8",
        "date32": "column_11 column_12 column_13",
    },
    "residents_without_names.tsv": {"int64": "column_1 column_16 column_24 column_31 column_33"},
    "nfc_normalization.csv": {},
    "nfc_normalization_rn.csv": {},
    "ontime_sample.csv": {
        "int64": "Year Quarter Month DayofMonth DayOfWeek AirlineID FlightNum OriginAirportID OriginAirportSeqID "
        "OriginCityMarketID OriginStateFips OriginWac DestAirportID DestAirportSeqID DestCityMarketID DestWac "
        "DepartureDelayGroups CRSArrTime ArrTime ArrivalDelayGroups DistanceGroup",
        "date32": "FlightDate",
        "float64": "DepDelay DepDelayMinutes DepDel15 ArrDelay ArrDelayMinutes ArrDel15 Cancelled Diverted CRSElapsedTime "
        "ActualElapsedTime Flights Distance",
    },
    "tmp2013-06-15.csv": {"int64": "size ip_id", "date32": "date", "time64[us]": "time"},
    "residents.tsv": {"int64": "region_id house_num zip_code age"},
    "web_page.csv": {
        "int64": "column_1 column_5 column_6 column_8 column_11 column_12 column_13 column_14",
        "date32": "column_3 column_4",
    },
}
"""Columns by inferred type; all others are strings."""

NO_ESCAPE = "Polars' reader has no escape character"
LEADING_ZEROS = "codes such as '06' stay text; a number would lose the zero"
NOTHING = "a column without a value is a string; pyarrow has a type for it"
TIME_OF_DAY = "a time of day counts microseconds, as a timestamp does; pyarrow counts seconds, Polars nanoseconds"
MONTH_FIRST = "10/08/2008 may be October or August; DuckDB decides by the values it samples, ours are ISO dates alone"

CELLS: dict[Difference, str] = because(NO_ESCAPE, GOOFS, "polars", "*")
"""Given the same types, no peer that can read a file differs in any cell."""

TYPES: dict[Difference, str] = {
    **because(NO_ESCAPE, GOOFS, "polars", "*"),
    **because(NOTHING, GOOFS, "pyarrow", "column_5"),
    **because(LEADING_ZEROS, "residents_without_names.tsv", "pyarrow polars", "column_3 column_30 column_32 column_41 column_43"),
    **because(MONTH_FIRST, "residents_without_names.tsv", "duckdb", "column_35"),
    **because(LEADING_ZEROS, "residents.tsv", "pyarrow polars", "register_num mail_zipcode"),
    **because(MONTH_FIRST, "residents.tsv", "duckdb", "registered"),
    **because(TIME_OF_DAY, "tmp2013-06-15.csv", "pyarrow polars", "time"),
    **because(LEADING_ZEROS, "ontime_sample.csv", "pyarrow polars", "DestStateFips CRSDepTime DepTime"),
    **because(
        NOTHING,
        "ontime_sample.csv",
        "pyarrow",
        "TaxiOut TaxiIn AirTime CarrierDelay WeatherDelay NASDelay SecurityDelay LateAircraftDelay TotalAddGTime LongestAddGTime "
        "DivAirportLandings DivReachedDest DivActualElapsedTime DivArrDelay DivDistance Div1AirportID Div1AirportSeqID "
        "Div1TotalGTime Div1LongestGTime Div2AirportID Div2AirportSeqID Div2TotalGTime Div2LongestGTime Div3AirportID "
        "Div3AirportSeqID Div3TotalGTime Div3LongestGTime Div4AirportID Div4AirportSeqID Div4TotalGTime Div4LongestGTime "
        "Div5AirportID Div5AirportSeqID Div5TotalGTime Div5LongestGTime column_110",
    ),
}


def _evidence_is(pattern: str) -> Callable[[headrace.Table, str], bool]:
    """Return a condition: the field that the report gives as the type's reason is such a text."""

    def holds(table: headrace.Table, column: str) -> bool:
        (report,) = (report for report in table.report.columns if report.name == column)
        return report.evidence is not None and bool(re.fullmatch(pattern, str(table[column][report.evidence.record - 1])))

    return holds


HOLDS: dict[str, Callable[[headrace.Table, str], bool]] = {
    NO_ESCAPE: lambda *_: "escape_char" not in signature(pytest.importorskip("polars").read_csv).parameters,
    LEADING_ZEROS: _evidence_is(r"0\d+"),
    NOTHING: lambda table, column: table[column].null_count == table.num_rows,
    TIME_OF_DAY: _evidence_is(r"\d\d:\d\d:\d\d"),
    MONTH_FIRST: _evidence_is(r"\d\d/\d\d/\d{4}"),
}
"""Conditions on our table that a reason implies."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files, none compressed."""
    here = tmp_path_factory.mktemp("real")
    for path in (path for each in FOLDERS for path in each.iterdir() if path.suffix in {".csv", ".tsv", ".gz"}):
        content = path.read_bytes()
        packed = path.suffix == ".gz"
        (here / (path.stem if packed else path.name)).write_bytes(gzip.decompress(content) if packed else content)
    return here


def test_no_file_is_left_out(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == FORMATS.keys() == SHAPES.keys() == NOT_TEXT.keys()


def test_no_explanation_is_for_another_file() -> None:
    assert {(file, peer) for file, _, peer in (CELLS | TYPES)} <= set(product(FORMATS, PEERS))


def test_comparison_sees_every_difference() -> None:
    pa = pytest.importorskip("pyarrow")
    ours = pa.table({"number": [0.0, 1.0, None, float("nan")], "text": ["", "a", None, "b"]})
    assert different_cells(ours, ours) == []
    theirs = pa.table({"number": [-0.0, 1.0000000000000002, 0.0, float("nan")], "text": [None, "a ", "", "b"]})
    assert different_cells(ours, theirs) == [(column, row) for column in ("number", "text") for row in (0, 1, 2)]


@pytest.mark.parametrize("name", FORMATS)
def test_types_and_counts(folder: Path, name: str) -> None:
    table = read(folder / name, FORMATS[name])
    assert (table.num_rows, table.num_columns) == SHAPES[name]
    assert (len(table.rejects), table.report.rejected, table.report.skipped.header) == (0, 0, int(FORMATS[name].header))
    kinds = {column: kind for kind, columns in NOT_TEXT[name].items() for column in columns.split()}
    assert {column: str(kind) for column, kind in table.schema.items()} == {
        column: kinds.get(column, "string") for column in table
    }
    check_evidence(folder / name, table)


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("name", FORMATS)
def test_cells(folder: Path, name: str, peer: str) -> None:
    pytest.importorskip("pyarrow")
    table = read(folder / name, FORMATS[name])
    assert cell_differences(peer, folder / name, FORMATS[name], table) == explained(CELLS, name, peer)


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("name", FORMATS)
def test_inferred_types(folder: Path, name: str, peer: str) -> None:
    pytest.importorskip("pyarrow")
    table = read(folder / name, FORMATS[name])
    assert type_differences(peer, folder / name, FORMATS[name], table) == explained(TYPES, name, peer)


@pytest.mark.parametrize("name", FORMATS)
def test_reasons_hold(folder: Path, name: str) -> None:
    table = read(folder / name, FORMATS[name])
    reasons = {(column, reason) for (file, column, _), reason in (CELLS | TYPES).items() if file == name}
    assert [(column, reason) for column, reason in reasons if not HOLDS[reason](table, column)] == []


@pytest.mark.parametrize("name", FORMATS)
def test_same_in_small_pieces(folder: Path, name: str) -> None:
    pytest.importorskip("pyarrow")
    whole = read(folder / name, FORMATS[name]).to_arrow()
    pieces = read(folder / name, FORMATS[name], chunk_bytes=997, threads=3).to_arrow()
    assert whole.schema == pieces.schema
    assert different_cells(whole, pieces) == []


def test_line_end_is_no_part_of_a_field(folder: Path) -> None:
    """The two files differ in LF and CR LF alone."""
    lf, crlf = (read(folder / name, PIPE).to_pydict() for name in ("nfc_normalization.csv", "nfc_normalization_rn.csv"))
    assert lf == crlf


def test_empty_name_of_the_header(folder: Path) -> None:
    """The header ends with a separator, so there is a last column without a name, and without a value."""
    table = read(folder / "ontime_sample.csv", FORMATS["ontime_sample.csv"])
    assert dict(table.report.renamed) == {"110: ''": "column_110"}


def test_escaped_quotes_raise_under_strict_quoting(folder: Path) -> None:
    text = (folder / GOOFS).read_bytes()
    with pytest.raises(headrace.ParseError) as caught:
        read(folder / GOOFS, Format(header=False))
    error = caught.value
    assert (error.kind, error.record, error.line, error.column) == ("quote", 4, 4, None)
    assert error.byte == text.index(b'\\"') + 2, "the quote closes, so what follows it is at fault"
    assert error.text.startswith('29782,494075,13,"FACT: In _\\"Sample')


def test_escaped_quotes_are_rejected_and_the_rest_is_read(folder: Path) -> None:
    """The rejects are exactly the lines with an escaped quote; the rows are those that the right dialect gives."""
    lines = (folder / GOOFS).read_bytes().splitlines(keepends=True)
    bad = [number for number, line in enumerate(lines, 1) if b'\\"' in line]
    starts = [sum(map(len, lines[:number])) for number in range(len(lines))]
    strict = read(folder / GOOFS, Format(header=False), on_error="reject")
    assert (strict.report.records, strict.num_rows, strict.report.rejected) == (201, 201 - len(bad), len(bad))

    rejects = strict.rejects.to_pydict()
    assert rejects["record"] == rejects["line"] == bad
    assert rejects["line_byte"] == [starts[number - 1] for number in bad]
    assert set(rejects["kind"]) == {"quote"}
    assert set(rejects["kept"]) == {False}
    assert rejects["text"] == [lines[number - 1].decode().rstrip("\n") for number in bad]

    escaped = read(folder / GOOFS, FORMATS[GOOFS]).to_pydict()
    kept = [number - 1 for number in range(1, len(lines) + 1) if number not in bad]
    assert strict.to_pydict() == {name: [values[row] for row in kept] for name, values in escaped.items()}


def test_rejects_are_where_the_oracle_finds_stray_quotes(folder: Path) -> None:
    text = (folder / GOOFS).read_bytes()
    strays = [record.strays[0] for record in split(text, headrace.Dialect()).records if record.strays]
    rejects = read(folder / GOOFS, Format(header=False), on_error="reject").rejects
    assert rejects["byte"].to_pylist() == strays


def test_synthetic_files_are_those_that_their_generator_writes(folder: Path) -> None:
    files = run_path(str(DATA / "synthetic/generate.py"))["files"]()
    assert {name: (folder / name).read_bytes() for name in files} == files
