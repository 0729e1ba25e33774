"""Tests the bar on long work: when it is drawn, its text, and that nothing of it stays."""

from __future__ import annotations

import io
import sys

import pytest
from rich.console import Console

from headrace.cli.progress import Bar, progress_bar


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def drawn() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def bar(clock: Clock, drawn: io.StringIO) -> Bar:
    return Bar(clock, Console(file=drawn, force_terminal=True, width=100))


def test_short_work_has_no_bar(bar: Bar, clock: Clock, drawn: io.StringIO) -> None:
    for _ in range(9):
        clock.now += 0.1
        bar.show(1, 10)
    bar.close()
    assert drawn.getvalue() == ""


def test_long_work_has_one_that_goes_again(bar: Bar, clock: Clock, drawn: io.StringIO) -> None:
    clock.now += 1.1
    bar.show(300_000_000, 1_000_000_000)
    bar.show(600_000_000, 1_000_000_000)
    assert "reading" in drawn.getvalue() and "0.3/1.0 GB" in drawn.getvalue() and "0.6/1.0 GB" in drawn.getvalue()
    bar.close()
    assert drawn.getvalue().endswith("\x1b[1A\x1b[2K")  # up, and the line is empty


def test_a_second_pass_begins_at_zero(bar: Bar, clock: Clock, drawn: io.StringIO) -> None:
    clock.now += 2
    bar.show(900, 1000)
    bar.show(100, 500)
    bar.close()
    assert "100/500 bytes" in drawn.getvalue()


def test_without_rich_there_is_none(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "rich"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rich", None)
    bar = Bar(clock)
    clock.now += 2
    bar.show(1, 2)
    bar.show(2, 2)
    bar.close()


def test_what_is_no_terminal_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress_bar() as show:
        assert show is None


def test_a_terminal_gets_one_and_errors_take_it_away(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")

    def work() -> None:
        with progress_bar(clock) as show:
            assert show is not None
            clock.now += 2
            show(1, 2)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert "reading" in screen.getvalue() and screen.getvalue().endswith("\x1b[2K")
