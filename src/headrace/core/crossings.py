"""What went between host and GPU: nothing crosses unless the caller names it, and what crosses is counted."""

from __future__ import annotations

import threading
from dataclasses import dataclass

_counting = threading.Lock()


@dataclass(slots=True)
class Crossings:
    """Bytes that went between host and GPU, and how often.

    Examples
    --------
    >>> crossings = Crossings()
    >>> crossings.count(to_gpu=100)
    >>> crossings
    Crossings(to_gpu=100, to_host=0, copies=1)
    """

    to_gpu: int = 0
    to_host: int = 0
    copies: int = 0

    def count(self, *, to_gpu: int = 0, to_host: int = 0) -> None:
        """Add a copy; any thread may."""
        with _counting:
            self.to_gpu += to_gpu
            self.to_host += to_host
            self.copies += 1
