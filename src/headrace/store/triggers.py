"""Decides when a delta is merged (Krueger et al. 2011, section 2.1: thresholds of size, count or time), and begins the merge.

`MergeTriggers` has the thresholds. `MergeTimer` calls a method of a store after some time without any change of the store.
`MergeThread` runs the merges that thresholds begin, and keeps their errors until a caller has them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import TIMEOUT_MAX, Lock, Thread
from typing import TYPE_CHECKING
from weakref import WeakMethod

from headrace.core.errors import OptionError
from headrace.core.options import MOST, integer, number

if TYPE_CHECKING:
    from headrace.store.state import StoreState


_RETRY_SECONDS = 60.0
"""Seconds after which a merge that has failed is tried again. A disk that is full now may have space then."""


@dataclass(frozen=True, slots=True)
class MergeTriggers:
    """Thresholds of the delta; a merge begins after a change that reaches one, or at the time. None for no such threshold."""

    rows: int | None = None  # rows of the delta and removed rows
    nbytes: int | None = None  # bytes of the delta
    ratio: float | None = None  # rows of the delta and removed rows, divided by the rows of the main
    seconds: float | None = None  # seconds since the last merge began, or since the store was opened
    clock: Callable[[], float] = time.monotonic  # returns seconds, from any begin

    @classmethod
    def of(cls, rows: object, nbytes: object, ratio: object, seconds: object) -> MergeTriggers:
        """Return the triggers of options. Raise OptionError if an option is no positive number."""
        return cls(
            None if rows is None else integer("merge_rows", rows, "a positive integer or None", 1),
            None if nbytes is None else integer("merge_bytes", nbytes, "a positive integer or None", 1),
            _positive("merge_ratio", ratio),
            _positive("merge_seconds", seconds),
        )

    def are_reached(self, state: StoreState, merged_at: float) -> bool:
        """Return whether a state should be merged; the last merge began at `merged_at`."""
        changed = state.delta_rows + state.removed_rows
        if not changed:
            return False
        reached = (
            self.rows is not None and changed >= self.rows,
            self.nbytes is not None and state.delta_bytes >= self.nbytes,
            self.ratio is not None and changed >= self.ratio * len(state.main.rows),
            self.seconds is not None and self.clock() - merged_at >= self.seconds,
        )
        return any(reached)

    def wait(self, state: StoreState, merged_at: float) -> float | None:
        """Return the seconds until a merge is due by time alone; if one is due and goes on, until another is. None for never."""
        if self.seconds is None or not state.delta_rows + state.removed_rows:
            return None
        rest = self.seconds - (self.clock() - merged_at)
        return rest if rest > 0 else self.seconds


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


def _positive(name: str, value: object) -> float | None:
    if value is None:
        return None
    found = number(name, value, "a positive number or None")
    if not 0 < found <= MOST:
        raise OptionError.wrong(name, "a positive number or None", value)
    return float(found)
