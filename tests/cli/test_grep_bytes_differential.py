"""Tests `headrace grep` on any bytes, on standard input and with missing files, against GNU grep."""

from __future__ import annotations

import io
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from headrace.cli.main import main
from tests.tiers import seeds

ALPHABETS = (b"aabb_x \n", b"ab\r\n", b"a\n", b"ab\0\xff\xc3\xa9\n\r", bytes(range(256)))
TEXTS = ["a", "ab", "aa", "aba", "b\r", "_", " ", "x.", "aaaa"]
EXPRESSIONS = ["a[bx]+", "^a", "b$", "(ab|ba)+", "a{2,3}", "[[:space:]]b", "^[ab]+$", "(a|aa)(b|ab)", "b\\.?a", "^b|a$"]
FLAGS = ["-i", "-v", "-w", "-x", "-n", "-c", "-l", "-L", "-o", "-q", "-h", "-H", "-s"]


def drawn_text(source: random.Random) -> bytes:
    text = bytes(source.choices(source.choice(ALPHABETS), k=source.choice([0, 0, 1, 2, 5, 30, 200, 2000])))
    return text.replace(b"\n", b"\r\n") if source.random() < 0.3 else text


def drawn_options(source: random.Random) -> list[str]:
    """Return options and patterns that both programs read in the same way, also near lines that overlap."""
    flags = source.sample(FLAGS, source.choice([0, 1, 1, 2, 3]))
    for name in source.sample(["-m"] if "-o" in flags else ["-m", "-A", "-B", "-C"], source.choice([0, 0, 1, 1])):
        flags.append(f"{name}{source.randint(name != '-m', 4)}")
    kind, patterns = source.choice([("-F", TEXTS), ("-E", EXPRESSIONS)])
    return [kind, *flags, *(word for pattern in source.sample(patterns, source.choice([1, 1, 2, 3])) for word in ("-e", pattern))]


@pytest.mark.parametrize("seed", seeds(20))
def test_any_bytes_as_in_grep(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    grep = shutil.which("grep")
    assert grep is not None
    source = random.Random(seed)
    for _ in range(10):
        names = [str(tmp_path / f"{number}") for number in range(source.randint(0, 4))]
        for name in names:
            Path(name).write_bytes(drawn_text(source))
        names += [str(tmp_path / "missing")] if source.random() < 0.15 else []
        names = ["-", *names] if source.random() < 0.15 else names
        given, command = drawn_text(source), [*drawn_options(source), *names]
        peer = subprocess.run(
            [grep, "-a", *command], input=given, capture_output=True, check=False, env=os.environ | {"LC_ALL": "C"}
        )
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        capfdbinary.readouterr()
        code = main(["grep", *command])
        assert (code, capfdbinary.readouterr().out) == (peer.returncode, peer.stdout), command


def test_a_closed_pipe(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"word\n" * 1_000_000)
    script = "import sys; from headrace.cli.main import main; sys.exit(main())"
    command = [sys.executable, "-c", script, "grep", "word", str(tmp_path / "a")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == b"word\n"
        process.stdout.close()
        assert process.stderr.read() == b"" and process.wait() == 141
