"""Counts the bytes copied between host and GPU. Every copy is counted, and law 3 (CONTRIBUTING.md) says where data crosses."""

from __future__ import annotations

from dataclasses import dataclass, field

from headrace.core.process.process_lock import process_lock

_counting = process_lock()


@dataclass(slots=True)
class Crossings:
    """Bytes copied between host and GPU, and number of copies. `part` counts one call within a total.

    >>> crossings = Crossings()
    >>> crossings.count(to_gpu=100)
    >>> crossings
    Crossings(to_gpu=100, to_host=0, copies=1)
    """

    to_gpu: int = 0
    to_host: int = 0
    copies: int = 0
    whole: Crossings | None = field(default=None, repr=False, compare=False)

    def part(self) -> Crossings:
        """Return a counter that starts at zero; its copies are added to this one, too."""
        return Crossings(whole=self)

    def count(self, *, to_gpu: int = 0, to_host: int = 0, copies: int = 1) -> None:
        """Add the bytes of a copy, or of several. Thread-safe."""
        counted: Crossings | None = self
        with _counting:
            while counted is not None:
                counted.to_gpu += to_gpu
                counted.to_host += to_host
                counted.copies += copies
                counted = counted.whole
