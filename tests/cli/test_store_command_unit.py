"""Tests `headrace store` on small files."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import headrace
from headrace.cli.main import main
from headrace.columns.column import Column
from headrace.store.files.file_system import HostFiles

CITIES = "city,founded\nRome,-753\nOslo,1048\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """Return a folder with two files of text and a store `s` of the first."""
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text(CITIES)
    Path("b.csv").write_text("city,founded\nBonn,11\nRome,5\n")
    assert main(["store", "create", "s", "--columns", "city=string,founded=int64", "--key", "city"]) == 0
    assert main(["store", "append", "s", "a.csv"]) == 0
    assert capsys.readouterr().out == "'s': 2 columns\n's': 2 rows added, 2 rows\n"
    return tmp_path


def test_create_append_merge_and_query(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", "append", "s", "b.csv", "--on-duplicate", "replace", "--sync", "batch"]) == 0
    assert main(["store", "merge", "s"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "'s': 2 rows added, 3 rows"
    assert main(["store", "sql", "s", "select city from store where founded > 5 order by city"]) == 0
    assert capsys.readouterr().out.splitlines()[4:] == ["Bonn", "Oslo"]
    assert main(["store", "sql", "s", "from store order by founded", "--to", "out.csv"]) == 0
    assert Path("out.csv").read_text() == "city,founded\nRome,5\nBonn,11\nOslo,1048\n"


def test_columns_are_changed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--add", "rank=int8,day=date32,note=string,fee=float64,old=bool", "--rename", "founded=year"]
    defaults = [word for text in ("rank=7", "day=2024-01-31", "note=12", "fee=0") for word in ("--default", text)]
    assert main(["store", "alter", "s", *options, *defaults]) == 0
    assert main(["store", "alter", "s", "--drop", "old", "--widen", "rank=int64"]) == 0
    assert capsys.readouterr().out == "'s': 7 columns, 2 rows\n's': 6 columns, 2 rows\n"
    assert main(["store", "sql", "s", "from store order by city", "--to", "out.csv"]) == 0
    assert (
        Path("out.csv").read_text()
        == "city,year,rank,day,note,fee\nOslo,1048,7,2024-01-31,12,0.0\nRome,-753,7,2024-01-31,12,0.0\n"
    )
    assert main(["store", "alter", "s"]) == 2
    assert main(["store", "alter", "s", "--add", "x=int8", "--default", "x=300"]) == 2
    assert main(["store", "alter", "s", "--drop", "city"]) == 2
    said = capsys.readouterr().err
    assert "defaults of 'x': int8 does not have the value 300" in said and "drop has 'city', a column of the key" in said


def test_a_store_like_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", "create", "t", "--like", "a.csv"]) == 0
    with headrace.Store("t") as store:
        assert dict(store.schema) == {"city": "string", "founded": "int64"}
        assert len(store) == 0


def test_faults_of_a_text_are_reported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.csv").write_text("city,founded\nParis,x\nKyiv,482\n")
    assert main(["store", "append", "s", "bad.csv"]) == 1
    assert main(["store", "append", "s", "bad.csv", "--on-error", "reject"]) == 0
    said = capsys.readouterr()
    assert said.out == "'s': 1 row added, 3 rows\nleft out: 1 rejected, 0 by the policy for duplicates\n"
    assert "1 fault, 1 record rejected" in said.err


def test_rejects_are_written_to_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = [f"{city},{'x' if city > 'f' else 1}" for city in "abcdefghijklm"]
    Path("bad.csv").write_text("\n".join(["city,founded", *texts, "Rome,1", ""]))
    words = ["store", "append", "s", "bad.csv", "--on-error", "reject", "--on-duplicate", "keep", "--batch-bytes", "10"]
    assert main([*words, "--rejects", "out.csv"]) == 0
    said = capsys.readouterr()
    assert said.out == "'s': 6 rows added, 8 rows\nleft out: 7 rejected, 1 by the policy for duplicates\n"
    assert said.err.endswith("  all of them: 'out.csv'\n")
    rejects = headrace.read_csv("out.csv")
    assert rejects["record"].to_pylist() == list(range(7, 14))
    assert rejects["field"].to_pylist() == ["x"] * 7
    assert main(words) == 0
    assert "and 2 more; headrace store append --rejects FILE keeps them all" in capsys.readouterr().err


def test_rejects_of_batches_before_an_error_are_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.csv").write_text("city,founded\nBonn,x\nKyiv,482\nRome,1\n")
    words = ["store", "append", "s", "bad.csv", "--on-error", "reject", "--batch-bytes", "1", "--rejects", "out.csv"]
    assert main(words) == 2
    assert "the key 'Rome' is in the store" in capsys.readouterr().err
    assert headrace.read_csv("out.csv")["text"].to_pylist() == ["Bonn,x"]
    with headrace.Store("s") as store:
        assert store.table()["city"].to_pylist() == ["Rome", "Oslo", "Kyiv"]


def test_texts_without_a_header(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bare.csv").write_text("Kyiv,482\n")
    assert main(["store", "append", "s", "bare.csv", "--no-header"]) == 0
    Path("swapped.csv").write_text("11,Bonn\n")
    assert main(["store", "append", "s", "swapped.csv", "--no-header", "--names", "founded,city"]) == 0
    with headrace.Store("s") as store:
        assert store.lookup(["Kyiv", "Bonn"]).rows["founded"].to_pylist() == [482, 11]


def test_stat(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", "merge", "s"]) == 0
    capsys.readouterr()
    assert main(["store", "stat", "s"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "rows     2 = 2 in the main + 0 added - 0 removed",
        "bytes    52",
        "key      city",
        "column   type    distinct  bits  bytes",
        "city     string         2     1     28",
        "founded  int64          2     1     24",
    ]
    assert main(["store", "stat", "s", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["main_rows"] == 2


def test_verify_and_copy(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", "verify", "s"]) == 0
    assert capsys.readouterr().out == "'s': 2 rows, no damage\n"
    log = next(Path("s").glob("log-*"))
    data = bytearray(log.read_bytes())
    data[45] ^= 1
    log.write_bytes(data)
    assert main(["store", "verify", "s"]) == 1
    assert f"{log.name} at byte 0: the checksum of the payload differs" in capsys.readouterr().err
    assert main(["store", "verify", "s", "--copy", "copy"]) == 1
    assert capsys.readouterr().out == "'copy': 0 rows copied\n"
    assert main(["store", "sql", "s", "from store"]) == 3
    Path("s", "manifest").unlink()
    assert main(["store", "verify", "s"]) == 1
    assert "'s' has files of a store without a manifest" in capsys.readouterr().err


def test_a_reader_beside_a_writer(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Queries and checks go on beside a writer, and see the rows of changes that have ended. Others say what to do."""
    with headrace.Store("s") as store:
        part = headrace.read_csv(b"city,founded\nBern,1191\n").columns

        def parts() -> Iterator[Mapping[str, Column]]:
            yield part
            yield {name: column[:0] for name, column in part.items()}
            while Path("s", log.name).stat().st_size == size:  # another thread writes the part
                time.sleep(0.001)
            for words in (["verify", "s"], ["stat", "s"], ["sql", "s", "select city from store"]):
                assert main(["store", *words]) == 0

        log = max(Path("s").glob("log-*"))
        size = log.stat().st_size
        assert store._opened.engine.append_parts(parts()) == 1
        said = capsys.readouterr().out
        assert "'s': 2 rows, no damage\n" in said
        assert "bytes of the log are no acknowledged rows: a crash has cut it off, or a writer is at work" in said
        assert said.endswith("Rome\nOslo\n")
        for action in (["append", "s", "b.csv"], ["merge", "s"]):
            assert main(["store", *action]) == 3
            assert "is open for writing elsewhere" in capsys.readouterr().err
    assert main(["store", "verify", "s"]) == 0
    assert capsys.readouterr().out == "'s': 3 rows, no damage\n"


@pytest.mark.parametrize("action", [["append", "s", "b.csv"], ["merge", "s"]])
def test_a_full_disk_says_what_to_do(
    action: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("b.csv").write_text("city,founded\n" + "".join(f"town {number},{number}\n" for number in range(4000)))
    if action[0] == "merge":
        assert main(["store", "append", "s", "b.csv"]) == 0
    capsys.readouterr()
    program = [sys.executable, "-m", "headrace", "store", *action]
    found = subprocess.run(["bash", "-c", 'ulimit -f 24; exec "$@"', "bash", *program], capture_output=True, text=True)
    assert found.returncode == 3
    first, second = found.stderr.splitlines()
    assert first == "headrace: rows that were added are safe, and none of the last change was; free space, and repeat it"
    assert second.startswith("headrace: 's/log-")
    assert second.endswith("File too large")
    assert main(["store", "verify", "s"]) == 0
    assert capsys.readouterr().out == f"'s': {2 if action[0] == 'append' else 4002:_} rows, no damage\n"


@pytest.mark.parametrize("error", [errno.EROFS, errno.EACCES])
def test_a_folder_that_cannot_be_written_is_read(
    error: int, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(self: HostFiles) -> None:
        raise OSError(error, os.strerror(error), "s/lock")

    monkeypatch.setattr(HostFiles, "lock", refused)
    for action in (["append", "s", "b.csv"], ["merge", "s"]):
        assert main(["store", *action]) == 3
        assert f"'s' cannot be written: {os.strerror(error)}; open it with read_only=True" in capsys.readouterr().err
    for words in (["verify", "s"], ["stat", "s"], ["sql", "s", "from store"]):
        assert main(["store", *words]) == 0


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["create", "s", "--columns", "a=int64"], 2),
        (["create", "s", "--columns", "city=string,founded=int64", "--key", "city"], 2),
        (["create", "t", "--columns", "int64"], 2),
        (["create", "t"], 2),
        (["append", "none", "a.csv"], 3),
        (["append", "a.csv", "b.csv"], 3),
        (["verify", "a.csv"], 3),
        (["verify", "none"], 3),
        (["create", "a.csv", "--columns", "a=int64"], 3),
        (["append", "s", "a.csv"], 2),
        (["append", "s", "b.csv", "--rejects", "b.csv"], 2),
        (["append", "s", "b.csv", "--rejects", "b.what"], 2),
        (["sql", "s", "select"], 2),
        (["sql", "s", "from store", "--to", "x.what"], 2),
        ([], 2),
    ],
)
def test_errors(words: list[str], code: int, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", *words]) == code
    assert capsys.readouterr().err


def test_an_error_of_a_text_is_the_one_that_is_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("other.csv").write_text("town,founded\nParis,1\n")
    assert main(["store", "append", "s", "other.csv"]) == 2
    assert "source does not have the columns of the store: no column 'city'" in capsys.readouterr().err
    Path("bad.csv").write_text("city,founded\nBonn,1\nKyiv,482\nParis,x\n")
    assert main(["store", "append", "s", "bad.csv", "--batch-bytes", "8"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("headrace: before the error, 2 rows added\n")
    assert "expected int64, got 'x'" in said
    with headrace.Store("s", read_only=True) as store:
        assert len(store) == 4


def test_all_rows_of_several_files_or_none(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("good.csv").write_text("city,founded\nBonn,11\n")
    Path("bad.csv").write_text("city,founded\nKyiv,482\nLima,x\n")
    words = ["store", "append", "s", "good.csv", "bad.csv", "--atomic", "--batch-bytes", "1"]
    assert main(words) == 1
    assert "before the error" not in capsys.readouterr().err
    assert main([*words, "--on-error", "reject", "--rejects", "out.csv"]) == 0
    assert capsys.readouterr().out == "'s': 2 rows added, 4 rows\nleft out: 1 rejected, 0 by the policy for duplicates\n"
    assert headrace.read_csv("out.csv")["text"].to_pylist() == ["Lima,x"]
