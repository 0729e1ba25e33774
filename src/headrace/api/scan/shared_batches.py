"""Lets several threads share the batches of a scan."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import RLock
from typing import Self

from headrace.api.table import Table
from headrace.core.errors import HeadraceError


class SharedBatches:
    """An iterator over the batches of a scan. Threads that share it, or the scan, take turns; each batch goes to one of them.

    `batches`: a generator of the batches.
    """

    def __init__(self, batches: Iterator[Table], lock: RLock, is_closed: Callable[[], bool]) -> None:
        self._batches, self._lock, self._is_closed = batches, lock, is_closed

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Table:
        with self._lock:
            if self._is_closed():
                raise HeadraceError("the scan is closed")
            return next(self._batches)

    def close(self) -> None:
        """End the iteration, and release what it holds."""
        with self._lock:
            self._batches.close()  # type: ignore[attr-defined]
