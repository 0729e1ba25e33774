"""What went between host and GPU: nothing crosses unless the caller names it, and what crosses is counted."""

from __future__ import annotations

from dataclasses import dataclass, field

from headrace.core.process_lock import process_lock

_counting = process_lock()


@dataclass(slots=True)
class Crossings:
    """Bytes that went between host and GPU, and how often; with `part`, those of one call and of all together.

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
    whole: Crossings | None = field(default=None, repr=False, compare=False)

    def part(self) -> Crossings:
        """A count of its own, from nothing, of what is counted here as well."""
        return Crossings(whole=self)

    def count(self, *, to_gpu: int = 0, to_host: int = 0) -> None:
        """Add a copy; any thread may."""
        counted: Crossings | None = self
        with _counting:
            while counted is not None:
                counted.to_gpu += to_gpu
                counted.to_host += to_host
                counted.copies += 1
                counted = counted.whole
