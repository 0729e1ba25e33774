"""Tests `headrace grep` against a search line by line."""

from __future__ import annotations

import gzip
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import headrace
from headrace.api.line_search import LineOutput, LineSearch, blocks_of
from headrace.cli.main import main

TEXT = b"one error\ntwo\nthree Error, error\n\nfour\nfive\nerror"


def expected(text: bytes, word: bytes, inverted: bool, before: int, after: int) -> bytes:
    """Return the lines to show, with their numbers and separators."""
    lines = text.removesuffix(b"\n").split(b"\n") if text else []
    selected = [i for i, line in enumerate(lines) if (word in line) != inverted]
    near = {j for i in selected for j in range(i - before, i + after + 1) if 0 <= j < len(lines)}
    shown, last = b"", None
    for i in sorted(near):
        if (before or after) and last not in (None, i - 1):
            shown += b"--\n"
        shown += b"%d%c%s\n" % (i + 1, b":" if i in selected else b"-", lines[i])
        last = i
    return shown


def run(capfdbinary: pytest.CaptureFixture[bytes], *words: str, code: int = 0) -> list[bytes]:
    assert main(["grep", *words]) == code
    return capfdbinary.readouterr().out.splitlines()


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("block_bytes", [1, 7, 64, 1 << 20])
@pytest.mark.parametrize("seed", range(4))
def test_lines_and_their_neighbours(seed: int, block_bytes: int, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)
    text = bytes(random.choice(np.frombuffer(b"aab\n", np.uint8), 600)) + (b"\n" if seed % 2 else b"")
    path = tmp_path / "text"
    path.write_bytes(text)
    for word in (b"bb", b"aaaaaa", b"c"):
        for inverted in (False, True):
            for before, after in ((0, 0), (1, 0), (0, 2), (3, 3), (50, 1)):
                groups = {"before": before, "after": after, "is_grouped": before + after > 0}
                output = LineOutput(is_inverted=inverted, is_numbered=True, **groups)
                search = LineSearch(headrace.Pattern(word), output)
                found = b"".join(bytes(search.write(block)) for block in blocks_of(str(path), block_bytes))
                assert found == expected(text, word, inverted, before, after)
                assert search.has_selected == bool(found)
                search.begin_file(b"")
                assert not search.has_selected
                again = b"".join(bytes(search.write(block)) for block in blocks_of(str(path), block_bytes))
                assert again == (b"--\n" if found and (before or after) else b"") + found
                plain = LineSearch(headrace.Pattern(word), LineOutput(is_inverted=inverted, **groups))
                unnumbered = b"".join(bytes(plain.write(block)) for block in blocks_of(str(path), block_bytes))
                assert unnumbered == re.sub(rb"(?m)^\d+[:-]", b"", found)
            search = LineSearch(headrace.Pattern(word), LineOutput(is_inverted=inverted))
            count = sum(search.count(block) for block in blocks_of(str(path), block_bytes))
            assert count == expected(text, word, inverted, 0, 0).count(b"\n")


@pytest.mark.parametrize("word", [b"ab", b"aba", b"bbbbbb"])
def test_long_lines(word: bytes, tmp_path: Path) -> None:
    random = np.random.default_rng(len(word))
    lines = [
        b"ab",
        b"a" * 300_000,
        b"b",
        b"aab" * 200_000 + b"b",
        random.choice(np.frombuffer(b"aab", np.uint8), 700_000).tobytes(),
    ]
    for end in (b"", b"\n"):
        text = b"\n".join([*lines, b"", *reversed(lines)]) + end
        path = tmp_path / "text"
        path.write_bytes(text)
        for block_bytes in (1000, 1 << 22):
            for inverted in (False, True):
                search = LineSearch(headrace.Pattern(word), LineOutput(is_numbered=True, is_inverted=inverted))
                shown = b"".join(bytes(search.write(block)) for block in blocks_of(str(path), block_bytes))
                assert shown == expected(text, word, inverted, 0, 0)
                search.begin_file(b"")
                assert sum(search.count(block) for block in blocks_of(str(path), block_bytes)) == shown.count(b"\n")
            matches = LineSearch(headrace.Pattern(word), LineOutput(is_numbered=True, only_matching=True))
            shown = b"".join(bytes(matches.write(block)) for block in blocks_of(str(path), block_bytes))
            numbered = enumerate(text.split(b"\n"), 1)
            assert shown == b"".join(b"%d:%s\n" % (number, word) * line.count(word) for number, line in numbered)


def test_compressed_and_streamed_texts(tmp_path: Path) -> None:
    lines = b"".join(b"%d\n" % i for i in range(600_000))
    path = tmp_path / "text.gz"
    path.write_bytes(gzip.compress(lines, 1))
    for source in (str(path), io.BytesIO(lines)):
        blocks = [bytes(block) for block in blocks_of(source, 1 << 20)]
        assert len(blocks) > 2 and b"".join(blocks) == lines and all(block.endswith(b"\n") for block in blocks)


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_texts_of_wide_characters(codec: str, tmp_path: Path) -> None:
    lines = "one\n\u010atwo \U00010a0a\n" * 50
    plain, packed = tmp_path / "text", tmp_path / "text.gz"
    plain.write_bytes(("\ufeff" + lines).encode(codec))
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    for source in (str(plain), str(packed), io.BytesIO(plain.read_bytes())):
        assert b"".join(map(bytes, blocks_of(source, 16))) == lines.encode()


@pytest.mark.parametrize("size", [0, 1, (1 << 16) - 1, 1 << 16, (1 << 16) + 1, 1 << 18])
def test_files_that_are_read_and_mapped(size: int, tmp_path: Path) -> None:
    text = (b"0123456\n" * (size // 8 + 1))[:size]
    (tmp_path / "text").write_bytes(text)
    blocks = [bytes(block) for block in blocks_of(tmp_path / "text", 4096)]
    assert b"".join(blocks) == text and len(blocks) == -(-size // 4096)


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="needs files below /proc")
def test_files_that_cannot_be_mapped(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    text = Path("/proc/version").read_bytes()
    assert b"".join(map(bytes, blocks_of("/proc/version"))) == text
    assert run(capfdbinary, "Linux", "/proc/version") == text.splitlines()


def test_options(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path, other = tmp_path / "a", tmp_path / "b"
    path.write_bytes(TEXT)
    other.write_bytes(b"")
    a, b = bytes(path), bytes(other)
    assert run(capfdbinary, "error", str(path)) == [b"one error", b"three Error, error", b"error"]
    assert run(capfdbinary, "-n", "-i", "ERROR", str(path)) == [b"1:one error", b"3:three Error, error", b"7:error"]
    assert run(capfdbinary, "-c", "-v", "error", str(path)) == [b"4"]
    assert run(capfdbinary, "-c", "error", str(path), str(other)) == [a + b":3", b + b":0"]
    assert run(capfdbinary, "-l", "error", str(other), str(path)) == [a]
    assert run(capfdbinary, "-o", "-n", "-i", "error", str(path)) == [b"1:error", b"3:Error", b"3:error", b"7:error"]
    assert run(capfdbinary, "-n", "-A", "1", "-B", "1", "four", str(path), str(other)) == [
        a + b"-4-",
        a + b":5:four",
        a + b"-6-five",
    ]
    assert run(capfdbinary, "-A", "1", "o", str(path)) == [*TEXT.splitlines()[:3], b"", b"four", b"five", b"error"]
    assert run(capfdbinary, "-B", "1", "r", str(tmp_path / "*"))[0] == a + b":one error"
    assert run(capfdbinary, "-A", "0", "-B", "1", "on", str(path)) == [b"one error"]
    huge = "9" * 30
    assert run(capfdbinary, "-A", huge, "-B", huge, "four", str(path)) == TEXT.splitlines()


def test_occurrences_are_marked(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"aXbx\nc\n")
    assert run(capfdbinary, "-i", "--color", "always", "x", str(path)) == [b"a\x1b[1;31mX\x1b[mb\x1b[1;31mx\x1b[m"]
    assert run(capfdbinary, "-v", "--color", "always", "x", str(path)) == [b"c"]


def test_groups_are_separated(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x\n1\n2\n3\nx\n")
    assert run(capfdbinary, "-A", "1", "x", str(path)) == [b"x", b"1", b"--", b"x"]
    assert run(capfdbinary, "-o", "-A", "1", "x", str(path)) == [b"x", b"x"]


def test_exit_codes(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = tmp_path / "a"
    path.write_bytes(TEXT)
    assert run(capfdbinary, "absent", str(path), code=1) == []
    assert run(capfdbinary, "-c", "absent", str(path), code=1) == [b"0"]
    run(capfdbinary, "x", str(tmp_path / "absent"), code=2)
    assert run(capfdbinary, "", str(path)) == TEXT.splitlines()
    assert run(capfdbinary, "two\nfour", str(path)) == [b"two", b"four"]
    run(capfdbinary, code=2)
    run(capfdbinary, "-E", "-F", "a", str(path), code=2)
    run(capfdbinary, "a", str(path), "-A", "-1", code=2)


@pytest.fixture
def unreadable(tmp_path: Path) -> dict[str, str]:
    """Return files that cannot be read, or not to their end, and a part of the message of each."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "damaged.gz").write_bytes(gzip.compress(bytes(1000) + b"x\n")[:-12])
    (tmp_path / "empty.zip").write_bytes(b"PK\x05\x06" + bytes(18))
    (tmp_path / "closed").write_bytes(b"x\n")
    (tmp_path / "closed").chmod(0)
    found = {
        "absent": "No such file",
        "folder": "irectory",
        "damaged.gz": "damaged.gz",
        "empty.zip": "archive without",
        "closed": "ermission",
    }
    if os.access(tmp_path / "closed", os.R_OK):  # root reads any file
        del found["closed"]
    return {str(tmp_path / name): message for name, message in found.items()} | {str(tmp_path / "*.none"): "no file"}


def test_other_files_are_searched_if_one_cannot_be_read(
    unreadable: dict[str, str], tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = tmp_path / "a"
    path.write_bytes(TEXT)
    a = bytes(path)
    for wrong, message in unreadable.items():
        files = [wrong, str(path), wrong]
        for words, shown in (
            (["four"], a + b":four\n"),
            (["-c", "four"], a + b":1\n"),
            (["-l", "four"], a + b"\n"),
            (["-n", "four"], a + b":5:four\n"),
            (["absent"], b""),
        ):
            assert main(["grep", *words, *files]) == 2
            output = capfdbinary.readouterr()
            assert output.out == shown
            assert output.err.decode().lower().count(message.lower()) == output.err.count(b"headrace: ") == 2


def test_exit_codes_are_those_of_grep(
    unreadable: dict[str, str], tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = tmp_path / "a"
    path.write_bytes(TEXT)
    grep = shutil.which("grep")
    assert grep is not None
    files = [str(path), *(name for name in unreadable if "." not in Path(name).name)]
    for n in range(1, len(files) + 1):
        for words in (["four"], ["absent"], ["-c", "four"], ["-c", "absent"], ["-l", "absent"], ["-v", "four"], ["-l", "four"]):
            peer = subprocess.run([grep, *words, *files[:n]], capture_output=True, check=False, env=os.environ | {"LC_ALL": "C"})
            assert main(["grep", *words, *files[:n]]) == peer.returncode
            output = capfdbinary.readouterr()
            counts = [line for line in peer.stdout.splitlines(True) if not line.endswith(b"folder:0\n")]
            assert output.out == b"".join(counts) and output.err.count(b"\n") == peer.stderr.count(b"\n")


def test_standard_input_that_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(TEXT)
    code = (
        "import sys; sys.stdin = None; from headrace.cli.main import main;"
        f"raise SystemExit(main(['grep', '-c', 'four', '-', {str(path)!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 2 and done.stdout == bytes(path) + b":1\n" and b"standard input is closed" in done.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_is_closed(unbuffered: str, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"some line\n" * 500_000)
    command = [sys.executable, "-m", "headrace", "grep", "some", str(path), str(tmp_path / "absent")]
    pipe, environment = subprocess.PIPE, os.environ | {"PYTHONUNBUFFERED": unbuffered}
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, env=environment) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_files_are_separated(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    for name in "ab":
        (tmp_path / name).write_bytes(b"x\n1\n")
    a, b = bytes(tmp_path / "a"), bytes(tmp_path / "b")
    assert run(capfdbinary, "-A", "1", "x", str(tmp_path / "*")) == [a + b":x", a + b"-1", b"--", b + b":x", b + b"-1"]
    assert run(capfdbinary, "x", str(tmp_path / "*")) == [a + b":x", b + b":x"]


def test_a_search_imports_little(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(TEXT)
    for words in (["error"], ["-c", "error"], ["-E", "err[a-z]+"]):
        code = (
            "import sys; before = set(sys.modules); from headrace.cli.main import main;"
            f"assert main(['grep', *{words!r}, {str(path)!r}]) == 0;"
            "found = {'numpy', 'argparse', 'dataclasses', 'inspect', 'typing', 're', 'collections', 'importlib'};"
            "assert not found & set(sys.modules) - before, set(sys.modules)"
        )
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
