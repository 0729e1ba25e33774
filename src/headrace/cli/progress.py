"""Shows a progress bar: on a terminal, after one second, if `rich` is installed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_DELAY = 1.0
"""Seconds before the bar appears."""


@contextmanager
def progress_bar(clock: Callable[[], float] = time.monotonic) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a function for the ``progress`` of `read_csv`, or None; remove the bar at the end of the block."""
    if not sys.stderr.isatty():
        yield None
        return
    bar = Bar(clock)
    try:
        yield bar.show
    finally:
        bar.close()


class Bar:
    """A bar that appears after a delay, and disappears at the end.

    Parameters
    ----------
    clock
        Function that returns seconds, which never decrease.
    console
        Console of rich to draw on; None for standard error.
    """

    def __init__(self, clock: Callable[[], float], console: Any = None) -> None:
        self._clock = clock
        self._console = console
        self._begun = clock()
        self._drawing: Any = None
        self._task: Any = None
        self._done = 0

    def show(self, done: int, total: int) -> None:
        """Draw the bar at `done` of `total` bytes, after the delay."""
        if self._drawing is None:
            if self._clock() - self._begun < _DELAY or not self._start(total):
                return
        elif done < self._done:  # a second pass, or the next file
            self._drawing.reset(self._task, total=total)
        self._done = done
        self._drawing.update(self._task, completed=done, total=total)
        self._drawing.refresh()

    def close(self) -> None:
        """Remove the bar."""
        if self._drawing is not None:
            self._drawing.stop()

    def _start(self, total: int) -> bool:
        try:
            from rich import progress  # optional, and slow to import
            from rich.console import Console
        except ImportError:
            self._begun = float("inf")  # do not try again
            return False
        # Nothing else is printed meanwhile, so neither a thread that redraws nor a redirected stream is needed.
        self._drawing = progress.Progress(
            progress.TextColumn("reading"),
            progress.BarColumn(),
            progress.DownloadColumn(),
            progress.TransferSpeedColumn(),
            progress.TimeRemainingColumn(),
            console=self._console or Console(stderr=True),
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._drawing.add_task("", total=total)
        self._drawing.start()
        return True
