"""Replays the log of a store, and keeps the rows of a reader, which follow the log of a writer in another process.

A reader that reads the files again applies the changes that are new, and keeps its columns and its index of keys. After a merge
or a change of the columns it begins anew.
"""

from __future__ import annotations

from dataclasses import replace
from threading import Lock
from typing import NamedTuple

from headrace.columns.types import DataType
from headrace.core.buffer import copy_of
from headrace.core.context import Context
from headrace.core.errors import MissingDependencyError, SourceError
from headrace.core.process.process_lock import renew_in_children
from headrace.store.change import Change
from headrace.store.files.file_system import FileSystem
from headrace.store.files.folder import Content, read_content
from headrace.store.files.main_file import Place
from headrace.store.files.manifest import MANIFEST, Manifest, log_name
from headrace.store.files.records import Record, RecordKind
from headrace.store.keys.key_values import FoundRows
from headrace.store.keys.store_key import Keys, StoreKey
from headrace.store.main import Main
from headrace.store.published_rows import PublishedRows
from headrace.store.schema import check_current, parsed_schema, texts_of
from headrace.store.schema_change import SchemaChange
from headrace.store.state import StoreState

try:
    import numpy as np
except ImportError:
    raise MissingDependencyError.of("numpy", "numpy", "a store") from None


class Replayed(NamedTuple):
    """The result of the changes of a log."""

    state: StoreState
    next_row: int  # number of the next row
    lost_columns: list[str]  # names of the columns whose records in the main are damaged


def schema_of(manifest: Manifest) -> dict[str, DataType]:
    """Return the schema that a manifest describes. Raise OptionError if it describes none."""
    return parsed_schema(manifest.schema)


def replayed(content: Content) -> Replayed:
    """Return the state of a folder's content. If the main is lost, the state has the rows of the log alone."""
    manifest = content.manifest
    with Place(content.where, MANIFEST).decoding():
        schema = schema_of(manifest)
        if texts_of(schema) != manifest.schema:
            raise ValueError("a type of schema has another name")
    main = Main.of_records(content.main, schema) if content.main else Main.empty(schema)
    state, next_row = StoreState(schema, main), manifest.next_row
    if len(main.rows) and int(main.rows.at(len(main.rows) - 1)) >= next_row:
        with Place(content.where, MANIFEST).decoding():
            raise ValueError("next_row is the number of a row of the main")
    lost = [name for name, record in zip(schema, content.main[2:], strict=False) if record.is_lost]
    for record in content.changes:
        if record.kind == RecordKind.SCHEMA:
            with content.place_of(record).decoding():
                altered = SchemaChange.decoded(record.payload)
                altered.check(state.schema)
            state, names = state.altered(altered), map(altered.name_of, lost)
            lost = [name for name in names if name is not None]
            continue
        change = _change(record, record.payload, content, state, next_row)
        if manifest.main is not None and not content.main:
            change = replace(change, removed=change.removed[change.removed >= manifest.next_row])
        state, next_row = state.after(change), change.first_row + change.length
    _check_removed(state, content)
    return Replayed(state, next_row, lost)


def _change(record: Record, payload: memoryview, content: Content, state: StoreState, next_row: int) -> Change:
    """Return the change of a record after a state. Raise SourceError if it does not follow that state."""
    with content.place_of(record).decoding():
        change = Change.decoded(payload)
        if change.first_row < next_row:
            raise ValueError(f"its first row has number {change.first_row}, and {next_row} is expected")
        if change.columns:
            check_current(change.columns, state.schema)
        return change


def _check_removed(state: StoreState, content: Content) -> None:
    """Raise SourceError if a removed row does not exist, or was removed before."""
    removed = state.removed_numbers
    if len(np.unique(removed)) < len(removed) or not state.rows.positions(removed)[1].all():
        with Place(content.where, log_name(content.last_log)).decoding():
            raise ValueError("the log removes a row that does not exist, or removes one twice")


def torn_bytes_of(content: Content) -> int:
    """Return the number of bytes at the end of the log that are no acknowledged rows."""
    return 0 if content.torn is None else content.torn.nbytes


class _Read(NamedTuple):
    """The part of a store's content that a reader has."""

    manifest: Manifest
    checksums: tuple[int, ...]  # those of the changes
    torn_bytes: int

    @classmethod
    def of(cls, content: Content) -> _Read:
        checksums = tuple(record.checksum for record in content.changes)
        return cls(content.manifest, checksums, torn_bytes_of(content))


class StoreReader:
    """The rows of a store as its files had them when they were read last.

    Parameters
    ----------
    files, where
        The folder, and its name for messages.
    content
        The content that was read.
    key
        The key; None without one.
    context
        Threads and memory of each call.
    """

    def __init__(self, files: FileSystem, where: str, content: Content, key: StoreKey | None, context: Context) -> None:
        self._files, self._where, self._key, self._context = files, where, key, context
        self._begin(content)
        self.renew_after_fork()
        renew_in_children(self)

    def renew_after_fork(self) -> None:
        """See `Renewable`."""
        self._lock = Lock()

    @property
    def state(self) -> StoreState:
        """The present state."""
        return self._rows.state

    @property
    def torn_bytes(self) -> int:
        """Bytes at the end of the log that are no acknowledged rows."""
        return self._read.torn_bytes

    def find(self, keys: Keys) -> tuple[StoreState, FoundRows]:
        """Return the present state, and the row of each key in it."""
        return self._rows.find(keys)

    def refresh(self) -> None:
        """Read the files again.

        Raise SourceError if they are damaged, or of a store with another key. Raise OSError if they cannot be read.
        """
        with self._lock:  # a thread that has read later shows its rows later
            content = read_content(self._files, self._where)
            if content.manifest.key != self._read.manifest.key:
                raise SourceError(f"{self._where!r} has another store now, whose key differs; open it again")
            if not self._follow(content):
                self._begin(content)

    def _begin(self, content: Content) -> None:
        state, self._next_row, _ = replayed(content)
        self._rows, self._read = PublishedRows(state, self._key, self._context), _Read.of(content)

    def _follow(self, content: Content) -> bool:
        """Show the changes that are new; return whether the content continues that before.

        A writer may have merged, changed the columns, or removed a record whose sync had failed.
        """
        before, found = self._read, _Read.of(content)
        records = content.changes[len(before.checksums) :]
        is_next = found.manifest == before.manifest and found.checksums[: len(before.checksums)] == before.checksums
        if not is_next or any(record.kind == RecordKind.SCHEMA for record in records):
            return False
        # Columns are parts of the payload's memory. As parts of the file's they would keep all of it, for each read.
        state, changes = self.state, []
        next_row = self._next_row
        for record in records:
            change = _change(record, memoryview(copy_of(record.payload)), content, state, next_row)
            state, next_row = state.after(change), change.first_row + change.length
            changes.append(change)
        _check_removed(state, content)
        self._show(changes)
        self._next_row = next_row
        self._read = found
        return True

    def _show(self, changes: list[Change]) -> None:
        if changes:
            after = self.state
            for change in changes:
                after = after.after(change)
            removed = np.concatenate([change.removed for change in changes])
            self._rows.publish(after, removed, [change for change in changes if change.length])
