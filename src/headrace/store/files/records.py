"""Frames the records that all files of a store consist of, and finds the first fault of a file.

A record is a header of 40 bytes, a payload, and zeros up to a multiple of 8 bytes. Both parts have a CRC-32. See
docs/formats/store.md.

A file may end in a record that a crash has cut off, or some of whose sectors it has not written: they are zeros. Any other fault
of the last record is damage. The header says how many bytes of the file were synced before the record was written. If a whole
record follows a fault, and says that the bytes there were synced, they were damaged later.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import groupby, pairwise
from struct import Struct
from typing import NamedTuple
from zlib import crc32

from headrace import _native

MAGIC = b"HRSR"
VERSION = 1
ALIGNMENT = 8
SECTOR = 512  # bytes that a disk writes as a whole or not at all; many write more
_HEADER = Struct("<4sHHQQQII")
"""Magic, kind, version, sequence, synced bytes, payload bytes, checksum of payload and zeros, checksum of the preceding."""
HEADER_BYTES = _HEADER.size
_LARGE_BYTES = 1 << 16  # bytes of a part that has a write of its own


class RecordKind(IntEnum):
    """The kind of a record."""

    CHANGE = 1  # log: rows that are removed and rows that are added, together
    SEAL = 2  # log or main: all preceding records were synced; the file was closed
    MANIFEST = 3  # the manifest, as JSON
    MAIN = 4  # main: its description, as JSON
    ROWS = 5  # main: numbers of the rows
    COLUMN = 6  # main: one column
    PART = 7  # Log: the first rows of the change that follows. Without that change, a crash or an error has ended it.
    SCHEMA = 8  # log: a change of the columns


_KINDS = frozenset(RecordKind)


class RecordHeader(NamedTuple):
    """The fields of a header that is whole."""

    kind: int
    sequence: int
    synced: int
    nbytes: int  # bytes of the payload
    checksum: int  # CRC-32 of the payload and its padding

    @property
    def padded_bytes(self) -> int:
        """Bytes of the payload and its padding."""
        return self.nbytes + -self.nbytes % ALIGNMENT


class NotTorn(str):
    """The reason why a record is not read, if no crash is: a newer package wrote it, or its bytes were changed later."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Record:
    """A record of a file."""

    kind: int  # a value of `RecordKind`
    sequence: int  # number of the record: one more than that of the preceding record
    synced: int  # number of bytes of the file that were synced before the record was written
    payload: memoryview  # the content
    begin: int = 0
    end: int = 0  # offsets in the file
    checksum: int = 0  # CRC-32 of the payload and its padding


@dataclass(frozen=True, slots=True)
class Fault:
    """The first fault of a file."""

    offset: int  # offset of the record
    nbytes: int  # number of bytes from there to the end of the file
    reason: str  # the check that failed
    is_damage: bool
    """True if the bytes at the fault were synced, or no crash leaves such bytes. If not, a crash has cut off the file, and no
    acknowledged record is lost.
    """


@dataclass(frozen=True, slots=True)
class Records:
    """The records of a file up to its first fault."""

    records: tuple[Record, ...]
    fault: Fault | None

    @property
    def end(self) -> int:
        """Offset of the end of the last record."""
        return self.records[-1].end if self.records else 0

    def without_open_change(self) -> Records:
        """Return these records without the parts of a change whose last record is missing; what a crash cut off begins there."""
        count, fault = len(self.records), self.fault
        while count and self.records[count - 1].kind == RecordKind.PART:
            count -= 1
        if count < len(self.records) and (fault is None or not fault.is_damage):
            begin, end = self.records[count].begin, self.end if fault is None else fault.offset + fault.nbytes
            reason = "the last record of the change is missing" if fault is None else fault.reason
            fault = Fault(begin, end - begin, reason, is_damage=False)
        return Records(self.records[:count], fault)

    @property
    def is_sealed(self) -> bool:
        """True if the file was closed after its last record."""
        return bool(self.records) and self.records[-1].kind == RecordKind.SEAL


def checksum(data: bytes | memoryview, before: int = 0) -> int:
    """Return the CRC-32 of bytes, as zlib computes it, after bytes whose CRC-32 is `before`."""
    done, found = _native.add_to_checksum(data, before)
    return crc32(memoryview(data)[done:], found)


def framed(kind: int, sequence: int, synced: int, payload: bytes) -> bytes:
    """Return the bytes of a record.

    Examples
    --------
    >>> record = framed(RecordKind.SEAL, 7, 0, b"abc")
    >>> len(record), parsed(record, 0).payload.tobytes()
    (48, b'abc')
    """
    return b"".join(record_parts(kind, sequence, synced, (payload,)))


def record_parts(kind: int, sequence: int, synced: int, payload: Sequence[bytes | memoryview]) -> list[bytes | memoryview]:
    """Return the bytes of a record in parts. Large parts of the payload are not copied, and small ones are joined.

    Examples
    --------
    >>> [bytes(part) for part in record_parts(RecordKind.SEAL, 7, 0, (b"a", b"bc"))] == [framed(RecordKind.SEAL, 7, 0, b"abc")]
    True
    """
    nbytes = sum(len(part) for part in payload)
    padded = *payload, bytes(-nbytes % ALIGNMENT)
    content = 0
    for part in padded:
        content = checksum(part, content)
    start = _HEADER.pack(MAGIC, kind, VERSION, sequence, synced, nbytes, content, 0)[:-4]
    return _joined((start, checksum(start).to_bytes(4, "little"), *padded))


def _joined(parts: Iterable[bytes | memoryview]) -> list[bytes | memoryview]:
    """Return parts with those that are smaller than `_LARGE_BYTES` joined to their neighbours."""
    found: list[bytes | memoryview] = []
    for is_large, run in groupby(parts, lambda part: len(part) >= _LARGE_BYTES):
        together = list(run)
        found += together if is_large else [b"".join(together)]
    return found


def parsed_header(header: bytes | memoryview) -> RecordHeader | str:
    """Return the fields of a header, or the reason why there is none."""
    if len(header) < HEADER_BYTES:
        return "the header is cut off"
    magic, kind, version, sequence, synced, nbytes, content, own = _HEADER.unpack(header)
    if magic != MAGIC:
        return "the header does not begin with its mark"
    if checksum(header[:-4]) != own:
        return "the checksum of the header differs"
    if version != VERSION or kind not in _KINDS:
        return NotTorn(
            f"the record has {f'kind {kind}' if version == VERSION else f'version {version}'}; a newer package wrote it"
        )
    return RecordHeader(kind, sequence, synced, nbytes, content)


def parsed(data: bytes | memoryview, at: int) -> Record | str:
    """Return the record at an offset, or the reason why there is none."""
    view = memoryview(data)
    begin = at + HEADER_BYTES
    header = parsed_header(view[at:begin])
    if isinstance(header, str):
        return header if isinstance(header, NotTorn) or begin > len(view) else _fault_of(header, view, at, begin)
    end = begin + header.padded_bytes
    if end > len(view):
        return "the payload is cut off"
    if checksum(view[begin:end]) != header.checksum:
        return _fault_of("the checksum of the payload differs", view, at, end)
    return Record(header.kind, header.sequence, header.synced, view[begin : begin + header.nbytes], at, end, header.checksum)


def _fault_of(reason: str, data: memoryview, begin: int, end: int) -> str:
    """Return the reason of a fault in a range: `NotTorn` if the range has a byte other than zero in each sector."""
    borders = [begin, *range(begin - begin % SECTOR + SECTOR, end, SECTOR), end]
    is_torn = any(data[one:next_] == bytes(next_ - one) for one, next_ in pairwise(borders))
    return reason if is_torn else NotTorn(reason)


def read_records(data: bytes | memoryview, first: int) -> Records:
    """Return the records of a file, and its first fault. `data`: the bytes of the file. `first`: sequence of its first record."""
    found: list[Record] = []
    at = 0
    while at < len(data):
        record = parsed(data, at)
        if isinstance(record, Record) and record.sequence != first + len(found):
            record = f"the record has the number {record.sequence}, and {first + len(found)} is expected"
        if isinstance(record, str):
            is_damage = isinstance(record, NotTorn) or _was_synced(data, at, first + len(found))
            return Records(tuple(found), Fault(at, len(data) - at, record, is_damage))
        found.append(record)
        at = record.end
    return Records(tuple(found), None)


def whole_records(data: bytes | memoryview) -> dict[int, Record]:
    """Return all records of a damaged file that are whole, by sequence."""
    found, end = {}, 0
    for at in _marks(data):
        record = parsed(data, at) if at >= end else ""
        if isinstance(record, Record):
            found[record.sequence], end = record, record.end
    return found


def _was_synced(data: bytes | memoryview, fault: int, sequence: int) -> bool:
    """Return whether a later record says that the bytes at the fault were synced."""
    later = (parsed(data, at) for at in _marks(data) if at > fault)
    return any(
        isinstance(record, Record) and record.sequence > sequence and fault < record.synced <= record.begin for record in later
    )


def _marks(data: bytes | memoryview) -> Iterator[int]:
    """Yield the offsets at which a record may begin."""
    return (found.start() for found in re.finditer(MAGIC, data) if found.start() % ALIGNMENT == 0)
