"""Tests errors of the command: its exit code, its messages, and the files that it leaves."""

from __future__ import annotations

import gzip
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from headrace.cli.main import main

MODULE = [sys.executable, "-m", "headrace"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.csv"
    path.write_text("a,b\n1,2\n3,x\n4,5,6\n")
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_data_fault_says_where_and_what_to_do(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["load", str(source), "--to", str(tmp_path / "o.parquet"), "--dtypes", "b=int64"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        "headrace: record 2 (line 3, byte 10), column 'b': expected int64, got 'x'\n"
        "To continue after bad records: --on-error reject, and --rejects FILE to keep them.\n"
    )
    assert names(tmp_path) == ["in.csv"]


def test_an_empty_file_is_a_data_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in.csv").touch()
    assert main(["load", str(tmp_path / "in.csv"), "--to", str(tmp_path / "o.parquet")]) == 1
    assert capsys.readouterr().err == "headrace: the input holds no record; pass --names A,B,... to get an empty table\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["sniff", "{dir}/empty.csv"], "the sample holds no record, so there is nothing to sniff"),
        (["head", "{in}", "--header-rows", "5"], "names the record with index 5, but there are 4"),
        (["head", "{dir}"], "or all files below it with --hive"),
        (["store", "stat", "{dir}"], "headrace store create makes one"),
        (["load", "{in}", "--to", "{dir}/o.csv", "--memory-limit", "5"], "(--columns), smaller types (--dtypes), fewer listed"),
    ],
)
def test_advice_is_one_that_the_command_takes(
    source: Path, tmp_path: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty.csv").touch()
    assert main([argument.replace("{in}", str(source)).replace("{dir}", str(tmp_path)) for argument in arguments]) in (1, 3)
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["laod"], "unknown command 'laod'; did you mean 'load'?"),
        (["load", "{in}", "--quote-chr", "x"], "unknown option --quote-chr; did you mean '--quote-char'?"),
        (["head", "{in}", "--schema=a=int8"], "unknown option --schema"),
        (["head", "{in}", "--progress"], "unknown option --progress"),
        (["sniff", "{in}", "--infer-schema"], "unknown option --infer-schema"),
        (["count", "{in}", "--n-rows", "1"], "unknown option --n-rows\n"),
        (["head", "{in}", "--double-quote=no"], "--double-quote takes no value, and is the default; got 'no'"),
        (["load", "{in}", "--to", "-", "--memory-limit", "3x"], "expected a number of bytes such as 64MB or 1GiB"),
        (["load", "{in}", "--to", "-", "--rows-per-file", "3"], "--to - is one stream"),
        (["load", "{in}", "--to", "{dir}/o.csv", "--shrink", "--batch-bytes", "9"], "remove --batch-bytes"),
        (["load"], "FILE, --to"),
        (["load", "{in}"], "--to"),
        (
            ["load", "{in}", "--to", "{dir}/o.txt"],
            "'.txt' names no format; valid: .parquet, .arrow, .feather, .csv, .tsv, .duckdb",
        ),
        (["load", "{in}", "--to", "{dir}/o"], "no suffix"),
        (["load", "{in}", "--to", "{dir}/o.parquet", "--rejects", "{dir}/r.txt"], "valid: .parquet"),
        (["load", "{in}", "--to", "{dir}/o.parquet", "--rejects", "{dir}/./o.parquet"], "is the same file as"),
        (["load", "{dir}/l.parquet", "--to", "{dir}/l.parquet"], "is the same file as"),
        (
            ["load", "{in}", "--to", "{dir}/o.parquet", "--seperator", ";"],
            "unknown option --seperator; did you mean '--separator'?",
        ),
        (["load", "{in}", "--to", "{dir}/o.parquet", "--sep", ""], "sep"),
        (["load", "{in}", "--to", "{dir}/o.parquet", "--sep", "123456789"], "1 to 8 bytes"),
        (["load", "{in}", "--to", "{dir}/o.parquet", "--quote", "ab"], "quote"),
        (["load", "{in}", "--to", "{dir}/o.parquet", "--threads", "0"], "threads must be a positive integer"),
        (["load", "{in}", "--to", "{dir}/o.parquet", "--threads", "two"], "expected an integer, got 'two'"),
        (["load", "{in}", "--to", "{dir}/o.parquet", "--header-rows", "x"], "'x' is not N,..., e.g. 0 or 0,1"),
        (["head", "{in}", "-n", "-1"], "--n-rows must be an integer from 0 on, not -1"),
        (["head", "{in}", "--chunk-bytes", "0"], "--chunk-bytes must be a positive integer"),
        (["head", "{in}", "--row-index", "a"], "--row-index='a' is the name of a column"),
        (["head", "{in}", "--file-paths", "a"], "--file-paths: there is already a column 'a'"),
        (["head", "{in}", "--date-format", "%Q"], "unknown directive of --date-format '%Q'"),
        (["head", "{in}", "--decimal", "ab"], "--decimal must be one ASCII character"),
        (["head", "{in}", "--encoding", "klingon"], "unknown encoding 'klingon'; valid: utf-8"),
        (["head", "{in}", "--compression", "rar"], "invalid choice: 'rar' (choose from"),
        (["head", "{in}", "--columns", "c"], "unknown column in columns 'c'; valid: a, b"),
        (["count", "-", "-"], "- is given twice; standard input can be read once"),
        (["completion", "tcsh"], "invalid choice: 'tcsh'"),
        (["schema", "{in}", "--json", "--sql"], "not allowed with"),
        (["load", "{in}", "--to", "{dir}/o.parquet", "--header", "--no-header"], "not allowed with"),
        (["load", "{in}", "--to", "{dir}/o.parquet", "--names", "x,x"], "more than once"),
        (["load", "{in}", "--to", "{dir}/o.parquet", "--dtypes", "bb=int64"], "did you mean 'b'?"),
        (["load", "{in}", "--to", "{dir}/o.parquet", "--dtypes", "b=int46"], "did you mean"),
        (["load", "{in}", "--to", "{dir}/o.parquet", "--dtypes", "b=int64,c"], "'c' is not NAME=TYPE"),
        (["load", "{in}", "--to", "{dir}/o.parquet", "--dtypes", "b="], "'b=' is not NAME=TYPE"),
        (["load", "{in}", "--to", "{dir}/o.parquet", "--dtypes", ""], "is not NAME=TYPE"),
        (["load", "{in}", "--to", "{dir}/o.parquet", "--dtypes", "b=int8,b=int16"], "given twice"),
        (["load", "{in}", "--to", "{dir}/o.parquet", "--on-error", "ignore"], "invalid choice: 'ignore'"),
    ],
)
def test_misuse_is_exit_2(
    source: Path, tmp_path: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    filled = [argument.replace("{in}", str(source)).replace("{dir}", str(tmp_path)) for argument in arguments]
    assert main(filled) == 2
    said = capsys.readouterr()
    assert words in said.err
    assert "Traceback" not in said.err
    assert len(said.err.splitlines()) <= 2  # the fault and the place of help, not 20 lines of usage
    assert names(tmp_path) == ["in.csv"]


def test_an_input_that_a_pattern_finds_is_never_overwritten(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["load", str(tmp_path / "*.csv"), "--to", str(source)]) == 2
    assert "is the same file as" in capsys.readouterr().err
    assert source.read_text().startswith("a,b\n")


def test_an_input_is_never_overwritten_through_a_link(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    link = tmp_path / "link.parquet"
    link.symlink_to(source)
    assert main(["load", str(source), "--to", str(link)]) == 2
    assert "is the same file as" in capsys.readouterr().err
    assert source.read_text().startswith("a,b\n")


@pytest.mark.parametrize(
    ("file", "to", "words"),
    [
        ("missing.csv", "o.parquet", "missing.csv': No such file or directory"),
        (".", "o.parquet", "is a directory"),
        ("in.csv", "nowhere/o.parquet", "nowhere': No such file or directory"),
        ("in.csv", "folder.parquet", "folder.parquet': Is a directory"),
    ],
)
def test_what_cannot_be_read_or_written_is_exit_3(
    source: Path, tmp_path: Path, file: str, to: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder.parquet").mkdir()
    assert main(["load", str(tmp_path / file), "--to", str(tmp_path / to), "--on-error", "reject"]) == 3
    assert words in capsys.readouterr().err
    assert names(tmp_path) == ["folder.parquet", "in.csv"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_permissions_are_exit_3(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source.chmod(0)
    assert main(["load", str(source), "--to", str(tmp_path / "o.parquet")]) == 3
    assert "Permission denied" in capsys.readouterr().err
    locked = tmp_path / "locked"
    locked.mkdir(0o500)
    assert main(["load", str(source), "--to", str(locked / "o.parquet")]) == 3
    assert "Permission denied" in capsys.readouterr().err


def test_without_pyarrow_the_message_says_how_to_get_it(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    assert main(["load", str(tmp_path / "not even read.csv"), "--to", str(tmp_path / "o.parquet")]) == 4
    assert "pip install 'headrace[parquet]'" in capsys.readouterr().err
    assert names(tmp_path) == ["in.csv"]


def test_a_name_that_is_not_utf8_is_no_traceback(tmp_path: Path) -> None:
    command = [*MODULE, "load", bytes(tmp_path) + b"/\xff.csv", "--to", str(tmp_path / "o.parquet")]
    done = subprocess.run(command, capture_output=True, timeout=60)
    assert done.returncode == 3
    assert b"No such file" in done.stderr


def test_bytes_of_the_data_do_not_reach_the_terminal_raw(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "in.csv"
    source.write_bytes(b"a,b\n1,\x1b[2J\xff\n")
    assert main(["load", str(source), "--to", str(tmp_path / "o.arrow")]) == 1
    assert main(["load", str(source), "--to", str(tmp_path / "o.arrow"), "--on-error", "reject"]) == 0
    source.write_bytes(b"a\x1b[2J,b\n1,2\n")
    assert main(["load", str(source), "--to", str(tmp_path / "o.arrow")]) == 0
    said = capsys.readouterr()
    assert "\x1b" not in said.out + said.err
    assert "a\\x1b[2J: int64" in said.out


def test_an_ascii_terminal_is_enough(source: Path, tmp_path: Path) -> None:
    source.write_text("é\n1\n")
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [*MODULE, "load", str(source), "--to", str(tmp_path / "o.arrow")], env=environment, capture_output=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\xe9: int64" in done.stdout


def _interrupt(process: subprocess.Popen[str]) -> str:
    """Ctrl-C until it is heard: one that falls between two reads of the same call is not."""
    for _ in range(60):
        process.send_signal(signal.SIGINT)
        try:
            return process.communicate(timeout=1)[1]
        except subprocess.TimeoutExpired:
            continue
    raise AssertionError("the command did not stop")


def test_ctrl_c_is_exit_130_and_leaves_nothing(tmp_path: Path) -> None:
    pipe = tmp_path / "in.csv"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [*MODULE, "load", str(pipe), "--to", str(tmp_path / "o.parquet")], stderr=subprocess.PIPE, text=True
    )
    try:
        with pipe.open("w") as writing:  # opens when the command opens it for reading; the command then waits for the end
            writing.write("a,b\n1,2\n")
            writing.flush()
            said = _interrupt(process)
    finally:
        process.kill()
    assert (process.returncode, said) == (130, "headrace: interrupted\n")
    assert names(tmp_path) == ["in.csv"]


def test_a_full_disk_leaves_what_was_there_before(tmp_path: Path) -> None:
    source, out = tmp_path / "in.csv", tmp_path / "o.arrow"
    source.write_text("a\n1\n")
    assert main(["load", str(source), "--to", str(out), "-q"]) == 0
    before = out.read_bytes()
    source.write_text("a\n" + "".join(f"{i}\n" for i in range(100_000)))
    done = subprocess.run(
        [*MODULE, "load", str(source), "--to", str(out)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 3, done.stderr
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert out.read_bytes() == before
    assert names(tmp_path) == ["in.csv", "o.arrow"]


def test_a_reader_that_goes_away_is_no_traceback() -> None:
    process = subprocess.Popen([*MODULE, "demo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert (process.wait(60), said) == (141, b"")


def test_a_pipe_can_be_read(tmp_path: Path) -> None:
    out = tmp_path / "o.parquet"
    done = subprocess.run(
        [*MODULE, "load", "/dev/stdin", "--to", str(out), "-q"], input=b"a\n1\n2\n", capture_output=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert pq.read_table(out).to_pydict() == {"a": [1, 2]}


def _run(shell_words: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command with `shell_words` as a shell would interpret them, e.g. a closed stream."""
    script = f'exec "$@" {shell_words}'
    return subprocess.run(["bash", "-c", script, "bash", *MODULE, *arguments], capture_output=True, timeout=60)


def test_closed_and_full_streams_are_no_traceback(source: Path) -> None:
    done = _run("<&-", "count", "-")
    assert (done.returncode, done.stderr) == (3, b"headrace: standard input is closed\n")
    assert _run(">&-", "head", str(source)).returncode == 0
    done = _run("2>&-", "count", "missing.csv")
    assert (done.returncode, done.stdout) == (3, b"")
    assert _run("2>/dev/full", "count", "missing.csv").returncode == 3
    done = _run(">/dev/full", "count", str(source))
    assert (done.returncode, done.stderr) == (3, b"headrace: No space left on device\n")


def test_a_folder_that_takes_no_file_is_told_under_the_name_that_was_given(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    really_open = os.open

    def refuse(path: object, *others: int) -> int:
        if str(path).endswith(".part"):
            raise PermissionError(13, "Permission denied", str(path))
        return really_open(path, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", refuse)
    assert main(["load", str(source), "--to", str(tmp_path / "o.csv"), "--on-error", "reject"]) == 3
    assert capsys.readouterr().err == f"headrace: {str(tmp_path / 'o.csv')!r}: Permission denied\n"


def test_broken_compression_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "in.csv.gz"
    path.write_bytes(gzip.compress(b"a\n1\n")[:12])
    assert main(["count", str(path)]) == 3
    assert "cannot be decompressed as gzip" in capsys.readouterr().err
