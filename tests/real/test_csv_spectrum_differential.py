"""Tests csv-spectrum: twelve small files and the JSON of their contents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import headrace

SPECTRUM = Path(__file__).parents[1] / "data/csv-spectrum"
NAMES = sorted(path.stem for path in (SPECTRUM / "csvs").glob("*.csv"))
WRONG = "location_coordinates"


def rows(table: headrace.Table) -> list[dict[str, str | None]]:
    table.report.check()
    assert table.report.records == table.num_rows + table.report.rejected + table.report.skipped.total
    columns = table.to_pydict()
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def read_texts(name: str, **options: object) -> headrace.Table:
    """Every field as text: the JSON knows neither numbers nor nulls."""
    return headrace.read_csv(SPECTRUM / f"csvs/{name}.csv", header=True, infer_schema=False, null_values=(), **options)  # type: ignore[arg-type]


def expectation(name: str) -> list[dict[str, str]]:
    found = json.loads((SPECTRUM / f"json/{name}.json").read_bytes())
    return found if isinstance(found, list) else [found]


def test_all_twelve_are_here() -> None:
    assert len(NAMES) == 12
    assert sorted(path.stem for path in (SPECTRUM / "json").glob("*.json")) == NAMES


@pytest.mark.parametrize("name", [name for name in NAMES if name != WRONG])
def test_file_is_what_its_json_says(name: str) -> None:
    table = read_texts(name)
    assert rows(table) == expectation(name)
    assert len(table.rejects) == 0


def test_wrong_expectation() -> None:
    """The JSON has another phone number than the file; the rest of the record agrees.

    A field of the file is unquoted and has quotes in it (seconds of arc): they are text, with quoting and without.
    """
    table = read_texts(WRONG)
    assert rows(table) == rows(read_texts(WRONG, quote_char=None)) and len(table.rejects["kind"]) == 0
    (ours,), (theirs,) = rows(table), expectation(WRONG)
    assert ours == {
        "Contact Phone Number": "2095257564",
        "Location Coordinates": "37\ufffd36'37.8\"N 121\ufffd2'17.9\"W",
        "Cities": "Modesto",
        "Counties": "Stanislaus",
    }
    assert {name: (ours[name], theirs[name]) for name in ours if ours[name] != theirs[name]} == {
        "Contact Phone Number": ("2095257564", "1234567890")
    }
    assert ours.keys() == theirs.keys()
    text = (SPECTRUM / f"csvs/{WRONG}.csv").read_bytes()
    assert b"2095257564" in text
    assert b"1234567890" not in text


def test_quotes_within_an_unquoted_field_are_a_fault_if_asked() -> None:
    with pytest.raises(headrace.ParseError) as caught:
        read_texts(WRONG, strict_quotes=True)
    text = (SPECTRUM / f"csvs/{WRONG}.csv").read_bytes()
    assert (caught.value.kind, caught.value.record, caught.value.line) == ("quote", 1, 2)
    assert caught.value.byte == text.index(b'"N')
    rejecting = read_texts(WRONG, on_error="reject", strict_quotes=True)
    assert rows(rejecting) == []
    assert (rejecting.report.records, rejecting.report.rejected, rejecting.report.skipped.header) == (2, 1, 1)
    assert rejecting.rejects["kind"].to_pylist()[0] == "quote"


@pytest.mark.parametrize("name", ["empty", "empty_crlf"])
def test_quoted_empty_is_text_and_null_only_if_asked(name: str) -> None:
    strict = headrace.read_csv(SPECTRUM / f"csvs/{name}.csv")
    assert {column: str(kind) for column, kind in strict.schema.items()} == {"a": "int64", "b": "string", "c": "string"}
    assert rows(strict) == [{"a": 1, "b": "", "c": ""}, {"a": 2, "b": "3", "c": "4"}]
    null = headrace.read_csv(SPECTRUM / f"csvs/{name}.csv", quoted_null=True)
    assert rows(null) == [{"a": 1, "b": None, "c": None}, {"a": 2, "b": 3, "c": 4}]
