"""Tests that `headrace sniff` proposes the same as `sniff_csv`, for files and for standard input."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from headrace import sniff_csv
from headrace.cli.main import main

TEXT = b"made by hand\ncity;founded\n" + b"Rome;-753\nOslo;1048\n" * 5


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.csv"
    path.write_bytes(TEXT)
    return path


def said_by(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    assert main(["sniff", *command]) == 0
    return capsys.readouterr().out


def test_what_is_said_of_a_file(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = said_by(capsys, str(source))
    assert said == f"{sniff_csv(source)}\n"
    assert said.startswith("sep=';'")
    assert "skip_rows=1" in said


def test_json(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(said_by(capsys, str(source), "--json"))
    assert (found["sep"], found["header"], found["schema"]) == (";", True, {"city": "string", "founded": "int64"})
    assert found["skipped"] == [[1, "made by hand"]]


def test_what_is_given_is_not_questioned(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(said_by(capsys, str(source), "--json", "--no-header", "--skip-rows", "2", "--sep", ";"))
    assert (found["header"], found["skip_rows"], list(found["schema"])) == (False, 2, ["column_1", "column_2"])


def test_several_files(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "empty.csv"
    empty.touch()
    assert "number 2 of 2, the first that holds a record" in said_by(capsys, str(empty), str(source))


@pytest.mark.parametrize("repeats", [1, 20_000])
def test_standard_input(repeats: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A long stream is sniffed by its first 256 KB, without the line that they break off in."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXT + b"Lima;1535\n" * repeats)))
    found = json.loads(said_by(capsys, "-", "--json"))
    assert (found["sep"], found["agreement"], found["schema"]["founded"]) == (";", 1.0, "int64")
    assert found["sample_bytes"] == min(len(TEXT) + 10 * repeats, (256 << 10) // 10 * 10)


def test_nothing_to_look_at(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.csv").touch()
    assert main(["sniff", str(tmp_path / "empty.csv")]) == 1
    assert main(["sniff", str(tmp_path / "none.csv")]) == 3
    assert "none.csv" in capsys.readouterr().err
