"""Tests several files that misbehave (none, empty, changed, too many, too large for the limit) and invalid options."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import headrace.api.read.file_loads as reading
from headrace import Context, EmptyInputError, MemoryLimitError, NoMatchError, OptionError, ParseError, SourceError, read_csv


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(3):
        (tmp_path / f"{number}.csv").write_text(f"a,b\n{number},x\n")
    return tmp_path


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([], "a list without a source"),
        (iter(()), "a list without a source"),
        ([1], "source must be a path, bytes or a file object, not int"),
        ([[b"a\n1\n"]], "not list"),
        ({"a": 1}, "not dict"),
        (range(2), "not int"),
    ],
)
def test_no_sources(source: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        read_csv(source)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"glob": "yes"}, "glob must be True or False"),
        ({"union_by_name": 1}, "union_by_name must be True or False"),
        ({"include_file_paths": ""}, "name of a column"),
        ({"include_file_paths": 3}, "name of a column"),
        ({"include_file_paths": "b"}, "there is already a column 'b'"),
        ({"hive_partitioning": "yes"}, "unknown hive_partitioning 'yes'"),
        ({"hive_partitoning": True}, "did you mean 'hive_partitioning'"),
        ({"filename": "x", "include_file_paths": "y"}, "both given"),
    ],
)
def test_options_that_make_no_sense(folder: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        read_csv(folder / "*.csv", **options)


def test_nothing_matches(tmp_path: Path) -> None:
    with pytest.raises(NoMatchError, match="with nothing in it"):
        read_csv(tmp_path / "*.csv")
    with pytest.raises(NoMatchError, match="has no file"):
        read_csv(tmp_path, hive_partitioning=True)
    for number in range(7):
        (tmp_path / f"{number}.txt").touch()
    with pytest.raises(NoMatchError, match=r"'4\.txt' and 2 more in it"):
        read_csv(tmp_path / "*.csv")


def test_folders_match_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(NoMatchError):
        read_csv(tmp_path / "*.csv")
    with pytest.raises(SourceError, match="is a directory"):
        read_csv([tmp_path])


def test_a_missing_file_in_a_list(folder: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.csv"):
        read_csv([folder / "0.csv", folder / "none.csv"])


def test_a_file_that_is_something_else(folder: Path) -> None:
    (folder / "1.csv").write_bytes(b"PAR1\x15\x04")
    with pytest.raises(SourceError, match=r"1\.csv is Parquet"):
        read_csv(folder / "*.csv")


def test_empty_files(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").touch()
    with pytest.raises(EmptyInputError):
        read_csv([tmp_path / "empty.csv"] * 2)
    assert read_csv([tmp_path / "empty.csv"] * 2, schema={"a": int}).to_pydict() == {"a": []}
    assert read_csv([tmp_path / "empty.csv", b"a\n1\n", tmp_path / "empty.csv"]).to_pydict() == {"a": [1]}
    assert read_csv([b"a,b\n", b"a,b\n"], include_file_paths="f").to_pydict() == {"a": [], "b": [], "f": []}
    assert read_csv([b"", b"a\n1\n"], union_by_name=True).to_pydict() == {"a": [1]}


def test_a_malformed_header_names_its_file() -> None:
    with pytest.raises(ParseError, match=r"^<source 2>: header"):
        read_csv([b"a,b\n1,2\n", b'"a"x,b\n1,2\n'], names=["a", "b"], header=True)


@pytest.mark.parametrize("change", ["vanish", "grow", "replace"])
def test_a_file_that_changes_between_its_readings(folder: Path, change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second reading comes when the third file has made column a text."""
    (folder / "2.csv").write_text("a,b\ntext,x\n")
    load, calls = reading.load, []

    def load_and_change(*given: Any) -> Any:
        calls.append(given)
        loaded = load(*given)
        if len(calls) == 3:
            path = folder / "0.csv"
            if change == "vanish":
                path.unlink()
            elif change == "grow":
                path.write_text("a,b\n0,x\n1,y\n")
            else:
                (folder / "new").write_text("a,b\n1,x\n")
                os.replace(folder / "new", path)
        return loaded

    monkeypatch.setattr(reading, "load", load_and_change)
    with pytest.raises(OSError, match=r"0\.csv") as caught:
        read_csv(folder / "*.csv")
    assert isinstance(caught.value, FileNotFoundError if change == "vanish" else SourceError)


def test_descriptors_are_few_and_closed(tmp_path: Path) -> None:
    """More files than a process may have open."""
    before = len(os.listdir("/proc/self/fd"))
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n")
    assert read_csv([path] * 3000)["a"].to_pylist() == [1] * 3000
    with pytest.raises(ParseError):
        read_csv([path, b"a\nx\n"], dtypes=int)
    assert len(os.listdir("/proc/self/fd")) == before


def test_memory_limit_holds_for_all_files_together() -> None:
    text = b"a,b\n" + b"12345,some text\n" * 50_000
    alone = Context(memory_limit=4 << 20)
    assert read_csv([text], context=alone).num_rows == 50_000
    with pytest.raises(MemoryLimitError, match="memory_limit"):
        read_csv([text] * 8, context=alone)
    assert read_csv([text] * 8, context=Context(memory_limit=32 << 20)).num_rows == 400_000


def test_strings_of_all_kinds_of_offsets() -> None:
    table = read_csv([b"a\nx\n", b"a\nyy\n"], dtypes={"a": "large_string"})
    assert (str(table["a"].type), table["a"].to_pylist()) == ("large_string", ["x", "yy"])
