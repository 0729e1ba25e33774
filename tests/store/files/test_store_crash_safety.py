"""Crashes a store's folder in every operation, with every form of loss; opening it gives each acknowledged record once.

Planted bugs show that the harness finds a sync that is missing, a checksum that is ignored, and a write that is lost.
"""

from __future__ import annotations

from copy import deepcopy

import pytest

from headrace.core.errors import SourceError
from headrace.store.files import records
from headrace.store.files.folder import StoreFolder, read_content
from headrace.store.files.log import SyncPolicy
from headrace.store.files.records import HEADER_BYTES, RecordKind
from tests.store.files.crash_cases import FORMS, Crashed, CrashFiles, WithLostWrite, WithoutFolderSync, WithoutSync
from tests.store.files.folder_cases import SCHEMA, WHERE, History, is_right, payloads

pytestmark = pytest.mark.pure


def crashes(kind, form, history_of=History):
    """Yield, for a crash in each operation, the operation and whether the store is right afterwards."""
    number = 0
    while True:
        number += 1
        files, history = kind(crash_at=number), history_of()
        try:
            history.run(files)
        except Crashed:
            yield number, is_right(history, files.after_crash(form))
        else:
            return


@pytest.mark.parametrize("form", FORMS)
def test_every_acknowledged_record_is_there_once(form):
    found = dict(crashes(CrashFiles, form))
    assert len(found) > 50
    assert [number for number, right in found.items() if not right] == []


@pytest.mark.parametrize("form", FORMS)
def test_a_crash_while_a_store_recovers(form):
    files, history = CrashFiles(), History()
    history.run(files)
    image = {name: bytes(node.data) for name, node in files.names_now.items()}
    last = max(name for name in image if name.startswith("log"))
    image[last] += image[last][: HEADER_BYTES + 2]
    image["main-0000000009.hrs"] = b"incomplete"
    for number in range(1, 20):
        broken = CrashFiles(image, crash_at=number)
        try:
            StoreFolder.open(broken, WHERE, SyncPolicy())
        except Crashed:
            after = History(acknowledged=list(history.acknowledged), attempted=list(history.attempted))
            assert is_right(after, broken.after_crash(form))
        else:
            assert number > 2
            return
    raise AssertionError("the store never opened")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("policy", ["always", "never"])
def test_a_process_that_is_killed_and_then_a_crash(form, policy):
    """Records that a store shows after it was opened are on the disk, also if their writer did not live to sync them."""
    number = 0
    while True:
        number += 1
        files, history = CrashFiles(crash_at=number), History(SyncPolicy(policy))
        try:
            history.run(files)
        except Crashed:
            files.crash_at, files.is_locked = None, False
            if "manifest" in files.names():
                _, content = StoreFolder.open(files, WHERE, history.policy)
                assert payloads(read_content(files.after_crash(form), WHERE)) == payloads(content), number
        else:
            return


@pytest.mark.parametrize("bug", [WithoutSync, WithoutFolderSync, WithLostWrite])
def test_planted_bugs_of_the_file_system_are_found(bug):
    assert any(not right for form in FORMS for _, right in crashes(bug, form))


class WithEarlyAcknowledgement(History):
    """Planted bug: changes that share a sync are acknowledged before it."""

    def append_together(self, folder, sizes):
        for size in sizes:
            payload = self.attempt(size)
            folder.log.write(RecordKind.CHANGE, (payload,))
            self.acknowledged.append(payload)


def test_an_acknowledgement_before_the_shared_sync_is_found():
    for form in ("lost", "torn", "zeros", "holes"):
        assert any(not right for _, right in crashes(CrashFiles, form, WithEarlyAcknowledgement)), form


def test_a_change_without_its_last_record_is_found(monkeypatch):
    monkeypatch.setattr(records.Records, "without_open_change", lambda self: self)
    assert any(not right for _, right in crashes(CrashFiles, "written"))


def test_an_error_between_two_parts_removes_them():
    def parts():
        yield lambda: (b"first",)
        yield lambda: (b"second",)
        raise ValueError

    files = CrashFiles()
    folder = StoreFolder.create(files, WHERE, SCHEMA, SyncPolicy())
    folder.log.append(RecordKind.CHANGE, b"before")
    size = folder.log.size
    with pytest.raises(ValueError):  # noqa: PT011  it has no message
        folder.log.append_parts(parts(), lambda: (b"last",))
    assert folder.log.size == size
    folder.log.append_parts(iter([lambda: (b"part",)]), lambda: (b"last",))
    folder.close()
    assert payloads(read_content(files, WHERE)) == [b"before", b"part", b"last"]


def test_an_ignored_checksum_is_found(monkeypatch):
    monkeypatch.setattr(records, "checksum", lambda data, before=0: 0)
    assert any(not right for form in FORMS for _, right in crashes(CrashFiles, form))


@pytest.mark.parametrize("fails", [1, 2, 10**9])
def test_a_full_disk_at_every_operation(fails):
    """An operation that fails loses nothing acknowledged, and the store opens again once there is space."""
    number = 0
    while True:
        number += 1
        files, history = CrashFiles(fail_at=number, fails=fails), History()
        try:
            history.run(files)
        except OSError:
            pass
        else:
            return
        files.is_locked, files.fail_at = False, None
        image = {name: bytes(node.data) for name, node in files.names_now.items()}
        if "manifest" in image:
            assert is_right(deepcopy(history), CrashFiles(image)), number
            assert is_right(history, files.after_crash("lost")), number


def test_after_a_full_disk_the_log_takes_records_again():
    files, history = CrashFiles(), History()
    folder = StoreFolder.create(files, WHERE, SCHEMA, history.policy)
    history.append(folder, 10)
    files.fail_at = files.operations + 1
    with pytest.raises(OSError, match="No space left"):
        history.append(folder, 20)
    history.attempted.pop()
    history.append(folder, 30)
    folder.close()
    assert payloads(read_content(files, WHERE)) == history.acknowledged


def test_after_a_failed_sync_the_log_refuses_records():
    files, history = CrashFiles(), History()
    folder = StoreFolder.create(files, WHERE, SCHEMA, history.policy)
    files.fail_at = files.operations + 2
    with pytest.raises(OSError, match="No space left"):
        history.append(folder, 20)
    with pytest.raises(SourceError, match="close the store and open it again"):
        history.append(folder, 20)
    folder.abandon()
    assert payloads(read_content(files, WHERE)) == []


def interrupt():
    raise KeyboardInterrupt


def test_an_interrupt_before_a_record_is_visible_ends_the_log():
    files = CrashFiles()
    folder = StoreFolder.create(files, WHERE, SCHEMA, SyncPolicy())
    folder.log.append(RecordKind.CHANGE, b"first")
    with pytest.raises(KeyboardInterrupt):
        folder.log.append(RecordKind.CHANGE, b"second", then=interrupt)
    for change in (lambda: folder.log.append(RecordKind.CHANGE, b"third"), folder.log.seal):
        with pytest.raises(SourceError, match="interrupted, and is lost or made; close the store and open it again"):
            change()
    folder.close()
    assert payloads(read_content(files, WHERE)) == [b"first", b"second"]
    folder, _ = StoreFolder.open(files, WHERE, SyncPolicy())
    folder.log.append(RecordKind.CHANGE, b"third")
    folder.close()
    assert payloads(read_content(files, WHERE)) == [b"first", b"second", b"third"]


def test_an_interrupt_before_a_record_is_whole_removes_it():
    interrupts = []
    files, policy = CrashFiles(), SyncPolicy("batch", 10.0, lambda: interrupts.pop()() if interrupts else 0.0)
    folder = StoreFolder.create(files, WHERE, SCHEMA, policy)
    folder.log.append(RecordKind.CHANGE, b"first")
    interrupts.append(interrupt)
    with pytest.raises(KeyboardInterrupt):
        folder.log.append(RecordKind.CHANGE, b"second")
    folder.log.append(RecordKind.CHANGE, b"third")
    folder.close()
    assert payloads(read_content(files, WHERE)) == [b"first", b"third"]


def test_every_byte_of_a_record_flipped():
    files, history = CrashFiles(), History()
    folder = StoreFolder.create(files, WHERE, SCHEMA, history.policy)
    for size in (5, 30, 6):
        history.append(folder, size)
    folder.abandon()
    name = "log-00000000000000000001.hrs"
    data = files.read(name)
    second = records.parsed(data, records.parsed(data, 0).end)
    for at in range(len(data)):
        for bit in (1, 128):
            flipped = bytearray(data)
            flipped[at] ^= bit
            broken = CrashFiles({**{other: files.read(other) for other in files.names()}, name: bytes(flipped)})
            begin = 0 if at < second.begin else second.begin if at < second.end else second.end
            with pytest.raises(SourceError, match=f"{name} at byte {begin}: "):
                read_content(broken, WHERE)


class Rewritten(CrashFiles):
    """The first reader of a log has bytes of a record that was removed after it had begun, and then those of the next one."""

    reads = 0

    def open_read(self, name):
        file = super().open_read(name)
        self.reads += name.startswith("log")
        if name.startswith("log") and self.reads == 1:
            file.node = deepcopy(file.node)
            file.node.data[-512:-256] = b"x" * 256
        return file


def test_a_record_that_is_replaced_while_it_is_read_is_no_damage():
    files = Rewritten()
    folder = StoreFolder.create(files, WHERE, SCHEMA, SyncPolicy())
    for payload in (b"a" * 1024, b"b" * 1024):
        folder.log.append(RecordKind.CHANGE, payload)
    assert [record.payload[:1] for record in read_content(files, WHERE).changes] == [b"a", b"b"]
    assert files.reads == 2


def test_a_closed_log_says_that_its_last_record_is_damaged():
    files, history = CrashFiles(), History()
    folder = StoreFolder.create(files, WHERE, SCHEMA, history.policy)
    history.append(folder, 5)
    folder.close()
    name = "log-00000000000000000001.hrs"
    data = bytearray(files.read(name))
    data[HEADER_BYTES + 1] ^= 4
    image = {**{other: files.read(other) for other in files.names()}, name: bytes(data)}
    with pytest.raises(SourceError, match=r"at byte 0: the checksum of the payload differs; headrace\.Store\.salvage"):
        read_content(CrashFiles(image), WHERE)


@pytest.mark.parametrize("policy", ["batch", "never"])
@pytest.mark.parametrize("form", FORMS)
def test_without_a_sync_the_first_records_are_there(policy, form):
    """The policies that do not sync each record lose the last ones at most."""
    number = 0
    while True:
        number += 1
        files, history = CrashFiles(crash_at=number), History(SyncPolicy(policy, seconds=1e9))
        try:
            history.run(files)
        except Crashed:
            after = files.after_crash(form)
            if "manifest" in after.names():
                found = payloads(read_content(after, WHERE))
                assert found == history.attempted[: len(found)]
        else:
            return
