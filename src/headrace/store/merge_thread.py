"""Runs the merges that thresholds begin, in a thread, and keeps their errors until a caller has them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Thread

_RETRY_SECONDS = 60.0
"""Seconds after which a merge that has failed is tried again. A disk that is full now may have space then."""


class MergeThread:
    """A thread that merges, at most one at a time.

    `clock`: returns seconds, from any begin.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._thread: Thread | None = None
        self._failed_at = 0.0
        self.error: Exception | None = None
        """Error of the last merge, unless a caller has it."""

    def begin(self, merge: Callable[[], object]) -> None:
        """Begin a merge, unless one goes on or has failed lately. One thread at a time calls this."""
        is_running = self._thread is not None and self._thread.is_alive()
        if is_running or (self.error is not None and self._clock() - self._failed_at < _RETRY_SECONDS):
            return
        # A process that ends waits for the merge, also if the timer's thread, which is a daemon, begins it.
        thread = Thread(target=self._run, args=(merge,), name="headrace-merge", daemon=False)
        with suppress(RuntimeError):  # no more threads, or the process ends: the next change tries again
            thread.start()
            self._thread = thread

    def wait(self) -> None:
        """Return when no merge goes on, and raise the error of the last one."""
        thread = self._thread
        if thread is not None:
            thread.join()
        self.raise_error()

    def raise_error(self) -> None:
        """Raise the error of the last merge, once."""
        error, self.error = self.error, None
        if error is not None:
            raise error

    def _run(self, merge: Callable[[], object]) -> None:
        try:
            merge()
        except Exception as error:  # noqa: BLE001  the next caller has it, whatever it is
            self._failed_at, self.error = self._clock(), error
        else:
            self.error = None
