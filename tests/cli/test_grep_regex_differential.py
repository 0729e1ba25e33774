"""Tests `headrace grep -E` against GNU grep and, line by line, against Python's `re`."""

from __future__ import annotations

import gzip
import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from headrace.api.line_search import LineOutput, LineSearch, blocks_of, expression_of
from headrace.cli.main import main
from tests.tiers import seeds

ATOMS = ["a", "b", ".", "[ab]", "[^a]", "[[:alpha:]]", "x", "^", "$", "aab", "(a|bb)", "(|a)"]
COUNTS = ["*", "+", "?", "{2}", "{1,3}", "{0,2}"]


def drawn_pattern(source: random.Random) -> str:
    """Return an expression that GNU grep, `re` and headrace read in the same way."""
    parts = []
    for _ in range(source.randint(1, 4)):
        atom = source.choice(ATOMS)
        if atom not in ("^", "$") and source.random() < 0.4:
            atom += source.choice(COUNTS)
        parts.append(f"({atom}|{source.choice(ATOMS)})" if source.random() < 0.2 else atom)
    return "".join(parts)


def drawn_text(source: random.Random, size: int) -> bytes:
    text = "".join(source.choices("aabbx \n", k=size)).encode()
    return text + (b"\n" if source.random() < 0.5 else b"")


def found(capfdbinary: pytest.CaptureFixture[bytes], *words: str) -> tuple[int, bytes]:
    code = main(["grep", "-E", *words])
    return code, capfdbinary.readouterr().out


def selected(text: bytes, pattern: str, flags: int = 0) -> list[int]:
    """Return the numbers of the lines that match, by `re`."""
    lines = text.removesuffix(b"\n").split(b"\n") if text else []
    expression = re.compile(in_re(pattern), flags | re.ASCII)
    return [number for number, line in enumerate(lines) if expression.search(line.decode())]


def in_re(pattern: str) -> str:
    return pattern.replace("[[:alpha:]]", "[a-zA-Z]").replace("$", r"\Z")


@pytest.mark.parametrize("seed", seeds(20))
def test_options_as_in_grep(seed: int, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    grep = shutil.which("grep")
    assert grep is not None
    source, path = random.Random(seed), tmp_path / "text"
    path.write_bytes(drawn_text(source, 200))
    pattern = drawn_pattern(source)
    options = (
        ["-n"],
        ["-c"],
        ["-v", "-n"],
        ["-o", "-n"],
        ["-i", "-c"],
        ["-l"],
        ["-c", "-v"],
        ["-n", "-A1", "-B2"],
        ["-n", "-i", "-o"],
    )
    for words in options:
        peer = subprocess.run(
            [grep, "-a", "-E", *words, "-e", pattern, str(path)],
            capture_output=True,
            check=False,
            env=os.environ | {"LC_ALL": "C"},
        )
        assert found(capfdbinary, *words, "--", pattern, str(path)) == (peer.returncode, peer.stdout), pattern


@pytest.mark.parametrize("seed", seeds(100))
def test_lines_as_in_re(seed: int) -> None:
    source = random.Random(seed)
    for _ in range(5):
        pattern, text = drawn_pattern(source), drawn_text(source, source.choice([0, 1, 5, 60, 400]))
        lines = text.removesuffix(b"\n").split(b"\n") if text else []
        for is_inverted in (False, True):
            ignore_case = source.random() < 0.3
            expression = expression_of(pattern, ignore_case=ignore_case)
            numbers = selected(text, pattern, re.IGNORECASE if ignore_case else 0)
            expected = [line for number, line in enumerate(lines) if (number in numbers) != is_inverted]
            search = LineSearch(expression, LineOutput(is_inverted=is_inverted))
            assert search.write(memoryview(text)) == b"".join(line + b"\n" for line in expected), pattern
            assert LineSearch(expression, LineOutput(is_inverted=is_inverted)).count(memoryview(text)) == len(expected), pattern
            assert search.has_selected == bool(expected)


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("pattern", ["[0-9]7+", "x?needle[0-9]", "e$", "^[0-9]*$", "(7|8)e", "absent.?word"])
@pytest.mark.parametrize("line", ["%d\n", "%d needle%d\n"])
def test_pieces_of_blocks_and_long_lines(pattern: str, line: str, tmp_path: Path) -> None:
    path = tmp_path / "text"
    numbers = range(0, 120_000, 1 if line == "%d\n" else 3)
    text = "".join(line % ((number,) * line.count("%")) for number in numbers) + "7" * 700_000 + "e\n" + "8e needle77" * 3
    path.write_bytes(text.encode())
    lines = text.split("\n")
    expected = sum(1 for each in lines if re.search(in_re(pattern), each))
    expression = expression_of(pattern, ignore_case=False)
    for block_bytes in (1000, 1 << 19, 1 << 24):
        search = LineSearch(expression, LineOutput())
        assert sum(search.count(block) for block in blocks_of(str(path), block_bytes)) == expected
    written = LineSearch(expression, LineOutput(is_numbered=True))
    shown = b"".join(bytes(written.write(block)) for block in blocks_of(str(path), 1 << 22))
    assert [int(each.partition(b":")[0]) for each in shown.splitlines()] == [
        number for number, each in enumerate(lines, 1) if re.search(in_re(pattern), each)
    ]


def test_matches_do_not_cross_lines(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"ab\nc d\n\nx\xc3\xa9\xffy\n")
    assert found(capfdbinary, r"b\sc", str(path)) == (1, b"")
    assert found(capfdbinary, r"b\n", str(path)) == (1, b"")
    assert found(capfdbinary, "-n", "[^x]+", str(path)) == (0, b"1:ab\n2:c d\n4:x\xc3\xa9\xffy\n")
    assert found(capfdbinary, "-o", r"[^x]+", str(path)) == (0, b"ab\nc d\n\xc3\xa9\ny\n")
    assert found(capfdbinary, "-n", "^$", str(path)) == (0, b"3:\n")
    assert found(capfdbinary, "-c", "", str(path)) == (0, b"4\n")
    assert found(capfdbinary, "-o", "z*", str(path)) == (0, b"")
    assert found(capfdbinary, "-c", "^x.y$", str(path)) == (1, b"0\n")
    assert found(capfdbinary, "-c", os.fsdecode(b"^x..\xffy$"), str(path)) == (0, b"1\n")


def test_marks_and_compressed_files(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"id 17, id 2\nnone\nid\n"))
    mark, unmark = b"\x1b[1;31m", b"\x1b[m"
    expected = b"%sid 17%s, %sid 2%s\n" % (mark, unmark, mark, unmark)
    assert found(capfdbinary, "--color", "always", r"id \d+", str(path)) == (0, expected)
    assert found(capfdbinary, "-v", r"id \d+", str(path)) == (0, b"none\nid\n")


@pytest.mark.parametrize("pattern", ["a(b", r"(a)\1", "a*?", "[[:alhpa:]]", "[:alpha:]", "((.{1000}){1000}){9}"])
def test_wrong_expressions(pattern: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    (tmp_path / "a").write_bytes(b"ab\n")
    assert main(["grep", "-E", pattern, str(tmp_path / "a")]) == 2
    output = capfdbinary.readouterr()
    assert output.out == b"" and output.err.startswith(b"headrace: ")
