"""Tests `headrace demo`: its output, that its answer is the known one, and that it would notice another."""

from __future__ import annotations

import csv
import hashlib
import subprocess
import sys
from importlib.resources import files

import pytest

from headrace import Table, read_csv
from headrace.cli import demo
from headrace.cli.main import main

TEXT = files("headrace.data").joinpath("flights.csv").read_bytes()


def test_it_shows_the_table_the_evidence_the_rejects_and_the_rate(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    for words in (
        "shape: (4_334, 19)",
        "395_267 bytes, 4_335 records = 4_334 rows + 0 rejected + 1 skipped (1 header, 0 blank, 0 comment)",
        "dep_delay: int64 (record 1: '2'; 31 null)",
        "time_hour: timestamp[us, UTC] (record 1: '2013-01-01T10:00:00Z'; 0 null)",
        "4_335 records = 4_332 rows + 2 rejected + 1 skipped",
        "'late'",
        "'too_few_fields'",
        " MB/s",
        "Checked: 4_334 flights over 4_561_824 miles",
        "headrace load YOUR.csv --to YOUR.parquet",
    ):
        assert words in said.out


def test_it_needs_no_optional_package() -> None:
    absent = "import sys; sys.modules.update(dict.fromkeys(['numpy', 'pyarrow', 'pandas', 'polars', 'duckdb']));"
    code = f"{absent} from headrace.cli.main import main; sys.exit(main(['demo']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_known_answers_are_those_of_the_csv_module() -> None:
    rows = list(csv.DictReader(TEXT.decode().splitlines()))
    assert (len(rows), sum(int(row["distance"]) for row in rows)) == (demo._ROWS, demo._MILES)
    table = read_csv(TEXT, null_values=("", "NA"))
    for name in table:
        found = table[name].to_pylist()
        if name == "time_hour":
            assert [value.strftime("%Y-%m-%dT%H:%M:%SZ") for value in found] == [row[name] for row in rows]
        else:
            assert ["NA" if value is None else str(value) for value in found] == [row[name] for row in rows]


def test_the_file_is_the_one_that_its_licence_describes() -> None:
    assert hashlib.sha256(TEXT).hexdigest() == "880530e7ce11bf097ba056f2f85f3d03c90af40057e5a3a2a6b43a5b91466642"
    licence = files("headrace.data").joinpath("LICENSE.txt").read_text()
    assert "CC0" in licence and "first 4334 records" in licence


def test_the_broken_text_differs_in_two_records_only() -> None:
    pairs = list(zip(TEXT.split(b"\n"), demo.break_two_records(TEXT).split(b"\n"), strict=True))
    assert [line for line, (before, after) in enumerate(pairs) if before != after] == [3, 6]
    assert pairs[3][1] == pairs[3][0].replace(b",2,", b",late,", 1)
    assert pairs[6][0].startswith(pairs[6][1]) and pairs[6][1].count(b",") == 8


@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_wrong_answer_is_noticed(which: int, capsys: pytest.CaptureFixture[str]) -> None:
    first = read_csv(TEXT, null_values=("", "NA"))
    broken = read_csv(demo.break_two_records(TEXT), null_values=("", "NA"), schema=first.schema, on_error="reject")
    header, _, records = TEXT.partition(b"\n")
    large = read_csv(header + b"\n" + records * demo._REPEATS, null_values=("", "NA"))
    good = [first, broken, large]
    assert demo.wrong_answers(*good) == []
    bad = list(good)
    bad[which] = without_last_row(good[which])
    assert demo._verdict(*bad) == 1
    said = capsys.readouterr()
    assert "wrong answer" in said.err and "Checked" not in said.out


def without_last_row(table: Table) -> Table:
    return Table(table[: len(table) - 1].columns, rejects=table.rejects, report=table.report)
