"""Every option of every command with values of every wrong kind: a message and an exit code, never a traceback."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from headrace.cli.main import main, make_parser

VALUES = [
    "",
    " ",
    "-",
    "--",
    "0",
    "-1",
    "1" * 5000,
    "1.5",
    "nan",
    "1e400",
    "None",
    "none",
    "True",
    "xyzzy",
    "é",
    "\udcff",
    "\ud800",
    "a\0b",
    "\\",
    "\\x",
    "\\udcff",
    "a=b",
    "=",
    "a=",
    ",",
    ",,,",
    "a,a",
    "a,b,a",
    "%",
    "%(x)s",
    "{x}",
    "[",
    "*",
    "x" * 100_000,
    "missing/missing.csv",
    "/dev/null",
    "/",
]
VALUES_APART = 4
"""A test takes each fourth value; those from the first one are tried by default. Commands other than `load` have the same
options, and take these values alone.
"""
REQUIRED = {"load": ["--to", "out.csv"]}
COMMANDS = ("load", "sniff", "schema", "head", "count", "profile")
"""Those that read a file; the others take one word of a list."""


def options() -> list[tuple[str, str]]:
    """Each command with each of its options that take a value, and FILE."""
    commands = next(action for action in make_parser()._actions if isinstance(action, argparse._SubParsersAction))
    return [
        (name, option.option_strings[-1] if option.option_strings else "FILE")
        for name in COMMANDS
        for option in commands.choices[name]._actions
        if option.nargs != 0
    ]


@pytest.mark.covering(long=0)
@pytest.mark.long_except("0-load-*")
@pytest.mark.parametrize(
    ("begin", "command", "option"),
    [(begin, *one) for begin in range(VALUES_APART) for one in options() if begin == 0 or one[0] == "load"],
)
def test_one_wrong_value(
    begin: int, command: str, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_bytes(b"a,b\n1,x\n2,y\n")
    required = [] if option in REQUIRED.get(command, []) else REQUIRED.get(command, [])
    for value in VALUES[begin::VALUES_APART]:
        given = [command, value] if option == "FILE" else [command, "in.csv", f"{option}={value}"]
        code = main([*given, *required])
        said = capsys.readouterr().err
        assert code in range(6), (value, code)
        assert code == 0 or said.startswith(("headrace", "usage")), (value, said)
        assert "Traceback" not in said and "{'" not in said, (value, said)


@pytest.mark.parametrize(
    "words", [[], ["xyzzy"], ["completion", "xyzzy"], ["kernels", "xyzzy"], ["load"], ["kernels", "list", "--arch", ""]]
)
def test_wrong_words(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) in range(6)
    assert "Traceback" not in capsys.readouterr().err
