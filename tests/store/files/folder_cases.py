"""A history of a store's folder: payloads that are appended and merged, with the payloads that are acknowledged."""

from __future__ import annotations

from dataclasses import dataclass, field

from headrace.core.errors import SourceError
from headrace.store.files.folder import StoreFolder, read_content
from headrace.store.files.log import SyncPolicy
from headrace.store.files.main_file import MainRecord
from headrace.store.files.manifest import Manifest
from headrace.store.files.records import RecordKind

WHERE = "store"
SCHEMA = Manifest(schema={"a": "int64"}, key=None, on_duplicate="raise")


@dataclass
class History:
    """Payloads of a store: those that are acknowledged, and those that are being appended."""

    policy: SyncPolicy = field(default_factory=SyncPolicy)
    acknowledged: list[bytes] = field(default_factory=list)
    attempted: list[bytes] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    """Numbers of attempted payloads after each change."""

    def run(self, files):
        """Create, append, merge, close, open again, append, merge, append."""
        folder = StoreFolder.create(files, WHERE, SCHEMA, self.policy)
        for size in (1, 1500):  # the second one is in several sectors
            self.append(folder, size)
        self.append_parts(folder, (5, 700, 2))
        self.merge(folder, between=True)
        self.append(folder, 8)
        self.append_together(folder, (4, 600, 2))
        folder.close()
        folder, _ = StoreFolder.open(files, WHERE, self.policy)
        self.append(folder, 40)
        self.merge(folder, between=False)
        self.append(folder, 3)
        self.append_parts(folder, (7, 0))
        folder.abandon()

    def append(self, folder, size):
        payload = self.attempt(size)
        folder.log.append(RecordKind.CHANGE, payload)
        self.acknowledged.append(payload)

    def attempt(self, size):
        """Return the payload of the next change."""
        payload = bytes([len(self.attempted) + 1]) * size
        self.attempted.append(payload)
        self.ends.append(len(self.attempted))
        return payload

    def append_together(self, folder, sizes):
        """Append changes as threads do that share a sync: all are written, and then acknowledged one after another."""
        payloads = [self.attempt(size) for size in sizes]
        ends = [folder.log.write(RecordKind.CHANGE, (payload,)) for payload in payloads]
        for payload, end in zip(payloads, ends, strict=True):
            folder.log.sync_to(end)
            self.acknowledged.append(payload)

    def append_parts(self, folder, sizes):
        """Append a change of several records. All of its payloads are acknowledged, or none."""
        payloads = [bytes([len(self.attempted) + 1 + i]) * size for i, size in enumerate(sizes)]
        self.attempted += payloads
        self.ends.append(len(self.attempted))
        *parts, last = [lambda payload=payload: (payload,) for payload in payloads]
        folder.log.append_parts(iter(parts), last)
        self.acknowledged += payloads

    def merge(self, folder, *, between):
        first = folder.begin_merge()
        merged = list(self.acknowledged)
        if between:
            self.append(folder, 17)
        folder.write_main(MainRecord(RecordKind.COLUMN, (payload,)) for payload in merged)
        folder.use_main(first, 0, SCHEMA.schema)
        folder.remove_unused()

    def check(self, files):
        """Open the store; return whether it has each acknowledged payload once, and others only of whole changes after them."""
        found = payloads(read_content(files, WHERE))
        count = len(self.acknowledged)
        return found == self.attempted[: len(found)] and len(found) in (count, *(end for end in self.ends if end > count))


def payloads(content):
    """Return the payloads of main and log."""
    return [bytes(record.content()) for record in content.main] + [bytes(change.payload) for change in content.changes]


def is_right(history, files):
    """Return whether a store opens after a crash with the payloads of a history, takes one more, and keeps all of them."""
    try:
        if not history.check(files):
            return False
        folder, content = StoreFolder.open(files, WHERE, history.policy)
        history.acknowledged = payloads(content)
        history.attempted, history.ends = list(history.acknowledged), []
        history.append(folder, 9)
        folder.close()
        return history.check(files)
    except SourceError:
        return not history.acknowledged and "is no store" in _fault(files)


def _fault(files):
    try:
        read_content(files, WHERE)
    except SourceError as error:
        return str(error)
    return ""
