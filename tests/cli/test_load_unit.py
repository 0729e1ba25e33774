"""Tests that `headrace load` streams: batches, several files, standard output, rejects, names of options."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import headrace
from headrace.cli.load import numbered
from headrace.cli.main import main

TEXT = "a,b\n" + "".join(f"{i},{'x' * (i % 7)}\n" for i in range(100)) + "bad,\n1\n"
TYPES = ["--dtypes", "a=int64", "--on-error", "reject"]


@pytest.fixture
def source(tmp_path: Path) -> str:
    path = tmp_path / "in.csv"
    path.write_text(TEXT)
    return str(path)


@pytest.mark.parametrize("batch_bytes", ["1", "13", "1MB"])
def test_batches_make_the_file_of_a_whole_read(source: str, tmp_path: Path, batch_bytes: str) -> None:
    out, bad = tmp_path / "o.parquet", tmp_path / "bad.parquet"
    assert main(["load", source, "--to", str(out), "--rejects", str(bad), *TYPES, "--batch-bytes", batch_bytes, "-q"]) == 0
    whole = headrace.read_csv(source, dtypes={"a": "int64"}, on_error="reject")
    assert pq.read_table(out).to_pydict() == whole.to_pydict()
    assert pq.read_table(bad).to_pydict() == whole.rejects.to_pydict()


def test_several_files_have_the_rows_in_order(source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["load", source, "--to", str(tmp_path / "o.csv"), *TYPES, "--rows-per-file", "30", "--batch-bytes", "64"]
    assert main(command) == 0
    assert f"{str(tmp_path / 'o-00001.csv')!r} to {str(tmp_path / 'o-00004.csv')!r}: 100 rows" in capsys.readouterr().out
    counts = [headrace.read_csv(tmp_path / f"o-{n:05}.csv").num_rows for n in range(1, 5)]
    assert counts == [30, 30, 30, 10]
    together = headrace.read_csv(sorted(tmp_path.glob("o-*.csv")))
    assert together["a"].to_pylist() == list(range(100))


def test_only_records_with_a_text(source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "o.csv"
    command = ["load", source, "--to", str(out), *TYPES, "--containing", "xxxxx", "--containing", "bad"]
    assert main(command) == 0
    assert headrace.read_csv(out)["a"].to_pylist() == [i for i in range(100) if i % 7 > 4]
    assert "1 rejected" in capsys.readouterr().out
    assert main([*command, "--shrink"]) == 2
    assert "remove --containing" in capsys.readouterr().err


def test_a_fault_leaves_none_of_several_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in.csv").write_text("a,b\n" + "1,2\n" * 10 + "3\n")
    (tmp_path / "o-00001.csv").write_text("an earlier file")
    command = ["load", str(tmp_path / "in.csv"), "--to", str(tmp_path / "o.csv"), "--rows-per-file", "2", "--batch-bytes", "8"]
    assert main(command) == 1
    assert "too few fields" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "o-00001.csv"]
    assert (tmp_path / "o-00001.csv").read_text() == "an earlier file"
    assert main([*command, "--on-error", "reject", "-q"]) == 0
    assert len(list(tmp_path.iterdir())) == 6
    assert headrace.read_csv(tmp_path / "o-*.csv").num_rows == 10


def test_an_error_of_the_writer_is_the_error_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in.csv").write_text("a\n" + "1\n" * 8 + "NA\n" + "1\n" * 8)
    command = ["load", str(tmp_path / "in.csv"), "--null", "NA", "--to", str(tmp_path / "o.csv"), "--batch-bytes", "1"]
    assert main(command) == 2  # the batches after the null are not read
    said = capsys.readouterr().err
    assert "row 8 of the only column, 'a', is null" in said and "write a format that has nulls, such as .parquet" in said
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_a_table_without_rows_is_one_file(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("a,b\n")
    command = ["load", str(tmp_path / "in.csv"), "--header", "--to", str(tmp_path / "o.csv"), "--rows-per-file", "5", "-q"]
    assert main(command) == 0
    assert (tmp_path / "o-00001.csv").read_text() == "a,b\n"


def test_numbers_precede_the_suffix() -> None:
    assert numbered("o/a.b.parquet", 3) == "o/a.b-00003.parquet"
    assert numbered("a.tsv.zst", 12) == "a-00012.tsv.zst"
    assert numbered("x.csv.parquet", 1) == "x-00001.csv.parquet"


def run(*arguments: str, **keywords: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "headrace", *arguments]
    return subprocess.run(command, capture_output=True, timeout=60, **keywords)  # type: ignore[call-overload,no-any-return]


@pytest.mark.parametrize("kind", ["int", "bigint", "category", "float", "str", "i4"])
def test_types_have_the_names_of_the_library(tmp_path: Path, kind: str) -> None:
    source, out = tmp_path / "in.csv", tmp_path / "o.parquet"
    source.write_text("a\n1\n2\n1\n")
    assert main(["load", str(source), "--to", str(out), "--dtypes", f"a={kind}", "-q"]) == 0
    assert headrace.Table.from_arrow(pq.read_table(out)).equals(headrace.read_csv(source, dtypes={"a": kind}))


def test_a_minus_writes_csv_to_standard_output_alone(source: str) -> None:
    done = run("load", source, "--to", "-", *TYPES)
    assert done.stdout == headrace.write_csv(headrace.read_csv(source, dtypes={"a": "int64"}, on_error="reject"))
    assert done.stderr.startswith(b"headrace: 2 faults, 2 records rejected\n") and done.returncode == 0


def test_a_full_or_closed_standard_output_is_one_line_at_most(tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_text("a\n" + "1234567\n" * 100_000)
    script = f"{sys.executable} -m headrace load {source} --to - "
    done = subprocess.run(["bash", "-c", script + "> /dev/full"], capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (3, b"headrace: No space left on device\n")
    done = subprocess.run(["bash", "-c", script + "| head -1; echo ${PIPESTATUS[0]}"], capture_output=True, timeout=60)
    assert (done.stdout, done.stderr) == (b"a\n141\n", b"")


def test_names_of_the_library_are_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in.csv").write_text("'a;b';2\nNA;3\n")
    words = ["--separator", ";", "--quotechar", "'", "--null_values=NA", "--no-has-header", "--skip-blank-lines"]
    assert main(["schema", str(tmp_path / "in.csv"), *words, "--no-infer-schema"]) == 0
    assert [line.split()[:3] for line in capsys.readouterr().out.splitlines()[1:]] == [
        ["column_1", "string", "1"],
        ["column_2", "string", "0"],
    ]


def test_alone_the_command_prints_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "exit codes:" in capsys.readouterr().out
