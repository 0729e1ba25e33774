"""Defines `MergeTimer`, which calls a method of a store after some time without any change of the store."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import TIMEOUT_MAX, Lock, Thread
from weakref import WeakMethod


class MergeTimer:
    """Calls a method once after some time, in a thread of its own, if its object is still in use.

    `method`: the method. The timer does not keep its object alive, and a wait ends with the object.
    """

    def __init__(self, method: Callable[[], None]) -> None:
        self._method = WeakMethod(method, lambda _: self.stop())
        self._thread: Thread | None = None
        self._is_ended = Lock()

    def start(self, seconds: float) -> None:
        """Begin to wait, unless a wait has begun and not ended."""
        if self._thread is None or not self._thread.is_alive():  # a fork ends the thread
            self._is_ended = is_ended = Lock()
            is_ended.acquire()
            given = min(seconds, TIMEOUT_MAX), is_ended
            self._thread = thread = Thread(target=self._wait, args=given, name="headrace-merge-timer", daemon=True)
            with suppress(RuntimeError):  # no more threads: the next change tries again
                thread.start()

    def stop(self) -> None:
        """End the wait without a call. It may be called in any place, since a release of a lock waits for nothing."""
        with suppress(RuntimeError):  # there is no wait
            self._is_ended.release()

    def _wait(self, seconds: float, is_ended: Lock) -> None:
        if not is_ended.acquire(timeout=seconds):
            self._thread = None
            if (method := self._method()) is not None:
                method()
