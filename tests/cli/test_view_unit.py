"""Tests `headrace view`: the screen by keys, lazy rows of small batches, plain output, and a real pseudo-terminal."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from headrace.api.picture import text_width
from headrace.cli.main import main
from headrace.cli.view.lazy_rows import LazyRows
from headrace.cli.view.screen import Screen

TEXT = b"n,name,note\n" + b"".join(b"%d,name %d,%s\n" % (i, i % 10, b"x" * (i % 60)) for i in range(500))
AS_WRITTEN = {"dtypes": "string", "batch_bytes": 300}


@pytest.fixture
def screen() -> Screen:
    return Screen(LazyRows(TEXT, AS_WRITTEN), {"n": "int64"}, height=8, width=40)


def press(screen: Screen, *keys: str) -> list[str]:
    for key in keys:
        assert screen.press(key)
    return screen.lines()


def test_names_types_and_rows_are_shown_and_not_more_is_read(screen: Screen) -> None:
    lines = screen.lines()
    assert lines[:3] == ["   n      name    note", "   int64  string  string", "1  0      name 0  null"]
    assert len(lines) == 8 and lines[-1].startswith("rows 1 to 5 of ") and max(map(len, lines)) <= 40
    assert screen.rows.count < 100 and not screen.rows.is_complete


def test_keys_move_within_the_table(screen: Screen) -> None:
    assert press(screen, "down", "pagedown")[2].split()[:2] == ["7", "6"]
    assert press(screen, "up", "pageup", "home", "up")[2].split()[0] == "1"
    assert press(screen, "end", "down")[6].split()[:2] == ["500", "499"]
    assert "of 500" in screen.lines()[-1]
    assert press(screen, "home", "right")[0].split() == ["name", "note"]
    assert press(screen, "right", "right", "right", "left", "left")[0].split() == ["n", "name", "note"]
    assert not screen.press("q")


def test_search_goes_on_and_back(screen: Screen) -> None:
    assert press(screen, *"/NAME 7\n")[2].split()[0] == "8"
    assert press(screen, "n", "n")[2].split()[0] == "28"
    assert press(screen, "N")[2].split()[0] == "18"
    assert press(screen, *"/nothing\n")[-1] == "'nothing': no later row"


def test_a_row_by_number(screen: Screen) -> None:
    assert press(screen, *"g321\n")[2].split()[:2] == ["321", "320"]
    assert press(screen, *"gx", "backspace", *"9\n")[2].split()[0] == "9"
    assert press(screen, *"g12345\n")[6].split()[0] == "500"


def test_every_row_is_found_in_any_order() -> None:
    rows = LazyRows(TEXT, AS_WRITTEN)
    for number in (499, 3, 250, 499, 0, 77):
        found = rows.row(number)
        assert found is not None and found[0] == str(number)
    assert rows.row(500) is None and rows.row(-1) is None


def test_cells_have_the_width_of_a_terminal() -> None:
    rows = LazyRows("a,b\n日本語,1\né\x1b[31m,2\n".encode(), {"dtypes": "string"})
    lines = Screen(rows, {}, height=6, width=30).lines()
    assert [text_width(line) for line in lines[2:4]] == [14, 14] or len(
        {text_width(line.rsplit(" ", 1)[0]) for line in lines[2:4]}
    ) == 1
    assert not any("\x1b" in line for line in lines)


def test_without_a_terminal_all_rows_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "in.csv"
    path.write_text("n;t\n" + "".join(f"{i};x\n" for i in range(2500)))
    assert main(["view", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2502 and lines[0].split() == ["n", "t"] and lines[-1].split() == ["2500", "2499", "x"]


def test_a_terminal_shows_pages_until_q(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_bytes(TEXT)
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "headrace", "view", str(path)]
    environment = {**os.environ, "TERM": "xterm", "LINES": "12", "COLUMNS": "80"}
    with subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment) as process:
        os.close(slave)
        try:
            shown = _until(master, b"q quit")
            os.write(master, b"g490\n")
            shown += _until(master, b"name 9")
            os.write(master, b"q")
            _until(master, b"\x1b[?1049l")
            assert process.wait(30) == 0
        finally:
            process.kill()
    os.close(master)
    assert b"int64" in shown and b"489" in shown


def _until(terminal: int, text: bytes) -> bytes:
    """Return what the terminal shows up to a text."""
    shown, end = b"", time.monotonic() + 30
    while text not in shown and time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 1 << 16)
    assert text in shown
    return shown
