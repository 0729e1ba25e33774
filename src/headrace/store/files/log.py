"""Appends records to a log, and syncs them by the chosen policy."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from headrace.core.errors import OptionError, SourceError
from headrace.core.options import choice, number
from headrace.store.files.file_system import AppendFile, FileSystem
from headrace.store.files.manifest import log_name
from headrace.store.files.records import RecordKind, record_parts

SYNC_POLICIES = ("always", "batch", "never")


@dataclass(frozen=True, slots=True)
class SyncPolicy:
    """The times at which a log is synced."""

    name: str = "always"
    """``"always"``: before each record is acknowledged. ``"batch"``: with the first record after `seconds`, and at each flush.
    ``"never"``: at merges and when the store is closed.
    """
    seconds: float = 1.0  # seconds between two syncs, for `"batch"`
    clock: Callable[[], float] = time.monotonic  # returns seconds, from any begin

    @classmethod
    def of(cls, name: object, seconds: object) -> SyncPolicy:
        """Return the policy of an option. Raise OptionError if there is no such policy, or `seconds` is negative."""
        found = number("sync_seconds", seconds, "a number of seconds, from 0 on")
        if not found >= 0:
            raise OptionError.wrong("sync_seconds", "a number of seconds, from 0 on", seconds)
        return cls(choice("sync", name, SYNC_POLICIES), float(found))


Payload: TypeAlias = Callable[[], Sequence[bytes | memoryview]]  # returns the parts of a record's content


def _nothing() -> None:
    pass


class Log:
    """A log that is open for appending, with all earlier records on the disk.

    `first_sequence`: sequence of the log's first record, which is in its name.
    """

    def __init__(self, files: FileSystem, first_sequence: int, next_sequence: int, policy: SyncPolicy) -> None:
        self._file: AppendFile = files.open_append(log_name(first_sequence))
        self.first_sequence = first_sequence
        self.next_sequence = next_sequence
        self._policy = policy
        if self._file.size:  # a process that was killed may have left records that are not on the disk
            self._file.sync()
        self._synced = self._file.size
        self._synced_at = policy.clock()
        self._sync_lock = threading.Lock()
        self._fault = ""
        self._is_writing = False
        self.is_interrupted = False  # True if an exception, such as that of Ctrl-C, came between a record and its acknowledgement

    @property
    def size(self) -> int:
        """Number of bytes."""
        return self._file.size

    def append(self, kind: int, *payload: bytes | memoryview, then: Callable[[], None] = _nothing) -> int:
        """Append a record, and return its sequence. By the policy it is on the disk when the call returns.

        After an exception between the record and the end of `then`, the caller does not know if the record is in the log. Later
        records are then refused.

        Raise OSError if the disk is full, or fails. The record is removed again. If that fails too, later calls raise
        SourceError. Raise SourceError if an earlier failure or interruption left the log in an unknown state.

        `*payload`: parts of the content.
        `then`: makes the record visible, before the next one may be appended.
        """
        with self._removed_if_it_fails(then):
            self._write(kind, payload)
            if self._is_due():
                self.sync_to(self._file.size)
        return self.next_sequence - 1

    @property
    def shares_syncs(self) -> bool:
        """True if a record need not be synced before the next one is written: threads that `write` call `sync_to` then."""
        return self._policy.name == "always"

    def write(self, kind: int, payload: Sequence[bytes | memoryview], then: Callable[[], None] = _nothing) -> int:
        """Append a record without a sync, and return the offset of its end, for `sync_to`. The rest is as of `append`."""
        with self._removed_if_it_fails(then):
            self._write(kind, payload)
            return self._file.size

    def sync_to(self, end: int) -> None:
        """Return when all bytes before an offset are on the disk. Of the threads that call it, one syncs for all that wait.

        Raise OSError if the disk fails, and SourceError if an earlier sync has failed. Later calls raise SourceError.
        """
        with self._sync_lock:
            if self._synced < end:
                self.check()
                self._sync()

    def remove_unsynced(self) -> None:
        """Remove the records after the last sync, if one has failed."""
        if self._fault and self._file.size > self._synced:
            self._remove(self._synced)

    def append_parts(self, parts: Iterable[Payload], last: Payload, then: Callable[[], None] = _nothing) -> int:
        """Append a change in several records, and return the sequence of the last one. After a crash all are there or none.

        While a part is computed, other threads compute the checksum of the one before it, and write the one before that.

        `parts`: Contents of the records before the last one. If the iterator raises an exception, all records are removed.
        `last`: content of the change.
        `then`: as of `append`.
        """
        with self._removed_if_it_fails(then):
            self._is_writing, writers = True, ThreadPoolExecutor(2, "headrace-log")
            try:
                before = written = writers.submit(_nothing)
                for part in parts:
                    before.result()
                    before, written = written, writers.submit(self._write_part, part, self.next_sequence, written)
                    self.next_sequence += 1
                written.result()
            finally:
                writers.shutdown(cancel_futures=True)
                self._is_writing = False
            self._write(RecordKind.CHANGE, last())
            if self._is_due():
                self.sync_to(self._file.size)
        return self.next_sequence - 1

    def _write_part(self, part: Payload, sequence: int, before: Future[None]) -> None:
        """Write a part after the one before it."""
        record = record_parts(RecordKind.PART, sequence, self._synced, part())
        before.result()
        for piece in record:
            self._file.write(piece)
        if self._policy.name != "never":
            self._file.begin_sync()

    @contextmanager
    def _removed_if_it_fails(self, then: Callable[[], None]) -> Iterator[None]:
        """Remove the records of the body if it raises an exception; call `then` if not."""
        self.check_change()
        begin, sequence = self._file.size, self.next_sequence
        self.is_interrupted = True
        try:
            yield
        except BaseException:
            if not self._is_writing:  # a second interrupt may leave the threads of `append_parts`
                self._remove(begin)
                self.next_sequence = sequence
                self.is_interrupted = False
            raise
        then()
        self.is_interrupted = False

    def _write(self, kind: int, payload: Sequence[bytes | memoryview]) -> None:
        for part in record_parts(kind, self.next_sequence, self._synced, payload):
            self._file.write(part)
        self.next_sequence += 1

    def flush(self) -> None:
        """Sync all records. Raise OSError if the disk fails; later calls raise SourceError."""
        self.check()
        self.sync_to(self._file.size)

    def seal(self) -> None:
        """Sync all records, and append one that says so. After it, damage of any record is distinct from a crash."""
        self.flush()
        if self._file.size:
            self.append(RecordKind.SEAL, b"")
            self.flush()

    def close(self) -> None:
        """Close the file without a sync."""
        self._file.close()

    def _is_due(self) -> bool:
        if self._policy.name == "batch":
            return self._policy.clock() - self._synced_at >= self._policy.seconds
        return self._policy.name == "always"

    def _sync(self) -> None:
        end = self._file.size  # other threads may write during the sync
        try:
            self._file.sync()
        except BaseException as error:
            # A failed sync may have dropped pages: their state is unknown until the file is read again.
            self._fault = f"a sync failed: {error}"
            raise
        self._synced, self._synced_at = end, self._policy.clock()

    def _remove(self, begin: int) -> None:
        """Remove a record that is not acknowledged, so that it does not appear after a crash."""
        try:
            with self._sync_lock:  # a sync that began before would count the removed bytes
                self._file.truncate(begin)
                self._synced = min(self._synced, begin)
                self._file.sync()
        except OSError as error:
            self._fault = f"a record that failed cannot be removed: {error}"

    def check(self) -> None:
        """Raise SourceError if an earlier failure left the log in an unknown state."""
        if self._fault:
            raise SourceError(f"the log takes no more records, since {self._fault}; close the store and open it again")

    def check_change(self) -> None:
        """Raise SourceError if no change may be made: as `check`, or one was interrupted that the state may lack."""
        self.check()
        if self.is_interrupted:
            raise SourceError("a change of the store was interrupted, and is lost or made; close the store and open it again")
