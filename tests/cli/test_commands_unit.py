"""Tests `headrace schema`, `head` and `count`: their output for small texts, and that it agrees with `read_csv`."""

from __future__ import annotations

import io
import json
from itertools import pairwise
from pathlib import Path

import duckdb
import pytest

import headrace
from headrace.cli.main import main

TEXT = 'id,price,"a ""b"""\n1,,x\n\n# no record\n2,0.5,y\n7\n'


@pytest.fixture
def source(tmp_path: Path) -> str:
    path = tmp_path / "in.csv"
    path.write_text(TEXT)
    return str(path)


def said_by(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    assert main(command) == 0
    return capsys.readouterr().out


def test_schema_shows_types_nulls_and_what_forced_them(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", source, "--comment", "#", "--dtypes", 'a "b"=string']) == 0
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        "name   type     nulls  evidence",
        "id     int64        0  record 1: '1'",
        "price  float64      1  record 2: '0.5'",
        'a "b"  string       0  given',
    ]
    assert said.err.startswith("headrace: 1 fault, 1 record rejected\n  record 3, line 6")


def test_schema_as_json(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    columns = json.loads(said_by(capsys, "schema", source, "--comment", "#", "--json", "--columns", "price,id"))
    assert columns[1] == {
        "name": "id",
        "type": "int64",
        "nulls": 0,
        "inferred": True,
        "evidence": {"record": 1, "byte": 19, "text": "1", "file": None},
    }
    assert [column["name"] for column in columns] == ["price", "id"]


def test_schema_as_sql_makes_a_table_of_the_same_types(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "all types.2024.csv"
    source.write_text(
        'flag,small,big,real,day,at,instant,fine,"say ""hi"""\n'
        "true,1,18446744073709551615,0.5,2024-01-31,2024-01-31T10:00:00,2024-01-31T10:00:00Z,2024-01-31T10:00:00.000000001,x\n"
    )
    statement = said_by(capsys, "schema", str(source), "--sql", "--shrink", "--dtypes", "real=float32")
    with duckdb.connect() as connection:
        connection.execute(statement)
        made = connection.sql('select * from "all types"').types
        table = headrace.read_csv(source, shrink=True, dtypes={"real": "float32"})
        assert made == table.to_duckdb(connection).types
    assert '"say ""hi""" VARCHAR' in statement


def test_head_shows_the_first_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "in.csv"
    source.write_text("n\n" + "".join(f"{i}\n" for i in range(100)) + "text\n")
    lines = said_by(capsys, "head", str(source)).splitlines()
    assert lines == ["shape: (10, 1)", "n", "int64", "─────", *map(str, range(10))]
    assert said_by(capsys, "head", str(source), "-n", "30").splitlines()[4:] == [str(i) for i in range(30)]
    assert said_by(capsys, "head", str(source), "--n-rows", "0").splitlines()[4:] == []
    assert said_by(capsys, "head", str(source), "-n", "1000").splitlines()[2] == "string"


def test_head_goes_on_past_bad_data_and_tells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "in.csv"
    source.write_text("a,b\n1,2\n3\nx,5\n")
    assert main(["head", str(source), "--dtypes", "a=int64"]) == 0
    said = capsys.readouterr()
    assert [line.replace(" ", "") for line in said.out.splitlines()[4:]] == ["1│2", "null│5"]
    assert "2 faults, 1 record rejected" in said.err
    assert main(["head", str(source), "--on-error", "raise"]) == 1


def test_count_counts_what_a_read_counts(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["count", source, "--comment", "#"]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        "records   6",
        "rows      2",
        "rejected  1",
        "header    1",
        "blank     1",
        "comment   1",
    ]
    assert "too_few_fields: '7'" in said.err


@pytest.mark.parametrize(
    "options",
    [[], ["--no-header"], ["--comment", "#", "--keep-blank-lines"], ["--skip-rows", "1", "--skip-footer", "1"]],
)
def test_count_agrees_with_a_whole_read(source: str, options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    names = {"--no-header": ("header", False), "--keep-blank-lines": ("skip_blank_lines", False)}
    read = {"--comment": "comment", "--skip-rows": "skip_rows", "--skip-footer": "skip_footer"}
    given = dict(names[option] for option in options if option in names)
    for option, value in pairwise(options):
        if option in read:
            given[read[option]] = value if option == "--comment" else int(value)
    report = headrace.read_csv(source, on_error="null", **given).report
    counts = json.loads(said_by(capsys, "count", source, "--json", *options))
    skipped = counts.pop("skipped")
    assert counts == {"records": report.records, "rows": report.rows, "rejected": report.rejected}
    assert counts["records"] == counts["rows"] + counts["rejected"] + sum(skipped.values())
    assert sum(skipped.values()) == report.skipped.total


def test_count_names_what_options_left_out(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["count", source, "--comment", "#", "--skip-rows", "1", "--no-header", "--skip-footer", "1"]
    lines = said_by(capsys, *command, "--skip-rows-after-header", "1").splitlines()
    assert lines[-3:] == ["preamble      1", "skipped rows  1", "footer        1"]


def test_a_minus_is_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a\n1\n2\n")))
    assert said_by(capsys, "count", "-").splitlines()[1] == "rows      2"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a\n1\n2\n")))
    assert said_by(capsys, "schema", "-", "--sql").startswith('CREATE TABLE "stdin"')


def test_several_files_and_patterns_are_one_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for year in (2023, 2024):
        folder = tmp_path / f"year={year}"
        folder.mkdir()
        (folder / "a.csv").write_text(f"n\n{year}\n{year}5\n")
    files = [str(tmp_path / f"year={year}" / "a.csv") for year in (2023, 2024)]
    assert said_by(capsys, "count", *files).splitlines()[:2] == ["records   6", "rows      4"]
    pattern = str(tmp_path / "*" / "*.csv")
    assert [line.split()[0] for line in said_by(capsys, "schema", pattern).splitlines()] == ["name", "n", "year"]
    assert [line.split()[0] for line in said_by(capsys, "schema", pattern, "--no-hive").splitlines()] == ["name", "n"]
    out = tmp_path / "out.csv"
    summary = said_by(capsys, "load", *files, "--to", str(out), "--file-paths", "file")
    assert f"{files[0]!r} and 1 more -> {str(out)!r}: 4 rows, 3 columns" in summary
    assert out.read_text().splitlines()[1] == f"2023,2023,{files[0]}"


def test_a_fault_in_one_of_several_files_names_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text("a,b\n1,2\n")
    bad.write_text("a,b\n3\n")
    assert main(["count", str(good), str(bad)]) == 0
    assert f"  {str(bad)!r}, record 1, line 2, byte 5: too_few_fields: '3'" in capsys.readouterr().err
    assert main(["load", str(good), str(bad), "--to", str(tmp_path / "o.csv")]) == 1
    assert str(bad) in capsys.readouterr().err


def test_evidence_in_one_of_several_files_names_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "1.csv").write_text("a\n1\n")
    (tmp_path / "2.csv").write_text("a\n2\n0.5\n")
    files = [str(tmp_path / "1.csv"), str(tmp_path / "2.csv")]
    assert f"{files[1]!r} record 2: '0.5'" in said_by(capsys, "schema", *files)
    found = json.loads(said_by(capsys, "schema", *files, "--json"))[0]["evidence"]
    assert (found["file"], found["record"], found["text"]) == (files[1], 2, "0.5")


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".csv", ".tsv", ".csv.gz", ".duckdb"])
def test_load_writes_every_format(source: str, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"out{suffix}"
    assert main(["load", source, "--to", str(out), "--comment", "#", "--on-error", "reject", "-q"]) == 0
    assert out.stat().st_size > 0
    if suffix == ".csv":
        assert out.read_bytes().replace(b"\r", b"") == b'id,price,"a ""b"""\n1,,x\n2,0.5,y\n'
    if suffix == ".duckdb":
        with duckdb.connect(str(out)) as connection:
            assert connection.sql("from out").fetchall() == [(1, None, "x"), (2, 0.5, "y")]
