"""Defines `MergeTimer`, which calls a method of a store after some time without any change of the store."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import TIMEOUT_MAX, Timer
from weakref import WeakMethod


class MergeTimer:
    """Calls a method once after some time, in a thread of its own, if its object is still in use.

    Parameters
    ----------
    method
        The method. The timer does not keep its object alive.
    """

    def __init__(self, method: Callable[[], None]) -> None:
        self._method = WeakMethod(method)
        self._timer: Timer | None = None

    def start(self, seconds: float) -> None:
        """Begin to wait, unless a wait has begun and not ended."""
        if self._timer is None or not self._timer.is_alive():  # a fork ends the thread
            self._timer = timer = Timer(min(seconds, TIMEOUT_MAX), self._end)  # before a short wait ends
            timer.name, timer.daemon = "headrace-merge-timer", True
            with suppress(RuntimeError):  # no more threads: the next change tries again
                timer.start()

    def stop(self) -> None:
        """End the wait without a call."""
        if self._timer is not None:
            self._timer.cancel()

    def _end(self) -> None:
        self._timer = None
        if (method := self._method()) is not None:
            method()
