"""Tests `headrace grep` on many files, of which small ones are searched several at a time, against GNU grep."""

from __future__ import annotations

import gzip
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from headrace.cli.main import main

LIMIT = 1 << 16
"""Size of the largest file that is searched beside others (small_files.cpp)."""
SIZES = (0, 1, 2, 7, 300, 4095, 4096, 4097, LIMIT - 1, LIMIT, LIMIT + 1, 3 * LIMIT)

GREP_AND_PRINT_ITS_PEAK = """
import sys
from pathlib import Path
from headrace.cli.main import main

code = main(sys.argv[1:])
status = Path("/proc/self/status").read_text().splitlines()
print(next(line.split()[1] for line in status if line.startswith("VmHWM")), file=sys.stderr)
sys.exit(code)
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of files of all sizes; some have a line end at their end."""
    folder, source = tmp_path_factory.mktemp("tree"), random.Random(0)
    for number in range(60):
        size = SIZES[number % len(SIZES)] if number < 3 * len(SIZES) else source.randint(0, 200)
        text = bytes(source.choices(b"aabbx_\0\r\xff\xc3\xa9 \n\n", k=size))
        path = folder / f"{number % 7}" / f"{number:03}"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text[:-1] + b"\n" if number % 2 and text else text)
    return folder


@pytest.mark.parametrize(
    "options",
    ["-n", "-c", "-l", "-L", "-v", "-vc", "-h", "-o", "-m1", "-cm2", "-A1", "-nB2", "-C1", "-q", "-i", "-Lm0", "-w", "-x"],
)
def test_files_as_in_grep(options: str, tree: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    grep = shutil.which("grep")
    assert grep is not None
    names = sorted(str(path) for path in tree.rglob("*") if path.is_file())
    for kind, pattern in (("-F", "b"), ("-F", "bx_"), ("-F", "absent"), ("-E", "^a[bx]?b"), ("-E", "x$")):
        command = ["-a", kind, options, "-e", pattern, *names]
        peer = subprocess.run([grep, *command], capture_output=True, check=False, env=os.environ | {"LC_ALL": "C"})
        capfdbinary.readouterr()
        code = main(["grep", *command])
        assert (code, capfdbinary.readouterr().out) == (peer.returncode, peer.stdout), command[:5]


def test_a_folder_has_the_lines_of_its_files(tree: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    names = sorted(str(path) for path in tree.rglob("*") if path.is_file())
    for options in (["-n", "ab"], ["-c", "ab"], ["-l", "absent"], ["-A2", "-E", "^ab"]):
        codes = [main(["grep", *options, *names])]
        expected = capfdbinary.readouterr().out
        codes.append(main(["grep", "-r", *options, str(tree)]))
        assert capfdbinary.readouterr().out == expected and codes[0] == codes[1]


def test_other_files_among_small_ones(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    for number in range(20):
        (tmp_path / f"{number:02}").write_bytes(b"one\ntwo\n")
    (tmp_path / "03").write_bytes(gzip.compress(b"one two\n"))
    (tmp_path / "05").write_bytes("\ufeffone\n".encode("utf-16-le"))
    (tmp_path / "07").write_bytes(b"PAR1\x15one\n")
    (tmp_path / "09").unlink()
    names = [str(tmp_path / f"{number:02}") for number in range(20)]
    assert main(["grep", "-c", "one", *names]) == 2
    output = capfdbinary.readouterr()
    assert output.out.splitlines() == [f"{name}:1".encode() for name in names if name[-2:] not in ("07", "09")]
    assert b"Parquet" in output.err and b"09" in output.err
    assert main(["grep", "-h", "one", *names[:6]]) == 0
    assert capfdbinary.readouterr().out == b"one\n" * 3 + b"one two\n" + b"one\n" * 2


def test_a_named_pipe_keeps_its_content(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    (tmp_path / "a").write_bytes(b"one\n")
    os.mkfifo(tmp_path / "b")
    with subprocess.Popen(["/bin/sh", "-c", f"printf 'one\\ntwo\\n' > '{tmp_path / 'b'}'"]) as writer:
        time.sleep(0.1)  # the shell waits for a reader
        assert main(["grep", "one", str(tmp_path / "a"), str(tmp_path / "b"), str(tmp_path / "a")]) == 0
        assert writer.wait() == 0
    lines = capfdbinary.readouterr().out.splitlines()
    assert [line.rpartition(b":")[2] for line in lines] == [b"one"] * 3


@pytest.mark.long
def test_memory_of_files_with_many_short_lines(tmp_path: Path) -> None:
    """The lines of one file have 7 MB with its name, and those of 100 files have 700 MB. A call holds a part of them."""
    folder = tmp_path / ("name" * 25)
    folder.mkdir()
    (folder / "0").write_bytes(b"\n" * (1 << 16))
    for number in range(1, 100):
        os.link(folder / "0", folder / str(number))
    counted = "import sys\nprint(sum(map(len, iter(lambda: sys.stdin.buffer.read(1 << 20), b''))))"
    with subprocess.Popen(
        [sys.executable, "-c", GREP_AND_PRINT_ITS_PEAK, "grep", "-rv", "x", folder.name],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as searcher:
        lines = subprocess.run([sys.executable, "-c", counted], stdin=searcher.stdout, capture_output=True, check=True)
        peak = int(searcher.stderr.read())
    assert searcher.returncode == 0
    assert int(lines.stdout) == sum((len(f"{folder.name}/{number}:") + 1) << 16 for number in range(100))
    assert peak < 256 << 10  # KiB
