"""Holds the state of a store that readers see, and the index of its keys.

Readers of keys wait for no file: a change is in the log before it is published. The index takes a large change piece by piece.
Until it has all pieces, readers see the state from before. Rows of small changes are written one after another, and shown when
the log is synced. The index has them at once, since the next change must find their keys.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from sys import maxsize
from typing import Any, NamedTuple

from headrace.core.context import Context
from headrace.core.errors import HeadraceError, MissingDependencyError
from headrace.core.process.process_lock import renew_in_children
from headrace.store.change import Change
from headrace.store.keys.key_values import FoundRows
from headrace.store.keys.store_key import KeyIndex, Keys, StoreKey
from headrace.store.state import StoreState

try:
    import numpy as np
except ImportError:
    raise MissingDependencyError.of("numpy", "numpy", "a store") from None

PIECE_ROWS = 1 << 14  # rows that the index takes in 1 to 5 ms, for which readers wait


class _KeyedRows(NamedTuple):
    """Distinct keys, and the numbers of their rows."""

    keys: Keys
    numbers: Any

    def pieces(self, size: int) -> Iterator[_KeyedRows]:
        """Yield the rows in pieces of at most `size` rows."""
        for begin in range(0, len(self.numbers), size):
            places = np.arange(begin, min(begin + size, len(self.numbers)))
            yield _KeyedRows(self.keys[places], self.numbers[places])


class _IndexChange(NamedTuple):
    """Rows that an index loses, and rows that it gains after that."""

    lost: list[_KeyedRows]
    gained: list[_KeyedRows]

    def apply(self, index: KeyIndex) -> None:
        for rows in self.lost:
            index.erase(*rows)
        for rows in self.gained:
            index.insert(*rows)

    def pieces(self, size: int) -> Iterator[_IndexChange]:
        """Yield changes of at most `size` rows, which are the same one after another."""
        yield from (_IndexChange([piece], []) for rows in self.lost for piece in rows.pieces(size))
        yield from (_IndexChange([], [piece]) for rows in self.gained for piece in rows.pieces(size))


class _Published(NamedTuple):
    """Rows that were removed from a state, and rows that were added to it; some of these may be removed, too."""

    before: StoreState
    removed: Any
    added: Sequence[Change]

    @property
    def first_row(self) -> int:
        """Number of the first row that was added; without any, one that no row has."""
        return self.added[0].first_row if self.added else maxsize

    def index_change(self, key: StoreKey, context: Context) -> _IndexChange:
        """Return the rows that an index of the keys loses and gains."""
        old = self.removed[self.removed < self.first_row]
        lost = [_KeyedRows(key.of(self.before.rows_at(old, key.names, context)), old)] if len(old) else []
        return _IndexChange(lost, [self._gained(key, change) for change in self.added])

    def _gained(self, key: StoreKey, change: Change) -> _KeyedRows:
        numbers: Any = np.arange(change.first_row, change.first_row + change.length, dtype=np.uint64)
        keys = key.of({name: change.columns[name] for name in key.names})
        remains = np.isin(numbers, self.removed[self.removed >= self.first_row], invert=True)
        return _KeyedRows(keys, numbers) if remains.all() else _KeyedRows(keys[remains], numbers[remains])


class _Begun(NamedTuple):
    """Changes that readers do not see, of which the index has some rows."""

    first_row: int  # number of the first row that readers do not see
    lost: KeyIndex | None  # the rows that the index loses, which they see; None for none


class _View(NamedTuple):
    """States and rows of readers, replaced as a whole. So an interrupt leaves those from before or those after."""

    state: StoreState
    written: StoreState  # The state with the changes that readers do not see yet. The index has all of its rows.
    begun: _Begun | None = None  # the rows of the index that readers do not see; None without such rows
    shown_count: int = 0  # number of the last written change that is shown


class WrittenRows(NamedTuple):
    """A state that readers do not see yet, after rows were added."""

    number: int  # number of such changes
    state: StoreState
    next_row: int  # number of the first row that the state does not have


class PublishedRows:
    """The rows of a store that readers see. One thread at a time writes or publishes; any number of threads read and show.

    `piece_rows`: rows that the index takes at a time.
    """

    def __init__(self, state: StoreState, key: StoreKey | None, context: Context, piece_rows: int = PIECE_ROWS) -> None:
        self._view = _View(state, state)
        self._key = key
        self._context = context
        self._piece_rows = piece_rows
        self._lock = threading.Lock()
        self._index: KeyIndex | None = None
        self._unnoted: list[_Published] = []
        self._written_count = 0
        renew_in_children(self)

    def renew_after_fork(self) -> None:
        """See `Renewable`. The index goes if a thread was changing or reading it."""
        if self._lock.locked() or self._view.begun is not None:
            self._index, self._view = None, self._view._replace(written=self.state, begun=None)
        self._lock = threading.Lock()

    @property
    def state(self) -> StoreState:
        """The state that readers see."""
        return self._view.state

    @property
    def written(self) -> StoreState:
        """The state with the changes that readers do not see yet."""
        return self._view.written

    def publish(self, after: StoreState, removed: Any, added: Sequence[Change]) -> None:
        """Show a state after a change, of which these numbers were removed and these rows were added."""
        change = _Published(self.state, removed, added)
        is_large = len(removed) + sum(part.length for part in added) > self._piece_rows
        is_noted = is_large and self._index is not None and self._note_in_pieces(change, after)
        with self._lock:
            index, self._index = self._index, None  # after an interrupt, the next look-up builds another one
            if not is_noted:
                self._unnoted.append(change)
            self._view = self._view._replace(state=after, written=after, begun=None)
            self._index = index

    def takes_writes(self, change: Change) -> bool:
        """Return whether a change may be written before it is shown: it removes nothing, and the index takes it in one piece."""
        return 0 < change.length <= self._piece_rows and not len(change.removed)

    def write(self, change: Change) -> WrittenRows:
        """Note a change, of those that `takes_writes`, without showing it."""
        with self._lock:
            index, self._index = self._index, None  # as in `publish`
            self._unnoted.append(_Published(self.written, change.removed, [change]))
            begun = self._view.begun or _Begun(change.first_row, None)
            self._view = self._view._replace(written=self.written.after(change), begun=begun)
            self._index = index
            self._written_count += 1
            number, written = self._written_count, self.written
        return WrittenRows(number, written, change.first_row + change.length)

    def show(self, rows: WrittenRows) -> None:
        """Show written rows, and all that were written before, unless later ones are shown."""
        with self._lock:
            if rows.number > self._view.shown_count:
                begun = None if rows.state is self.written else _Begun(rows.next_row, None)
                self._view = _View(rows.state, self.written, begun, rows.number)

    def show_all(self) -> None:
        """Show all rows that are written."""
        with self._lock:
            self._view = _View(self.written, self.written, None, self._written_count)

    def use(self, state: StoreState) -> None:
        """Show a state of the same rows, with another main or other columns. All rows are shown."""
        with self._lock:
            self._view = self._view._replace(state=state, written=state)

    def find(self, keys: Keys) -> tuple[StoreState, FoundRows]:
        """Return the present state, and the row of each key in it. The store has a key."""
        with self._lock:
            return self.state, self._seen(keys, self._find(keys))

    def find_written(self, keys: Keys) -> FoundRows:
        """Return the row of each key, also of those that readers do not see yet."""
        with self._lock:
            return self._find(keys)

    def _find(self, keys: Keys) -> FoundRows:
        key = self._key
        assert key is not None
        self._note()
        if self._index is None:
            index = self._new_index(key)
            index.insert(key.of(self.written.columns(key.names, self._context)), self.written.row_numbers)
            self._index = index
        return self._index.find(keys)

    def note(self) -> None:
        """Bring the index up to date, so that the next call of `find` does not have to."""
        with self._lock:
            self._note()

    def _new_index(self, key: StoreKey) -> KeyIndex:
        return key.index(lambda numbers: self.written.rows_at(numbers, key.names, self._context))

    def _seen(self, keys: Keys, found: FoundRows) -> FoundRows:
        """Return the row of each key in the present state, given that of the index."""
        begun = self._view.begun
        if begun is None:
            return found
        is_seen = found.found & (found.numbers < begun.first_row)
        if begun.lost is None:
            return FoundRows(found.numbers, is_seen)
        lost = begun.lost.find(keys)
        return FoundRows(np.where(is_seen, found.numbers, lost.numbers), is_seen | lost.found)

    def _note(self) -> None:
        """Note all changes in the index. If that fails, the next call of `find` builds another one."""
        index, key, self._index = self._index, self._key, None
        unnoted, self._unnoted = self._unnoted, []
        if index is None or key is None:
            return
        with suppress(HeadraceError, MemoryError):
            for change in unnoted:
                change.index_change(key, self._context).apply(index)
            self._index = index

    def _note_in_pieces(self, published: _Published, after: StoreState) -> bool:
        """Note a change before readers see it, and return whether the index has it. If not, there is no index."""
        key, is_noted = self._key, False
        assert key is not None
        try:
            with suppress(HeadraceError, MemoryError):
                change = published.index_change(key, self._context)
                lost = self._new_index(key)
                _IndexChange([], change.lost).apply(lost)
                with self._lock:
                    self._note()
                    index = self._index
                    self._view = self._view._replace(written=after, begun=_Begun(published.first_row, lost))
                if index is not None:
                    for piece in change.pieces(self._piece_rows):
                        with self._lock:
                            piece.apply(index)
                    with self._lock:
                        is_noted = self._index is index  # an interrupted reader may have dropped it, and another built one
        finally:
            if not is_noted:
                with self._lock:
                    self._index = None
                    self._view = self._view._replace(written=self.state, begun=None)
        return is_noted
