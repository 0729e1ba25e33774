"""Caches results by the identity of the objects that they were computed from."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

ValueT = TypeVar("ValueT")


class IdentityCache(Generic[ValueT]):
    """A small cache of results, keyed by the identity of their inputs, which must not be modified.

    Inputs need no hash, so those that are unhashable or slow to hash can be keys. The cache holds references to the inputs of
    each result, and evicts the oldest result first. Thread-safe: two threads that miss at once both compute the result, and one
    is kept.

    >>> lengths, items = IdentityCache(2), [1, 2, 3]
    >>> lengths.get_or_create(lambda: len(items), items), lengths.get_or_create(lambda: -1, items)
    (3, 3)
    """

    def __init__(self, max_entries: int = 32) -> None:
        self._max_entries = max_entries
        self._entries: dict[Hashable, tuple[tuple[Any, ...], ValueT]] = {}

    def get_or_create(self, make: Callable[[], ValueT], *values: Any, key: Hashable = None) -> ValueT:
        """Return the cached result for these objects and an equal `key`, or the result of `make`, which is then cached."""
        name = (key, *map(id, values))
        found = self._entries.get(name)
        if found is None:
            found = values, make()
            while len(self._entries) >= self._max_entries:
                for oldest in list(self._entries)[:1]:  # empty if other threads have removed all of them meanwhile
                    self._entries.pop(oldest, None)
            self._entries[name] = found
        return found[1]

    def __len__(self) -> int:
        return len(self._entries)

    def clear(self) -> None:
        """Remove all results."""
        self._entries.clear()
