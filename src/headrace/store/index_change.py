"""Defines `IndexChange`: the rows that an index of keys loses and gains by a change of the store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from headrace.core.errors import MissingDependencyError
from headrace.store.store_key import KeyIndex, Keys

try:
    import numpy as np
except ImportError:
    raise MissingDependencyError.of("numpy", "numpy", "a store") from None


class KeyedRows(NamedTuple):
    """Distinct keys, and the numbers of their rows."""

    keys: Keys
    numbers: Any

    def pieces(self, size: int) -> Iterator[KeyedRows]:
        """Yield the rows in pieces of at most `size` rows."""
        for begin in range(0, len(self.numbers), size):
            places = np.arange(begin, min(begin + size, len(self.numbers)))
            yield KeyedRows(self.keys[places], self.numbers[places])


class IndexChange(NamedTuple):
    """Rows that an index loses, and rows that it gains after that."""

    lost: list[KeyedRows]
    gained: list[KeyedRows]

    def apply(self, index: KeyIndex) -> None:
        """Change an index."""
        for rows in self.lost:
            index.erase(*rows)
        for rows in self.gained:
            index.insert(*rows)

    def pieces(self, size: int) -> Iterator[IndexChange]:
        """Yield changes of at most `size` rows, which are the same one after another."""
        yield from (IndexChange([piece], []) for rows in self.lost for piece in rows.pieces(size))
        yield from (IndexChange([], [piece]) for rows in self.gained for piece in rows.pieces(size))
