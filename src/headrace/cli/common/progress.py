"""Shows the progress of a read on standard error: one line, on a terminal, after one second."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

_DELAY = 1.0  # seconds before the line appears
_INTERVAL = 0.1  # seconds between two drawings
_BAR_WIDTH = 30
_ERASE = "\r\x1b[2K"


@contextmanager
def progress_bar(clock: Callable[[], float] = time.monotonic) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a function for the ``progress`` of `read_csv`, or None; remove the line at the end of the block."""
    if not sys.stderr.isatty():
        yield None
        return
    bar = Bar(clock, sys.stderr)
    try:
        yield bar.show
    finally:
        bar.close()


class Bar:
    """A line that appears after a delay, and disappears at the end.

    `clock`: function that returns seconds, which never decrease. `stream`: terminal to draw on.
    """

    def __init__(self, clock: Callable[[], float], stream: TextIO) -> None:
        self._clock = clock
        self._stream = stream
        self._begun = self._pass_begun = clock()
        self._drawn: float | None = None
        self._done = 0

    def show(self, done: int, total: int) -> None:
        """Draw `done` of `total` bytes, after the delay; a `total` of 0 is unknown."""
        now = self._clock()
        if done < self._done:  # a second pass, or the next file
            self._pass_begun = now
        self._done = done
        if now - self._begun < _DELAY or (self._drawn is not None and now - self._drawn < _INTERVAL):
            return
        self._drawn = now
        self._stream.write(_ERASE + line(done, total, now - self._pass_begun))
        self._stream.flush()

    def close(self) -> None:
        """Remove the line."""
        if self._drawn is not None:
            self._stream.write(_ERASE)
            self._stream.flush()


def line(done: int, total: int, seconds: float) -> str:
    """Return the text of the line.

    >>> line(250_000_000, 1_000_000_000, 0.5)
    'reading [=======                       ]  25 %  0.25 of 1.00 GB  500 MB/s  2 s left'
    >>> line(250_000_000, 0, 0.5)
    'reading  0.25 GB  500 MB/s'
    """
    rate = done / seconds if seconds > 0 else 0.0
    speed = f"{rate / 1e6:.0f} MB/s"
    if not total:
        return f"reading  {done / 1e9:.2f} GB  {speed}"
    share = min(done / total, 1.0)
    bar = "=" * int(share * _BAR_WIDTH)
    left = f"  {(total - done) / rate:.0f} s left" if rate else ""
    return (
        f"reading [{bar:{_BAR_WIDTH}}] {share:4.0%}".replace("%", " %")
        + f"  {done / 1e9:.2f} of {total / 1e9:.2f} GB  {speed}{left}"
    )
