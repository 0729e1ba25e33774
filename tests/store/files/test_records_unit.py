"""Tests records that are written in parts."""

from __future__ import annotations

from itertools import pairwise
from zlib import crc32

import pytest

from headrace.store.files.folder import StoreFolder, read_content
from headrace.store.files.log import SyncPolicy
from headrace.store.files.records import HEADER_BYTES, RecordKind, checksum, framed, parsed, record_parts
from tests.store.files.crash_cases import FORMS, Crashed, CrashFiles
from tests.store.files.folder_cases import SCHEMA, WHERE, payloads

LARGE = bytes(range(256)) * 300
PAYLOADS = [[], [b""], [b"a", b"bc"], [LARGE], [b"a", memoryview(LARGE), b"b", b"c", LARGE, LARGE[:-3]]]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_parts_are_the_bytes_of_the_record(payload):
    parts = record_parts(RecordKind.CHANGE, 3, 8, payload)
    content = b"".join(payload)
    record = b"".join(parts)
    assert record[HEADER_BYTES:] == content + bytes(-len(content) % 8)
    assert int.from_bytes(record[32:36], "little") == crc32(record[HEADER_BYTES:])
    assert bytes(parsed(record, 0).payload) == content
    assert framed(RecordKind.CHANGE, 3, 8, content) == record
    large = [part for part in payload if len(part) == len(LARGE)]
    assert [part for part in parts if any(part is given for given in large)] == large
    assert all(len(first) + len(second) > 1 << 16 for first, second in pairwise(parts))


@pytest.mark.parametrize("size", [0, 1, 15, 16, 63, 64, 65, 79, 80, 127, 128, 1000, 70_001])
def test_checksums_are_those_of_zlib(size):
    for begin in range(3):
        part = memoryview(LARGE)[begin : begin + size]
        for before in (0, 1, 0x12345678, 0xFFFFFFFF):
            assert checksum(part, before) == crc32(part, before)


def test_a_full_disk_after_some_parts_leaves_no_part():
    for number in range(1, 6):
        files = CrashFiles()
        folder = StoreFolder.create(files, WHERE, SCHEMA, SyncPolicy())
        folder.log.append(RecordKind.CHANGE, b"first")
        files.fail_at = files.operations + number
        with pytest.raises(OSError, match="No space"):
            folder.log.append(RecordKind.CHANGE, b"a", LARGE, b"b", LARGE)
        folder.log.append(RecordKind.CHANGE, b"last")
        folder.abandon()
        assert payloads(read_content(files, WHERE)) == [b"first", b"last"]


@pytest.mark.parametrize("form", FORMS)
def test_a_crash_after_some_parts_loses_no_earlier_record(form):
    for number in range(1, 7):
        files = CrashFiles()
        folder = StoreFolder.create(files, WHERE, SCHEMA, SyncPolicy())
        folder.log.append(RecordKind.CHANGE, b"first")
        files.crash_at = files.operations + number
        with pytest.raises(Crashed):
            folder.log.append(RecordKind.CHANGE, b"a", LARGE, b"b", LARGE)
        found = payloads(read_content(files.after_crash(form), WHERE))
        assert found in ([b"first"], [b"first", b"a" + LARGE + b"b" + LARGE])
