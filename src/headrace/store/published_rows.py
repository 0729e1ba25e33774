"""Holds the state of a store that readers see, and the index of its keys.

Readers of keys wait for changes of the index alone, and for no file: a change is in the log before it is published.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from headrace.core.context import Context
from headrace.core.errors import HeadraceError, MissingDependencyError
from headrace.store.change import Change
from headrace.store.keys import FoundRows
from headrace.store.main import Main
from headrace.store.state import StoreState
from headrace.store.store_key import KeyIndex, Keys, StoreKey

try:
    import numpy as np
except ImportError:
    raise MissingDependencyError.of("numpy", "numpy", "a store") from None


class _Published(NamedTuple):
    """Rows that were removed from a state, and rows that were added to it; some of these may be removed, too."""

    before: StoreState
    removed: Any
    added: Sequence[Change]


class PublishedRows:
    """The rows of a store that readers see. One thread at a time publishes; any number of threads read.

    Parameters
    ----------
    state
        The state at the begin.
    key
        The key; None without one.
    context
        Threads and memory of each call.
    """

    def __init__(self, state: StoreState, key: StoreKey | None, context: Context) -> None:
        self.state = state
        self._key = key
        self._context = context
        self._lock = threading.Lock()
        self._index: KeyIndex | None = None
        self._unnoted: list[_Published] = []

    def publish(self, after: StoreState, removed: Any, added: Sequence[Change]) -> None:
        """Show a state after a change, of which these numbers were removed and these rows were added."""
        with self._lock:
            if self._index is not None:
                self._unnoted.append(_Published(self.state, removed, added))
            self.state = after

    def use_main(self, main: Main, merged: StoreState) -> None:
        """Show the same rows with a main that has those of an earlier state."""
        with self._lock:
            self.state = self.state.with_main(main, merged)

    def find(self, keys: Keys) -> tuple[StoreState, FoundRows]:
        """Return the present state, and the row of each key in it. The store has a key."""
        key = self._key
        assert key is not None
        with self._lock:
            self._note()
            if self._index is None:
                index = key.index(lambda numbers: self.state.rows_at(numbers, key.names, self._context))
                index.insert(key.of(self.state.columns(key.names, self._context)), self.state.row_numbers)
                self._index = index
            return self.state, self._index.find(keys)

    def note(self) -> None:
        """Bring the index up to date, so that the next call of `find` does not have to."""
        with self._lock:
            self._note()

    def _note(self) -> None:
        """Note all changes in the index. If that fails, the next call of `find` builds another one."""
        index, key, self._index = self._index, self._key, None
        unnoted, self._unnoted = self._unnoted, []
        if index is None or key is None:
            return
        with suppress(HeadraceError, MemoryError):
            for change in unnoted:
                self._note_change(index, key, change)
            self._index = index

    def _note_change(self, index: KeyIndex, key: StoreKey, change: _Published) -> None:
        removed, first = change.removed, change.added[0].first_row if change.added else None
        old = removed if first is None else removed[removed < first]
        if len(old):
            index.erase(key.of(change.before.rows_at(old, key.names, self._context)), old)
        for added in change.added:
            numbers: Any = np.arange(added.first_row, added.first_row + added.length, dtype=np.uint64)
            keys = key.of({name: added.columns[name] for name in key.names})
            if len(old) < len(removed):
                remains = np.isin(numbers, removed, invert=True)
                keys, numbers = keys[remains], numbers[remains]
            index.insert(keys, numbers)
