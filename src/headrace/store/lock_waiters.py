"""Defines `LockWaiters`, by which a long change knows that it should give up its lock for others."""

from __future__ import annotations

from threading import get_ident
from types import TracebackType


class LockWaiters:
    """Threads that wait for a lock or hold it: ``with waiters, lock:``.

    The lock is one of C: in Python code, an interrupt could come between its acquisition and the block, whose end releases it.
    """

    def __init__(self) -> None:
        self._threads: set[int] = set()

    @property
    def has_others(self) -> bool:
        """True while a thread other than the calling one waits, if the calling one holds the lock."""
        return bool(self._threads - {get_ident()})

    def __enter__(self) -> None:
        self._threads.add(get_ident())

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._threads.discard(get_ident())
