"""Tests the bar on long work: when it is drawn, its text, and that nothing of it stays."""

from __future__ import annotations

import io
import sys

import pytest

from headrace.cli.common.progress import Bar, progress_bar


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
    return Bar(clock, drawn)


def test_short_work_has_no_bar(bar: Bar, clock: Clock, drawn: io.StringIO) -> None:
    for _ in range(9):
        clock.now += 0.1
        bar.show(1, 10)
    bar.close()
    assert drawn.getvalue() == ""


def test_long_work_has_one_that_goes_again(bar: Bar, clock: Clock, drawn: io.StringIO) -> None:
    clock.now += 2
    bar.show(300_000_000, 1_000_000_000)
    clock.now += 1
    bar.show(600_000_000, 1_000_000_000)
    assert "30 %  0.30 of 1.00 GB  150 MB/s  5 s left" in drawn.getvalue()
    assert "60 %  0.60 of 1.00 GB  200 MB/s  2 s left" in drawn.getvalue()
    bar.close()
    assert drawn.getvalue().endswith("\r\x1b[2K")


def test_a_second_pass_has_a_rate_of_its_own(bar: Bar, clock: Clock, drawn: io.StringIO) -> None:
    clock.now += 2
    bar.show(900_000_000, 1_000_000_000)
    clock.now += 1
    bar.show(0, 1_000_000_000)
    clock.now += 1
    bar.show(100_000_000, 1_000_000_000)
    assert "10 %  0.10 of 1.00 GB  100 MB/s" in drawn.getvalue()


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
