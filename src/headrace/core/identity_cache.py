"""Caches results by the identity of the objects that they were computed from."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

MadeT = TypeVar("MadeT")


class IdentityCache(Generic[MadeT]):
    """A small cache of results, keyed by the identity of their inputs, which must not be modified.

    Inputs need no hash, so those that are unhashable or slow to hash can be keys. The cache holds references to the inputs of
    each result, and evicts the oldest result first. Thread-safe: two threads that miss at once both compute the result, and one
    is kept.

    Parameters
    ----------
    most
        Maximum number of results.

    Examples
    --------
    >>> lengths, items = IdentityCache(2), [1, 2, 3]
    >>> lengths.of(lambda: len(items), items), lengths.of(lambda: -1, items)
    (3, 3)
    """

    def __init__(self, most: int = 32) -> None:
        self._most = most
        self._kept: dict[Hashable, tuple[tuple[Any, ...], MadeT]] = {}

    def of(self, make: Callable[[], MadeT], *values: Any, key: Hashable = None) -> MadeT:
        """Return the cached result for these objects and an equal `key`, or the result of `make`, which is then cached."""
        name = (key, *map(id, values))
        found = self._kept.get(name)
        if found is None:
            found = values, make()
            while len(self._kept) >= self._most:
                for oldest in list(self._kept)[:1]:  # empty if other threads have removed all of them meanwhile
                    self._kept.pop(oldest, None)
            self._kept[name] = found
        return found[1]

    def clear(self) -> None:
        """Remove all results."""
        self._kept.clear()
