"""Defines `ChangeLock`, which a long change can give up for others that wait."""

from __future__ import annotations

from threading import RLock, get_ident
from types import TracebackType


class ChangeLock:
    """A reentrant lock that knows if another thread waits for it."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._waiting: set[int] = set()

    @property
    def is_wanted(self) -> bool:
        """True while a thread waits."""
        return bool(self._waiting)

    def __enter__(self) -> None:
        if self._lock.acquire(blocking=False):
            return
        self._waiting.add(get_ident())
        try:
            self._lock.acquire()
        finally:
            self._waiting.discard(get_ident())

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._lock.release()
