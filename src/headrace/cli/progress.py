"""A bar on long work: on a terminal only, after a second only, and only if `rich` is there."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_PATIENCE = 1.0
"""Seconds: what ends sooner needs no bar."""


@contextmanager
def progress_bar(clock: Callable[[], float] = time.monotonic) -> Iterator[Callable[[int, int], None] | None]:
    """What to pass as `read_csv`'s ``progress``; the bar goes with the block, however that ends."""
    if not sys.stderr.isatty():
        yield None
        return
    bar = Bar(clock)
    try:
        yield bar.show
    finally:
        bar.close()


class Bar:
    """A bar that appears when the work has taken a while, and leaves nothing behind.

    Parameters
    ----------
    clock
        Seconds that only go up.
    console
        Where rich draws; None for standard error.
    """

    def __init__(self, clock: Callable[[], float], console: Any = None) -> None:
        self._clock = clock
        self._console = console
        self._begun = clock()
        self._drawing: Any = None
        self._task: Any = None
        self._done = 0

    def show(self, done: int, total: int) -> None:
        """Draw the bar at `done` of `total` bytes, if it is time to."""
        if self._drawing is None:
            if self._clock() - self._begun < _PATIENCE or not self._start(total):
                return
        elif done < self._done:  # a second pass, or the next file
            self._drawing.reset(self._task, total=total)
        self._done = done
        self._drawing.update(self._task, completed=done, total=total)
        self._drawing.refresh()

    def close(self) -> None:
        """Take the bar away."""
        if self._drawing is not None:
            self._drawing.stop()

    def _start(self, total: int) -> bool:
        try:
            from rich import progress  # optional, and slow to import
            from rich.console import Console
        except ImportError:
            self._begun = float("inf")  # not to try again
            return False
        # Nothing else is written meanwhile, so no thread has to redraw and no stream to be caught.
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
