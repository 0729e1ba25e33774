"""Caches results by the identity of the values that they were computed from."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

MadeT = TypeVar("MadeT")


class Recent(Generic[MadeT]):
    """A cache of the last few results, keyed by the identity of the values that they were computed from.

    The values need not be hashable, and a lookup costs the same however large they are. They must not be changed. A result and
    its values stay alive as long as they are in the cache. Any thread may ask. If two threads miss at once, both compute the
    result, and one of the results stays in the cache.

    Parameters
    ----------
    most
        Greatest number of results in the cache.

    Examples
    --------
    >>> lengths, items = Recent(2), [1, 2, 3]
    >>> lengths.of(lambda: len(items), items), lengths.of(lambda: -1, items)
    (3, 3)
    """

    def __init__(self, most: int = 32) -> None:
        self._most = most
        self._kept: dict[Hashable, tuple[tuple[Any, ...], MadeT]] = {}

    def of(self, make: Callable[[], MadeT], *values: Any, key: Hashable = None) -> MadeT:
        """Return the cached result for these objects and an equal key, or call `make` and cache its result."""
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
