"""Tests the options of `headrace grep` against GNU grep: output, and exit code."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from headrace.cli.grep import arguments
from headrace.cli.grep.files import files_of
from headrace.cli.main import main
from tests.tiers import seeds

WORDS = ["a", "ab", "b_", "x", "aab", "a b", ".", "$", "", "A"]
ATOMS = ["a", "b", ".", "[ab]", "[^a]", "[[:alpha:]]", "_", "^", "$", "aab", "(a|bb)", "(|a)", "a*", "b+", "(ab)?"]
FLAGS = ["-i", "-v", "-w", "-x", "-n", "-c", "-l", "-L", "-o", "-q", "-h", "-H", "-s", "-a"]
COUNTS = ["-m", "-A", "-B", "-C"]


def drawn_command(source: random.Random) -> list[str]:
    """Return options and patterns that both programs read in the same way. GNU grep separates matches of ``-o``, too."""
    words = source.sample(FLAGS, source.choice([0, 1, 1, 2, 3]))
    for name in source.sample(COUNTS[:1] if "-o" in words else COUNTS, source.choice([0, 0, 1])):
        number = str(source.randint(0, 3))
        words += [name + number] if source.random() < 0.5 else [name, number]
    is_expression = source.random() < 0.5
    patterns = [
        "".join(source.choices(ATOMS, k=source.randint(1, 3))) if is_expression else source.choice(WORDS)
        for _ in range(source.choice([1, 1, 2, 3]))
    ]
    if is_expression and source.random() < 0.2:
        patterns = ["\n".join(patterns)]
    return ["-E" if is_expression else "-F", *words, *(word for pattern in patterns for word in ("-e", pattern))]


def check(command: list[str], folder: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Compare the output and the exit code with those of GNU grep."""
    grep = shutil.which("grep")
    assert grep is not None
    peer = subprocess.run([grep, "-a", *command], capture_output=True, check=False, cwd=folder, env=os.environ | {"LC_ALL": "C"})
    capfdbinary.readouterr()
    code = main(["grep", *command])
    assert (code, capfdbinary.readouterr().out) == (peer.returncode, peer.stdout), command


@pytest.fixture
def texts(tmp_path: Path) -> list[str]:
    source = random.Random(0)
    for name in ("one", "two", "empty"):
        text = "".join(source.choices("aabb_xA \n", k=0 if name == "empty" else 150))
        (tmp_path / name).write_text(text + ("\n" if name == "one" else ""))
    return [str(tmp_path / name) for name in ("one", "two", "empty")]


@pytest.mark.parametrize("seed", seeds(20))
def test_options_as_in_grep(seed: int, texts: list[str], tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    source = random.Random(seed)
    for _ in range(4):
        check([*drawn_command(source), *texts[: source.randint(1, 3)]], tmp_path, capfdbinary)


EMPTY = ["a*", "( a)?", "(a b)*", "b*|a", "^a?", "( |ab)*", "[^a]?", "(-a)*$", "(a|b-)?", "(b|^a-)*"]
"""Expressions that match an empty text."""


@pytest.mark.parametrize("pattern", EMPTY)
def test_words_that_may_be_empty(pattern: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    source = random.Random(pattern)
    lines = ["".join(source.choices("ab_- ", k=source.randint(0, 7))) for _ in range(200)]
    (tmp_path / "text").write_text("\n".join(lines))
    for words in ([], ["-v", "-n"], ["-c", "-i"], ["-e", "b"], ["-m", "5", "-A", "0"]):
        check(["-E", "-w", *words, "-e", pattern, str(tmp_path / "text")], tmp_path, capfdbinary)


def test_empty_words_are_not_inside_of_characters(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    source, path = random.Random(1), tmp_path / "text"
    lines = ["".join(source.choices("aB_é -\N{EURO SIGN}", k=source.randint(0, 6))) for _ in range(300)]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    for pattern in ("(a)*", "(é|a)?", "( a)?|B", "a"):
        matches = [
            any(
                re.fullmatch(pattern, line[i:j])
                and not re.search(r"\w\Z", line[:i], re.ASCII)
                and not re.match(r"\w", line[j:], re.ASCII)
                for i in range(len(line) + 1)
                for j in range(i, len(line) + 1)
            )
            for line in lines
        ]
        capfdbinary.readouterr()
        main(["grep", "-E", "-w", "-e", pattern, str(path)])
        assert capfdbinary.readouterr().out.decode().splitlines() == [
            line for line, matched in zip(lines, matches, strict=True) if matched
        ]


def test_an_empty_word_before_a_space_selects_the_line(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """GNU grep misses the line: it tries no empty match after a longer one that a word follows."""
    (tmp_path / "text").write_text(" b\n_b\n")
    assert main(["grep", "-E", "-w", "( |a)*", str(tmp_path / "text")]) == 0
    assert capfdbinary.readouterr().out == b" b\n"


def test_files_of_patterns(texts: list[str], tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    for content in ("", "\n", "ab\nb_\n", "ab\n\nx", "a.b\n[ab]"):
        (tmp_path / "patterns").write_text(content)
        for words in (["-F"], ["-E", "-o"], ["-F", "-n", "-w"], ["-E", "-v", "-x"], ["-F", "-e", "xA"]):
            check([*words, "-f", str(tmp_path / "patterns"), *texts], tmp_path, capfdbinary)


def test_folders(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    for name in ("b/one.txt", "b/c/two.txt", "a.txt", "b/three.log", "d/four.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"line\nof {name}\n")
    (tmp_path / "b" / "link.txt").symlink_to(tmp_path / "a.txt")
    named = [str(tmp_path / name) for name in ("a.txt", "b/three.log", "d")]
    grep = shutil.which("grep")
    assert grep is not None
    for words in (
        ["-r", "of"],
        ["-r", "-h", "of"],
        ["-r", "--include=*.txt", "of"],
        ["-r", "--include", "*.txt", "--exclude=o*", "-c", "of"],
        ["-r", "--exclude-dir=c", "-l", "of"],
        ["-r", "--include=*.log", "--include=f*", "-n", "of"],
        ["-rL", "two"],
        ["-r", "--exclude-dir=d", "of"],
        ["--exclude=*.txt", "-s", "of"],
        ["--include=*.log", "-n", "-s", "of"],
    ):
        for names in ([str(tmp_path / "b")], [str(tmp_path / "b"), str(tmp_path / "d")], named):
            peer = subprocess.run([grep, *words, *names], capture_output=True, check=False, env=os.environ | {"LC_ALL": "C"})
            capfdbinary.readouterr()
            code = main(["grep", *words, *names])
            lines = sorted(capfdbinary.readouterr().out.splitlines())
            assert (code, lines) == (peer.returncode, sorted(peer.stdout.splitlines())), words


def test_folders_that_cannot_be_read_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    for name in ("b/one", "c/d/two", "e"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x\n")
    scandir = os.scandir

    def refusing(path: str) -> object:
        if path.endswith("b"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    monkeypatch.chdir(tmp_path)
    assert main(["grep", "-r", "x"]) == 2
    output = capfdbinary.readouterr()
    assert output.out == b"c/d/two:x\ne:x\n" and b"Permission denied" in output.err


def test_a_folder_is_listed_during_the_search(tmp_path: Path) -> None:
    for name in ("b/2", "a/z/1", "a/y", "c"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x\n")
    given = arguments.parsed(["-r", "x"])
    given.words_are_files = True
    found = files_of(f"{tmp_path}/", given, iter)
    assert next(found)[1] == f"{tmp_path}/a/y"
    (tmp_path / "b" / "10").write_text("x\n")  # in a folder that is listed later
    assert [path for _, path in found] == [f"{tmp_path}/{name}" for name in ("a/z/1", "b/10", "b/2", "c")]


def test_a_selected_line_ends_a_quiet_search(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    (tmp_path / "a").write_text("x\n")
    for names in (["a", "missing"], [".", "missing"]):
        check(["-rq", "x", *(str(tmp_path / name) for name in names)], tmp_path, capfdbinary)


def test_a_folder_without_the_option(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    (tmp_path / "a").write_text("x\n")
    assert main(["grep", "x", str(tmp_path), str(tmp_path / "a")]) == 2
    output = capfdbinary.readouterr()
    assert output.out.endswith(b"a:x\n") and b"is a directory; pass -r" in output.err


def test_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    (tmp_path / "a").write_text("x\n")
    monkeypatch.chdir(tmp_path)
    assert main(["grep", "-r", "x"]) == 0
    assert capfdbinary.readouterr().out == b"a:x\n"
    assert main(["grep", "-r", "x", "."]) == 0
    assert capfdbinary.readouterr().out == b"./a:x\n"


@pytest.mark.parametrize(
    "option",
    ["-P", "-G", "-z", "-b", "-nP", "-m", "--max-count=x", "--color=no", "--no-such", "-Q", "-5", "-m--5", "-m" + "9" * 5000],
)
def test_wrong_options(option: str, texts: list[str], capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["grep", "a", texts[0], option]) == 2
    output = capfdbinary.readouterr()
    assert output.out == b"" and output.err.startswith(b"headrace")


def test_errors_of_files_are_silent(tmp_path: Path, texts: list[str], capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    absent = str(tmp_path / "absent")
    assert main(["grep", "-s", "-c", "a", absent]) == 2
    assert capfdbinary.readouterr() == (b"", b"")
    assert main(["grep", "-q", "a", absent, texts[0]]) == 0
    assert main(["grep", "-f", absent, texts[0]]) == 2


def test_words_in_text_that_is_not_utf8(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    (tmp_path / "a").write_bytes(b"\xffab\xff\n\xc3\xa9ab\nab\xc3\nxab\n")
    for words in (["-w", "-c"], ["-w", "-o"], ["-x", "-c"]):
        check(["-E", *words, "ab", str(tmp_path / "a")], tmp_path, capfdbinary)
