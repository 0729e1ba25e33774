"""The command: exit codes, messages, and files that other libraries read back."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather, ipc

import headrace
from headrace.cli.main import main

TEXT = """\
id,price,name,day,seen,ok
1,1.5,"a, b",2024-01-31,2024-01-31T10:00:00Z,true
2,,"two
lines",2024-02-29,2024-02-29T11:30:00.25Z,false
-3,1e300,,1969-12-31,,true
"""
TYPES = {
    "id": pa.int64(),
    "price": pa.float64(),
    "name": pa.string(),
    "day": pa.date32(),
    "seen": pa.timestamp("us", "UTC"),
    "ok": pa.bool_(),
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.csv"
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".feather", ".PARQUET"])
def test_a_loaded_file_is_read_back_as_it_was(
    source: Path, tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / f"out{suffix}"
    assert main(["load", str(source), "--to", str(out)]) == 0
    read = pq.read_table if suffix.lower() == ".parquet" else feather.read_table
    back = read(out)
    assert dict(zip(back.schema.names, back.schema.types, strict=True)) == TYPES
    assert back.to_pydict() == headrace.read_csv(source).to_pydict()
    assert back["name"].to_pylist() == ["a, b", "two\nlines", None]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["in.csv", out.name])
    assert capsys.readouterr().err == ""


def test_the_summary_names_counts_types_and_sizes(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.parquet"
    assert main(["load", str(source), "--to", str(out)]) == 0
    said = capsys.readouterr().out
    assert "3 rows, 6 columns" in said
    assert "  seen: timestamp[us, UTC]\n" in said
    assert "4 = 3 rows + 0 rejected + 1 skipped (1 header, 0 blank, 0 comment)" in said
    assert f"read     {len(TEXT.encode())} bytes in " in said
    assert f"written  {out.stat().st_size:_} bytes\n" in said


def test_a_long_list_of_columns_is_cut_in_the_summary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "wide.csv"
    source.write_text(",".join(f"c{i}" for i in range(100)) + "\n" + ",".join(["1"] * 100) + "\n")
    assert main(["load", str(source), "--to", str(tmp_path / "out.arrow")]) == 0
    said = capsys.readouterr().out
    assert "  c29: int64\n  ... and 70 more\n" in said


def test_quiet_says_nothing_of_success(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["load", str(source), "--to", str(tmp_path / "out.arrow"), "-q"]) == 0
    assert capsys.readouterr() == ("", "")


def test_options_reach_the_reader(tmp_path: Path) -> None:
    source, out = tmp_path / "in.txt", tmp_path / "out.arrow"
    source.write_text("# made by hand\n1\t'a\tb'\t-\t5\n2\tc\\\td\tx\t\n")
    command = ["load", str(source), "--to", str(out), "--sep", "\\t", "--quote", "'", "--escape", "\\", "--comment", "#"]
    command += ["--no-header", "--names", 'n,"text, long",t,v', "--dtypes", "n=int8,v=float32", "--null", "-", "--null", ""]
    assert main([*command, "--threads", "1", "-q"]) == 0
    back = ipc.open_file(out).read_all()
    assert back.to_pydict() == {"n": [1, 2], "text, long": ["a\tb", "c\td"], "t": [None, "x"], "v": [5.0, None]}
    assert back.schema.types == [pa.int8(), pa.string(), pa.string(), pa.float32()]


def test_shrink_and_header(tmp_path: Path) -> None:
    source, out = tmp_path / "in.csv", tmp_path / "out.arrow"
    source.write_text("1,2\n3,400\n")
    assert main(["load", str(source), "--to", str(out), "--header", "--shrink", "-q"]) == 0
    back = ipc.open_file(out).read_all()
    assert back.to_pydict() == {"1": [3], "2": [400]}
    assert back.schema.types == [pa.int8(), pa.int16()]


def test_no_quotes_at_all(tmp_path: Path) -> None:
    source, out = tmp_path / "in.csv", tmp_path / "out.arrow"
    source.write_text('a,b\n"x,y"\n')
    assert main(["load", str(source), "--to", str(out), "--quote", "", "-q"]) == 0
    assert ipc.open_file(out).read_all().to_pydict() == {"a": ['"x'], "b": ['y"']}


def test_rejects_are_counted_shown_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out, bad = tmp_path / "in.csv", tmp_path / "out.parquet", tmp_path / "bad.parquet"
    source.write_text("a,b\n1,2\nx,3\n4\n5,6\n")
    command = ["load", str(source), "--to", str(out), "--dtypes", "a=int64", "--on-error", "reject"]
    assert main([*command, "--rejects", str(bad)]) == 0
    said = capsys.readouterr()
    assert "5 = 2 rows + 2 rejected + 1 skipped" in said.out
    assert "2 faults, 2 records rejected" in said.err
    assert "record 2, line 3, byte 8, column 'a': type, expected int64: 'x'" in said.err
    assert "too_few_fields: '4'" in said.err
    assert f"all of them: {str(bad)!r}" in said.err
    assert pq.read_table(out).to_pydict() == {"a": [1, 5], "b": [2, 6]}
    rejects = pq.read_table(bad)
    assert rejects["record"].to_pylist() == [2, 3]
    assert rejects["kind"].to_pylist() == ["type", "too_few_fields"]


def test_rejects_are_written_even_if_there_are_none(source: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.arrow"
    assert main(["load", str(source), "--to", str(tmp_path / "o.arrow"), "--rejects", str(bad), "-q"]) == 0
    assert ipc.open_file(bad).read_all().num_rows == 0


def test_only_the_first_faults_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "in.csv"
    source.write_text("a\n" + "x" * 1000 + "\n" + "y\n" * 7)
    assert main(["load", str(source), "--to", str(tmp_path / "o.arrow"), "--dtypes", "int64", "--on-error", "null", "-q"]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "8 faults, 0 records rejected" in said.err
    assert said.err.count("  record ") == 5
    assert "and 3 more; headrace load --rejects FILE keeps them all" in said.err
    assert max(map(len, said.err.splitlines())) < 200


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"headrace {headrace.__version__}\n"
    for command in (["--help"], ["load", "--help"]):
        assert main(command) == 0
        assert "exit codes:" in capsys.readouterr().out


def test_it_runs_as_a_module(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    done = subprocess.run(
        [sys.executable, "-m", "headrace", "load", str(source), "--to", str(out)], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "3 rows, 6 columns" in done.stdout
    assert pq.read_table(out).num_rows == 3
