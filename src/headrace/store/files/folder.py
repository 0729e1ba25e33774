"""Opens the folder of a store, replays its log, and replaces its main.

The folder has a manifest, one main at most, and logs. A change is acknowledged when its record is in the log. A merge begins
another log, writes a main of all before it, and replaces the manifest. From then on the older files are not read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from errno import EACCES, EROFS
from functools import partial
from typing import TypeAlias

from headrace.core.errors import OptionError, SourceError
from headrace.store.files.file_system import FileSystem, FolderLock, read_file
from headrace.store.files.log import Log, SyncPolicy
from headrace.store.files.main_file import Damage, MainRecord, Place, unread_main
from headrace.store.files.manifest import (
    LOG_NAME,
    MAIN_NAME,
    MANIFEST,
    Manifest,
    check_no_lost_manifest,
    log_name,
    main_name,
    read_manifest,
    write_manifest,
)
from headrace.store.files.records import Fault, Record, RecordKind, framed, read_records, record_parts, whole_records

_CHANGES = (RecordKind.PART, RecordKind.CHANGE, RecordKind.SCHEMA)
_Unread: TypeAlias = Callable[[FileSystem, str], "tuple[MainRecord, ...] | None"]
"""Returns the records of a main whose columns are not read; None for a main that must be read as a whole."""
_READ_ATTEMPTS = 100  # times that a reader begins anew because a merge has replaced the files that it was about to read


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a store's files."""

    manifest: Manifest
    main: tuple[MainRecord, ...]  # records of the main, without its seal; empty without a main
    changes: tuple[Record, ...]  # changes of rows and of columns in the log, in order
    next_sequence: int  # sequence of the next record of the log
    last_log: int  # first sequence of the newest log
    torn: Fault | None = None  # The end of the newest log, if a crash has cut it off. Its bytes are no acknowledged records.
    logs: tuple[int, ...] = ()  # first sequence of each log that was read, ascending
    where: str = "a store"  # the folder, for messages

    def place_of(self, record: Record) -> Place:
        """Return the place of a record of a log."""
        first = max((first for first in self.logs if first <= record.sequence), default=self.last_log)
        return Place(self.where, log_name(first), record.begin)


def read_content(files: FileSystem, where: str) -> Content:
    """Return the content of a store, for a reader without a lock or for its writer. Columns of the main are not read.

    Raise SourceError if there is no store, or one of its files is damaged; the message has the file and the offset.
    """
    unread = partial(unread_main, where=where)
    found = _found(files, where, unread)
    if found.damage is not None:  # a writer may have removed a record and written another one while its bytes were read
        found = _found(files, where, unread)
    if found.damage is not None:
        raise found.damage.error(where)
    return replace(found.content, where=where)


@dataclass(frozen=True, slots=True)
class Undamaged:
    """The content up to the first damage, and that damage."""

    content: Content
    damage: Damage | None


def read_undamaged(files: FileSystem, where: str) -> Undamaged:
    """Return the content of a store up to its first damage. The main is read as a whole.

    Raise SourceError if there is no store, or its manifest is damaged.
    """
    found = _found(files, where, lambda _files, _name: None)
    return replace(found, content=replace(found.content, where=where))


def _found(files: FileSystem, where: str, unread: _Unread) -> Undamaged:
    for _ in range(_READ_ATTEMPTS):
        manifest = read_manifest(files, where)
        try:
            return _read(files, manifest, unread)
        except FileNotFoundError as error:
            lost = os.path.basename(error.filename)
        if read_manifest(files, where) == manifest:
            return _without(files, manifest, lost)
    raise SourceError(f"{where!r} is merged again and again while it is opened; open it once more")


def _read(files: FileSystem, manifest: Manifest, unread: _Unread) -> Undamaged:
    records = None if manifest.main is None else unread(files, manifest.main)
    start, damage = _with_main(files, manifest) if records is None else (replace(_empty(manifest), main=records), None)
    found = _with_logs(files, start)
    return found if damage is None else replace(found, damage=damage)


def _without(files: FileSystem, manifest: Manifest, lost: str) -> Undamaged:
    """Return the content without a file that the manifest names, and that is missing: the main, or the first log."""
    damage = Damage(lost, Fault(0, 0, "the file is missing", is_damage=True))
    start = _empty(manifest)
    with suppress(FileNotFoundError):
        return Undamaged(_with_logs(files, start).content if lost == manifest.main else _with_main(files, manifest)[0], damage)
    return Undamaged(start, damage)


def _empty(manifest: Manifest) -> Content:
    return Content(manifest, (), (), manifest.first_sequence, manifest.first_sequence)


def _with_main(files: FileSystem, manifest: Manifest) -> tuple[Content, Damage | None]:
    """Return the content of the main alone; if it is damaged, what is left of it."""
    start = _empty(manifest)
    if manifest.main is None:
        return start, None
    data = read_file(files, manifest.main)
    found = read_records(data, 1)
    fault = found.fault
    if fault is None and not found.is_sealed:
        fault = Fault(found.end, 0, "the file ends before its last record", is_damage=True)
    if fault is not None:
        return replace(start, main=_rest_of_main(data, manifest)), Damage(manifest.main, fault)
    return replace(start, main=tuple(MainRecord(record.kind, (record.payload,)) for record in found.records[:-1])), None


def _rest_of_main(data: memoryview, manifest: Manifest) -> tuple[MainRecord, ...]:
    """Return the records of a damaged main; none if the numbers of its rows or a column of the key are lost."""
    whole = whole_records(data)
    keys = (manifest.key,) if isinstance(manifest.key, str) else manifest.key or ()
    columns = dict(enumerate(manifest.schema, 3))
    if not {1, 2, *(number for number, name in columns.items() if name in keys)} <= whole.keys():
        return ()
    rest = {number: MainRecord(record.kind, (record.payload,)) for number, record in whole.items()}
    return tuple(rest.get(number, MainRecord(RecordKind.COLUMN, ())) for number in (1, 2, *columns))


def _with_logs(files: FileSystem, start: Content) -> Undamaged:
    """Return the content with the changes of all logs that the main does not have."""
    changes: list[Record] = []
    sequence = start.manifest.first_sequence
    logs = [(first, read_file(files, log_name(first))) for first in logs_in(files) if first >= sequence]
    if not logs or logs[0][0] != sequence:
        raise FileNotFoundError(2, "No such file", log_name(sequence))
    # A merge that could not begin may leave an empty log, while the one before it goes on.
    logs = [logs[0], *(log for log in logs[1:] if log[1] or log is logs[-1])]
    torn = None
    for first, data in logs:
        if first != sequence or torn is not None:
            if not data:
                break
            reason = f"the log begins with record {first}, and {sequence} is expected"
            end = Fault(0, 0, reason, is_damage=True) if torn is None else replace(torn, is_damage=True)
            return Undamaged(start, Damage(log_name(first if torn is None else start.last_log), end))
        found = read_records(data, first).without_open_change()
        changes += [record for record in found.records if record.kind in _CHANGES]
        sequence += len(found.records)
        start = replace(start, changes=tuple(changes), next_sequence=sequence, last_log=first, logs=(*start.logs, first))
        torn = found.fault
        if torn is not None and torn.is_damage:
            return Undamaged(start, Damage(log_name(first), torn))
    return Undamaged(replace(start, torn=torn), None)


def logs_in(files: FileSystem) -> list[int]:
    """Return the first sequences of all logs, ascending."""
    return sorted(int(found[1]) for found in map(LOG_NAME.fullmatch, files.names()) if found)


class StoreFolder:
    """The folder of a store that is open for writing.

    `content`: the content that was read, without what a crash has cut off.
    """

    def __init__(self, files: FileSystem, where: str, lock: FolderLock, content: Content, policy: SyncPolicy) -> None:
        self._files, self._where, self._lock, self._policy = files, where, lock, policy
        self.manifest = content.manifest
        self._generation = content.manifest.generation
        self.log = Log(files, content.last_log, content.next_sequence, policy)

    @classmethod
    def create(cls, files: FileSystem, where: str, manifest: Manifest, policy: SyncPolicy) -> StoreFolder:
        """Create a store. After a crash the folder has either no manifest or an empty store.

        Raise OptionError if there is a store. Raise SourceError if the folder has other files of one, another writer holds
        its lock, or it is a file. Raise OSError if a file cannot be written.
        """
        try:
            files.make_folder()
        except (FileExistsError, NotADirectoryError):
            raise SourceError(f"{where!r} cannot be a store: it is, or is in, a file; name a folder") from None
        lock = _locked(files, where)
        try:
            if MANIFEST in files.names():
                raise OptionError(f"{where!r} has a store already; name another folder, or open it without schema=")
            check_no_lost_manifest(files, where)
            first = files.open_append(log_name(manifest.first_sequence))
            try:
                first.sync()
            finally:
                first.close()
            files.sync_folder()
            write_manifest(files, manifest)
            return cls(files, where, lock, Content(manifest, (), (), 1, 1), policy)
        except BaseException:
            lock.close()
            raise

    @classmethod
    def open(cls, files: FileSystem, where: str, policy: SyncPolicy) -> tuple[StoreFolder, Content]:
        """Open a store for writing, remove what a crash has cut off, and remove files of merges that did not end.

        Raise SourceError if there is no store, another writer has it, or a file is damaged. Raise OSError if a file
        cannot be read or written.
        """
        if MANIFEST not in files.names():
            read_manifest(files, where)
        lock = _locked(files, where)
        try:
            content = read_content(files, where)
            files.sync_folder()  # a process that was killed may have renamed the manifest, and no more
            _clean(files, content)
            return cls(files, where, lock, content, policy), content
        except BaseException:
            lock.close()
            raise

    @property
    def is_inherited(self) -> bool:
        """True in a process that was forked from the writer. Records of both would have the same numbers."""
        return self._lock.is_inherited

    def begin_merge(self) -> int:
        """Sync and seal the log, begin another one, and return its first sequence: a main has all changes before it.

        Raise OSError or SourceError if a file cannot be written. The log before remains in use if it can.
        """
        if not self.log.size:
            return self.log.first_sequence
        self.log.seal()
        following = Log(self._files, self.log.next_sequence, self.log.next_sequence, self._policy)
        try:
            following.flush()
            self._files.sync_folder()
        except BaseException:
            following.close()
            with suppress(OSError):
                self._files.remove(log_name(following.first_sequence))
            raise
        sealed, self.log = self.log, following  # an interrupt leaves a log that is open
        sealed.close()
        return following.first_sequence

    def write_main(self, records: Iterable[MainRecord]) -> None:
        """Write and sync the file of the next main, which no manifest names yet.

        Raise OSError if the disk is full, or fails. The file is removed.
        """
        # A manifest whose replacement failed may name the file of the last attempt, so each attempt has another name.
        self._generation += 1
        name = main_name(self._generation)
        file = self._files.open_append(name)
        try:
            number = 1
            for record in records:
                for part in record_parts(record.kind, number, 0, record.parts):
                    file.write(part)
                number += 1
            file.sync()
            file.write(framed(RecordKind.SEAL, number, file.size, b""))
            file.sync()
            self._files.sync_folder()
        except BaseException:
            with suppress(OSError):
                self._files.remove(name)
            raise
        finally:
            file.close()

    def use_main(self, first_sequence: int, next_row: int, schema: dict[str, str]) -> None:
        """Replace the manifest by one that names the next main. `remove_unused` removes the files that are not read any more.

        Raise OSError if the manifest cannot be written. Either one is valid then.

        `first_sequence`: sequence of the first record that the main does not have.
        `next_row`: number of the first row that the main does not have.
        `schema`: name and type of each column of the main, as texts.
        """
        following = replace(
            self.manifest, schema=schema, generation=self._generation, first_sequence=first_sequence, next_row=next_row
        )
        write_manifest(self._files, following)
        self.manifest = following

    def remove_unused(self) -> None:
        """Remove the files that are not read any more, which takes 0.1 s a GB. Changes may go on."""
        with suppress(OSError):  # the next merge or writer removes them
            _remove_unused(self._files, self.manifest)

    def close(self) -> None:
        """Seal and close the log, and release the lock.

        Raise OSError or SourceError if the log cannot be synced. The lock is released in any case.
        """
        try:
            if self.log.is_interrupted:
                self.log.flush()
            else:
                self.log.seal()
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Close the files and release the lock if it is this process's, without a sync."""
        self.log.close()
        self._lock.close()


def _locked(files: FileSystem, where: str) -> FolderLock:
    try:
        lock = files.lock()
    except OSError as error:
        if error.errno not in (EROFS, EACCES):
            raise
        raise SourceError(f"{where!r} cannot be written: {error.strerror}; open it with read_only=True") from None
    if lock is None:
        raise SourceError(f"{where!r} is open for writing elsewhere; open it with read_only=True, or close the other one")
    return lock


def _clean(files: FileSystem, content: Content) -> None:
    """Remove what a crash has left: the end of the log, and files that the manifest does not name."""
    if content.torn is not None:
        file = files.open_append(log_name(content.last_log))
        try:
            file.truncate(content.torn.offset)
            file.sync()
        finally:
            file.close()
    _remove_unused(files, content.manifest)


def _remove_unused(files: FileSystem, manifest: Manifest) -> None:
    for name in files.names():
        log, main = LOG_NAME.fullmatch(name), MAIN_NAME.fullmatch(name)
        if (log and int(log[1]) < manifest.first_sequence) or (main and name != manifest.main):
            files.remove(name)
