"""Tests completion by the shells themselves, if they are installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from headrace.cli.completion import commands_of
from headrace.cli.main import main, make_parser


@pytest.fixture
def script(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completion", request.param]) == 0
    return capsys.readouterr().out


def test_every_command_and_option_is_in_every_script(capsys: pytest.CaptureFixture[str]) -> None:
    commands = commands_of(make_parser())
    assert {"load", "schema", "head", "count", "demo", "completion"} < set(commands)
    for shell in ("bash", "zsh", "fish"):
        assert main(["completion", shell]) == 0
        said = capsys.readouterr().out
        for name, command in commands.items():
            assert name in said
            for flag in command.flags:
                for spelling in flag.names:
                    assert (spelling if shell != "fish" else spelling.lstrip("-")) in said


def offered(script: str, *words: str, folder: Path) -> list[str]:
    """Return the completions that bash offers for the last of `words`."""
    line = " ".join(f"'{word}'" for word in words)
    code = f'{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _headrace; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, timeout=60, cwd=folder)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("script", ["bash"], indirect=True)
def test_bash_offers_what_fits(script: str, tmp_path: Path) -> None:
    def offer(*words: str) -> list[str]:
        return offered(script, "headrace", *words, folder=tmp_path)

    assert offer("") == [
        "load",
        "sniff",
        "schema",
        "head",
        "view",
        "count",
        "grep",
        "report",
        "profile",
        "kernels",
        "bench",
        "demo",
        "completion",
    ]
    assert offer("s") == ["sniff", "schema"]
    assert offer("--v") == ["--version"]
    assert offer("load", "--qu") == ["--quote", "--quoted-null", "--quiet"]
    assert offer("load", "in.csv", "--on-error", "") == ["raise", "null", "reject"]
    assert offer("load", "in.csv", "--on-error", "re") == ["reject"]
    assert offer("load", "--sep", "--") == []
    assert offer("count", "--dty") == []
    assert offer("completion", "f") == ["fish"]
    assert offer("bench", "paper", "str") == ["string-matching"]
    assert offer("load", "") == []  # and so the shell offers files


@pytest.mark.parametrize("script", ["bash", "zsh", "fish"], indirect=True)
def test_the_shell_understands_the_script(script: str, request: pytest.FixtureRequest) -> None:
    shell = request.node.callspec.params["script"]
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}")
    done = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
