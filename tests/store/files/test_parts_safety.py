"""Cuts, flips and mixes the records of a change in parts: all are read, or none, or the log is refused."""

from __future__ import annotations

import pytest

from headrace.core.errors import SourceError
from headrace.store.files import records
from headrace.store.files.folder import StoreFolder, read_content
from headrace.store.files.log import SyncPolicy
from headrace.store.files.records import RecordKind, framed, read_records
from tests.store.files.crash_cases import CrashFiles
from tests.store.files.folder_cases import SCHEMA, WHERE, History, payloads

pytestmark = pytest.mark.pure

NAME = "log-00000000000000000001.hrs"


def written(*, after=0):
    """Return the history and the files of a store: a change, a change in three records, and some more changes."""
    files, history = CrashFiles(), History()
    folder = StoreFolder.create(files, WHERE, SCHEMA, history.policy)
    history.append(folder, 5)
    history.append_parts(folder, (30, 6, 0))
    for _ in range(after):
        history.append(folder, 3)
    folder.abandon()
    return history, files


def with_log(files, data):
    return CrashFiles({**{name: files.read(name) for name in files.names()}, NAME: bytes(data)})


def begins_of(data):
    """Return the offsets of the records."""
    return [record.begin for record in read_records(data, 1).records]


def test_a_log_that_ends_within_a_change_has_no_part_of_it():
    history, files = written()
    data = files.read(NAME)
    part = begins_of(data)[1]
    for size in range(part, len(data) + 1):
        cut = with_log(files, data[:size])
        content = read_content(cut, WHERE)
        if size == len(data):
            assert (payloads(content), content.torn) == (history.acknowledged, None)
            continue
        assert payloads(content) == history.acknowledged[:1]
        assert (content.torn and (content.torn.offset, content.torn.nbytes)) == ((part, size - part) if size > part else None)
        folder, _ = StoreFolder.open(cut, WHERE, history.policy)
        folder.log.append_parts(iter([lambda: (b"part",)]), lambda: (b"last",))
        folder.close()
        assert payloads(read_content(cut, WHERE)) == [*history.acknowledged[:1], b"part", b"last"]


@pytest.mark.parametrize("after", [0, 1])
def test_every_byte_of_a_part_flipped(after):
    """A flipped bit is refused, with a later change and without one."""
    _, files = written(after=after)
    data = files.read(NAME)
    begins = [*begins_of(data), len(data)]
    for at in range(begins[1], begins[4]):
        for bit in (1, 128):
            flipped = bytearray(data)
            flipped[at] ^= bit
            broken = with_log(files, flipped)
            record = max(begin for begin in begins if begin <= at)
            with pytest.raises(SourceError, match=f"{NAME} at byte {record}: "):
                read_content(broken, WHERE)


def test_parts_of_two_appends_are_not_mixed():
    """The sequence of records shows parts that an append before a crash has left among those of a later one."""
    history, files = written()
    data = files.read(NAME)
    first, part, second, last = begins_of(data)
    other = framed(RecordKind.PART, 2, part, b"other"), framed(RecordKind.CHANGE, 3, part, b"")
    mixes = [
        data[:second] + b"".join(other),  # its parts begin after one of the first append
        data[:second] + other[0] + data[second:],
        data[:part] + other[0] + data[part:],
        data[:part] + other[0] + data[second:last] + other[1],
        data[:part] + data[second:],  # a part is missing
    ]
    for mixed in mixes:
        content = read_content(with_log(files, mixed), WHERE)
        assert payloads(content) == history.acknowledged[:1]
        assert content.torn.offset == part
    assert first == 0


def unchecked(kind):
    """Return `records.parsed` with a planted bug: it takes records of one kind whose payload differs from its checksum."""
    right = records.parsed

    def parsed(data, at):
        found = right(data, at)
        if found == "the checksum of the payload differs":
            header = records._HEADER.unpack_from(data, at)
            begin = at + records.HEADER_BYTES
            if header[1] == kind:
                end = begin + header[5] + -header[5] % records.ALIGNMENT
                return records.Record(kind, header[3], header[4], memoryview(data)[begin : begin + header[5]], at, end)
        return found

    return parsed


def test_an_ignored_checksum_of_a_part_is_found(monkeypatch):
    monkeypatch.setattr(records, "parsed", unchecked(RecordKind.PART))
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        test_every_byte_of_a_part_flipped(1)


def without_a_write(monkeypatch, number):
    """Plant a bug: the write of a number is lost."""
    count = 0
    right = CrashFiles.open_append

    def open_append(self, name):
        file = right(self, name)
        write = file.write

        def lossy(data):
            nonlocal count
            count += name == NAME
            if count != number or name != NAME:
                write(data)

        file.write = lossy
        return file

    monkeypatch.setattr(CrashFiles, "open_append", open_append)


@pytest.mark.parametrize("number", [2, 3, 4])
def test_a_lost_write_of_a_part_is_found(number, monkeypatch):
    without_a_write(monkeypatch, number)
    history, files = written(after=1)
    with pytest.raises(SourceError) if number < 4 else pytest.raises(AssertionError):
        assert payloads(read_content(files, WHERE)) == history.acknowledged


@pytest.mark.parametrize("field", ["kind", "version"])
def test_a_record_of_a_newer_package_is_refused(field):
    """A whole header of another kind or version is no torn end: nothing of the log is cut off."""
    _, files = written()
    data = files.read(NAME)
    header = bytearray(framed(RecordKind.CHANGE, 5, len(data), b"new"))
    header[4 if field == "kind" else 6] = 77
    header[36:40] = records.checksum(bytes(header[:36])).to_bytes(4, "little")
    newer = with_log(files, data + header)
    for call in (read_content, lambda found, where: StoreFolder.open(found, where, SyncPolicy())):
        with pytest.raises(
            SourceError, match=rf"{NAME} at byte {len(data)}: the record has {field} 77.* a newer package wrote it"
        ):
            call(newer, WHERE)
    assert newer.read(NAME) == data + header
