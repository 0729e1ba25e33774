"""Tests records that are written in parts."""

from __future__ import annotations

from itertools import pairwise
from zlib import crc32

import pytest

from headrace.store.files.folder import StoreFolder, read_content
from headrace.store.files.log import SyncPolicy
from headrace.store.files.records import HEADER_BYTES, SECTOR, RecordKind, checksum, framed, parsed, read_records, record_parts
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


def test_sectors_that_a_crash_left_out_are_no_damage():
    """They are zeros. Without such a sector a fault is damage, also in the last record."""
    before = framed(RecordKind.CHANGE, 1, 0, bytes([7]) * 400)
    data = before + framed(RecordKind.CHANGE, 2, 0, bytes([8]) * 1500)
    begin = len(before)
    assert begin == 440  # so that the record is in four sectors, the first of which has its header
    for sector in range(0, len(data), SECTOR):
        first, end = max(sector, begin), min(sector + SECTOR, len(data))
        torn = read_records(data[:first] + bytes(end - first) + data[end:], 1)
        assert (torn.fault.offset, torn.fault.is_damage) == (begin, False)
    for at in range(begin, len(data)):
        flipped = bytearray(data)
        flipped[at] ^= 4
        fault = read_records(bytes(flipped), 1).fault
        assert (fault.offset, fault.is_damage) == (begin, True), at


def test_a_flip_of_a_record_with_an_empty_sector_counts_as_a_crash():
    data = bytearray(framed(RecordKind.CHANGE, 1, 0, b"x" * 500 + bytes(1000) + b"x"))
    data[50] ^= 1
    fault = read_records(bytes(data), 1).fault
    assert (fault.offset, fault.is_damage) == (0, False)
