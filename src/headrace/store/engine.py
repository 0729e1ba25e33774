"""Changes a store: appends, updates, removes and merges rows, one change at a time, while reads go on.

Each change is a record of the log before it becomes visible. A merge works on the state at its begin, so that later changes go
to a new log and a new delta. At its end the main is exchanged (Krueger et al. 2011, section 2.1; differences are in decision 44).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

from headrace.columns.column import Column
from headrace.core.errors import MissingDependencyError, OptionError, SourceError, shown
from headrace.core.process.process_lock import renew_in_children
from headrace.store.assignment import Assignment
from headrace.store.change import Change
from headrace.store.files.folder import StoreFolder
from headrace.store.files.log import Log, Payload
from headrace.store.files.records import RecordKind
from headrace.store.keys.key_values import FoundRows
from headrace.store.keys.store_key import Keys, first_places, key_value, needed_key
from headrace.store.lock_waiters import LockWaiters
from headrace.store.new_rows import NewRows
from headrace.store.published_rows import PublishedRows, WrittenRows
from headrace.store.rules import StoreRules
from headrace.store.schema import check_current, texts_of
from headrace.store.schema_change import SchemaRequest
from headrace.store.state import StoreState
from headrace.store.triggers import MergeThread, MergeTimer

try:
    import numpy as np
except ImportError:
    raise MissingDependencyError.of("numpy", "numpy", "a store") from None

Selection: TypeAlias = Callable[[StoreState], Any]  # returns the numbers of rows of a state, ascending: an array of uint64


class _OthersWaitError(Exception):
    """Another change waits, and the parts of this one are not all there."""


class StoreEngine:
    """A store that is open for writing.

    `folder`: the store's files; None for a store in memory.
    """

    def __init__(self, rules: StoreRules, state: StoreState, next_row: int, folder: StoreFolder | None) -> None:
        self.rules = rules
        self.folder = folder
        self.merge_count = 0
        self._next_row = next_row
        self._rows = PublishedRows(state, rules.key, rules.context)
        self.renew_after_fork()
        renew_in_children(self)
        self._merged_at = rules.triggers.clock()
        self._merge_thread = MergeThread(rules.triggers.clock)
        self._is_closed = False
        self._timer = MergeTimer(self._merge_when_due)
        self._start_timer()

    def renew_after_fork(self) -> None:
        """Make the locks anew. A state is whole, so a change of another thread is there or not."""
        self._write_lock = threading.RLock()
        self._waiters = LockWaiters()
        self._merge_lock = threading.Lock()

    def append(self, columns: Mapping[str, Column]) -> int:
        """Add rows by the policy for duplicates, and return the number of rows added.

        The log is synced after other threads may append, so that one sync is for the rows of several. They are shown after it.

        Raise OptionError if a key is null, or with ``on_duplicate="raise"`` is present or twice in the rows. Nothing is
        added. Raise OSError or SourceError if the log cannot be written. Nothing is added.
        """
        with self._waiters, self._write_lock:
            self._check_open()
            check_current(columns, self.state.schema)
            new = NewRows(self.rules, self._find)
            remaining = new.of(columns, self._next_row)
            change = Change(self._next_row, new.removed, remaining)
            if self.folder is None or not self.folder.log.shares_syncs or not self._rows.takes_writes(change):
                return self._commit(change)
            log = self.folder.log
            end, written = self._written(log, change)
        self._sync(log, end)
        self._rows.show(written)
        return change.length

    @property
    def takes_parts(self) -> bool:
        """True if `append_parts` is faster than `append`: the store has a log, which writes a part while the next one is read."""
        return self.folder is not None

    def append_parts(self, parts: Iterable[Mapping[str, Column]]) -> int:
        """Add rows that are computed part by part, all or none, as by `append`.

        The log writes a part while the next one is computed, and syncs all of them at the end. If another change waits, the log
        removes these parts. They stay in memory, and are written again when the last part is there. The last record has the
        removed rows: those of the store, and those of earlier parts whose key comes again. Errors are those of `append`.
        """
        rest, computed = iter(parts), list[Mapping[str, Column]]()

        def parts_until_others_wait() -> Iterator[Mapping[str, Column]]:
            for part in rest:
                computed.append(part)
                if self._waiters.has_others:
                    raise _OthersWaitError
                yield part

        with suppress(_OthersWaitError), self._waiters, self._write_lock:
            return self._append_all(parts_until_others_wait())
        computed += rest
        with self._waiters, self._write_lock:
            return self._append_all(computed)

    def _append_all(self, parts: Iterable[Mapping[str, Column]]) -> int:
        none: Any = np.empty(0, np.uint64)
        added: list[Change] = []
        self._begin_change()
        new, after, first_row = NewRows(self.rules, self._find), self.state, self._next_row
        last = Change(first_row, none, {})

        def records() -> Iterator[Payload]:
            nonlocal after, last
            next_row = first_row
            for columns in parts:
                check_current(columns, self.state.schema)
                change = Change(next_row, none, new.of(columns, next_row))
                if change.length:
                    added.append(change)
                    after, next_row = after.after(change), next_row + change.length
                    yield change.encoded
            last = Change(next_row, new.removed, {})
            after = after.after(last)

        def last_content() -> list[bytes | memoryview]:
            return last.encoded()

        def publish() -> None:
            self._next_row = last.first_row
            self._rows.publish(after, last.removed, added)

        if self.folder is not None:
            self.folder.log.append_parts(records(), last_content, then=publish)
        else:
            list(records())
            publish()
        self._end_change()
        return last.first_row - first_row - int(np.count_nonzero(last.removed >= first_row))

    def update(self, columns: Mapping[str, Column]) -> int:
        """Replace the given columns of the rows with given keys, and return the number of rows.

        Raise OptionError if the store has no key, a key is absent, null or twice in the rows. Nothing is changed.
        """
        with self._waiters, self._write_lock:
            self._begin_change()
            check_current(columns, self.state.schema, is_whole=False)
            keys = needed_key(self.rules.key, "update").of(columns)
            if len(first_places(keys)) < len(keys):
                raise OptionError("the rows of an update have a key twice")
            present = self._find(keys)
            if not present.found.all():
                absent = key_value(keys, np.flatnonzero(~present.found)[0])
                raise OptionError(f"no row has the key {shown(absent)}; append adds rows")
            others = [name for name in self.state.schema if name not in columns]
            old = self.state.rows_at(present.numbers, others, self.rules.context)
            whole = {name: columns[name] if name in columns else old[name] for name in self.state.schema}
            self._commit(Change(self._next_row, np.sort(present.numbers), whole))
            return len(keys)

    def update_where(self, selected: Selection, assigned: Assignment) -> int:
        """Replace columns of the rows for which a function of a state returns their numbers; return the number of rows.

        The log gets the new rows, so that a replay evaluates nothing.

        Raise OptionError if a computed value is out of range, or a new key is null, twice in the rows, or that of another
        row. Nothing is changed.
        """
        with self._waiters, self._write_lock:
            self._begin_change()
            numbers = selected(self.state)
            if not len(numbers):
                return 0
            old = self.state.rows_at(numbers, self.state.schema, self.rules.context)
            new = assigned(old)
            key, whole = self.rules.key, {**old, **new}
            if key is not None and not new.keys().isdisjoint(key.names):
                self._check_new_keys(key.of(whole), numbers)
            self._commit(Change(self._next_row, numbers, whole))
            return len(numbers)

    def remove_keys(self, keys: Keys) -> int:
        """Remove the rows with given keys, of `StoreKey`; return their number. Absent keys are ignored."""
        with self._waiters, self._write_lock:
            self._begin_change()
            present = self._find(keys[first_places(keys)])
            return self._remove(np.sort(present.numbers[present.found]))

    def remove_where(self, selected: Selection) -> int:
        """Remove the rows for which a function of a state returns their numbers, ascending; return the number of rows."""
        with self._waiters, self._write_lock:
            self._begin_change()
            return self._remove(selected(self.state))

    def alter(self, request: SchemaRequest) -> None:
        """Change the columns, after a merge that is running. Rows keep their numbers, and the index its keys.

        Raise OptionError if the request does not fit the columns. Raise OSError or SourceError if the log cannot be written.
        Nothing is changed.
        """
        with self._merge_lock, self._waiters, self._write_lock:
            self._begin_change()
            change = request.change_of(self.state.schema, self.rules.key.names if self.rules.key is not None else ())
            after = self.state.altered(change)
            if self.folder is None:
                self._rows.use(after)
            else:
                self.folder.log.append(RecordKind.SCHEMA, *change.encoded(), then=lambda: self._rows.use(after))

    @property
    def state(self) -> StoreState:
        """The present state."""
        return self._rows.state

    def find(self, keys: Keys) -> tuple[StoreState, FoundRows]:
        """Return the present state, and the row of each key in it. No call waits for the log or a merge."""
        return self._rows.find(keys)

    def merge(self) -> bool:
        """Merge main and delta, while reads and changes go on. Return whether there was anything to merge.

        Raise OSError, SourceError or HeadraceError if the merge failed, or one before it in another thread. The rows are
        as before.
        """
        self._merge_thread.raise_error()
        with self._merge_lock:
            return self._merge()

    @property
    def merge_error(self) -> Exception | None:
        """Error of a merge in another thread that no call has raised; None without one, and after a merge that succeeded."""
        return self._merge_thread.error

    def wait_for_merge(self) -> None:
        """Return when a merge in another thread has ended, and raise its error."""
        self._merge_thread.wait()

    def flush(self) -> None:
        """Sync the log."""
        with self._waiters, self._write_lock:
            self._begin_change()
            if self.folder is not None:
                self.folder.log.flush()

    def close(self) -> None:
        """Wait for a merge, sync the log and release the lock. Later changes raise OptionError.

        A process that was forked from the writer only closes its copies of the files.
        """
        if self.folder is not None and self.folder.is_inherited:
            self._is_closed = True
            self.folder.abandon()
            return
        try:
            self.wait_for_merge()
        finally:
            with self._merge_lock, self._waiters, self._write_lock:
                was_closed, self._is_closed = self._is_closed, True
                self._timer.stop()
                if self.folder is not None and not was_closed:
                    self.folder.close()
                    self._rows.show_all()
        self._merge_thread.raise_error()  # of a merge that another thread's change has begun since then

    def _check_new_keys(self, keys: Keys, numbers: Any) -> None:
        """Raise OptionError if keys that rows of given numbers would get are not distinct, or are those of other rows."""
        if len(first_places(keys)) < len(keys):
            raise OptionError("the new values give two rows the same key")
        present = self._find(keys)
        others = present.found & ~np.isin(present.numbers, numbers)
        if others.any():
            raise OptionError(
                f"the new values give a row the key {shown(key_value(keys, np.flatnonzero(others)[0]))} of another row"
            )

    def _remove(self, numbers: Any) -> int:
        if len(numbers):
            self._commit(Change(self._next_row, numbers, {}))
        return len(numbers)

    def _commit(self, change: Change) -> int:
        """Write a change to the log, then make it visible; return the number of rows added."""
        if not change.length and not len(change.removed):
            return 0
        self._show_written()
        after = self.state.after(change)

        def publish() -> None:
            self._next_row += change.length
            self._rows.publish(after, change.removed, [change] if change.length else [])

        if self.folder is None:
            publish()
        else:
            self.folder.log.append(RecordKind.CHANGE, *change.encoded(), then=publish)
        self._end_change()
        return change.length

    def _written(self, log: Log, change: Change) -> tuple[int, WrittenRows]:
        """Write a change to the log; return the end of its record, which must be synced before the rows are shown, and these."""
        written: list[WrittenRows] = []

        def note() -> None:
            self._next_row += change.length
            written.append(self._rows.write(change))

        end = log.write(RecordKind.CHANGE, change.encoded(), then=note)
        self._end_change()
        return end, written[0]

    def _sync(self, log: Log, end: int) -> None:
        """Sync a log up to an offset. If that fails, remove the records that are not on the disk."""
        try:
            log.sync_to(end)
        except (OSError, SourceError):
            with self._waiters, self._write_lock:
                log.remove_unsynced()
            raise

    def _show_written(self) -> None:
        """Sync and show all rows that are written. Raise SourceError if their records were removed, since a sync has failed."""
        if self.folder is not None and self.state is not self._rows.written:
            self.folder.log.check()
            self._sync(self.folder.log, self.folder.log.size)
            self._rows.show_all()

    def _end_change(self) -> None:
        """Do what a change that was made leaves to do."""
        self._rows.note()
        self._merge_if_due()
        self._start_timer()

    def _find(self, keys: Keys) -> FoundRows:
        return self._rows.find_written(keys)

    def _merge_if_due(self) -> None:
        if self.rules.triggers.are_reached(self._rows.written, self._merged_at):
            self._merge_thread.begin(self._merge_unless_closed)

    def _start_timer(self) -> None:
        """Wait for the time at which a merge is due, if there is one; the write lock is held."""
        wait = self.rules.triggers.wait(self._rows.written, self._merged_at)
        if wait is not None and not self._is_closed:
            self._timer.start(wait)

    def _merge_when_due(self) -> None:
        with self._waiters, self._write_lock:
            if not self._is_closed:
                self._merge_if_due()
                self._start_timer()

    def _merge_unless_closed(self) -> None:
        with self._merge_lock:
            if not self._is_closed:
                self._merge()

    def _merge(self) -> bool:
        if self.folder is not None and not self._is_closed:
            self.folder.log.flush()  # changes wait for the sync in `begin_merge`, which has little to write then
        with self._waiters, self._write_lock:
            self._begin_change()
            before, next_row = self.state, self._next_row
            self._merged_at = self.rules.triggers.clock()
            if not (before.delta_rows or before.removed_rows or before.is_altered):
                return False
            first_sequence = 0 if self.folder is None else self.folder.begin_merge()
        with before.merging_main(self.rules.context, self.rules.merge_context) as merging:
            if self.folder is not None:
                self.folder.write_main(merging.records(before.schema))
            main = merging.main()
        with self._waiters, self._write_lock:
            self._show_written()
            if self.folder is not None:
                self.folder.use_main(first_sequence, next_row, texts_of(before.schema))
            self._rows.use(self.state.with_main(main, before))
            self.merge_count += 1
            self._start_timer()
        if self.folder is not None:
            self.folder.remove_unused()
        return True

    def _begin_change(self) -> None:
        """Begin a change that depends on rows: sync and show those that are written."""
        self._check_open()
        self._show_written()

    def _check_open(self) -> None:
        if self._is_closed:
            raise OptionError("the store is closed; open it again")
        if self.folder is not None and self.folder.is_inherited:
            raise OptionError("the store was opened before this process was forked, and the other one writes to it; open it here")
        if self.folder is not None:
            self.folder.log.check_change()
