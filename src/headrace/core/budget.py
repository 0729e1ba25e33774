"""Limits how many bytes of device memory one call may hold."""

from __future__ import annotations

import threading

from headrace.core.errors import MemoryLimitError


class Budget:
    """Counts the bytes of device memory that one call holds, against a limit.

    `limit`: maximum in bytes; None for no limit.

    >>> budget = Budget(100)
    >>> budget.charge(80)
    >>> budget.charge(30)
    Traceback (most recent call last):
    headrace.core.errors.MemoryLimitError: 30 bytes more do not fit the memory limit of 100: 80 are in use
    >>> budget.refund(80)
    >>> budget.used, budget.peak
    (0, 80)
    """

    __slots__ = ("_lock", "limit", "peak", "used")

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self.used = 0
        self.peak = 0
        self._lock = threading.Lock()

    def charge(self, nbytes: int) -> None:
        """Add allocated bytes. Raise MemoryLimitError if they exceed the limit; nothing is added."""
        with self._lock:
            used = self.used + nbytes
            if self.limit is not None and used > self.limit:
                raise MemoryLimitError(
                    f"{nbytes:_} bytes more do not fit the memory limit of {self.limit:_}: {self.used:_} are in use"
                )
            self.used = used
            self.peak = max(self.peak, used)

    def refund(self, nbytes: int) -> None:
        """Subtract freed bytes."""
        with self._lock:
            self.used -= nbytes
