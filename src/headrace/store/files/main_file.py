"""Defines the records of a main's file, and reads its columns when they are first used."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from headrace.core.errors import SourceError
from headrace.store.files.file_system import FileSystem, ReadFile
from headrace.store.files.records import HEADER_BYTES, Fault, RecordHeader, RecordKind, checksum, parsed_header

_WRONG_CONTENT = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RuntimeError, struct.error)
"""Errors of code that decodes a record whose content no writer writes."""


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a record, for messages."""

    where: str = "a store"  # the folder
    file: str = "a file"
    offset: int = 0  # offset of the record in the file

    @contextmanager
    def decoding(self) -> Iterator[None]:
        """Raise SourceError if the body, which decodes and checks the record, raises an error about its content."""
        try:
            yield
        except _WRONG_CONTENT as error:
            raise SourceError(
                f"{self.where!r} is damaged: {self.file} at byte {self.offset}: {error}; "
                "its checksums are right, so this package did not write it; restore the file from a copy"
            ) from error


@dataclass(frozen=True, slots=True)
class MainRecord:
    """A record of a main."""

    kind: int
    parts: tuple[bytes | memoryview, ...]  # The content in parts. A record that was read has one; if it is damaged, none.
    fetch: Callable[[], memoryview] | None = None
    """Reads and checks the content of a record that is not read yet; None for the others."""
    place: Place = Place()

    @property
    def is_lost(self) -> bool:
        """True if the record was read, and is damaged."""
        return self.fetch is None and not self.parts

    def content(self) -> bytes | memoryview:
        """Return the content of a record that is undamaged. Raise SourceError if the file is damaged there."""
        return self.parts[0] if self.fetch is None else self.fetch()


@dataclass(frozen=True, slots=True)
class Damage:
    """A place of a file that was synced and has other bytes now."""

    file: str
    fault: Fault

    def error(self, where: str) -> SourceError:
        """Return the error for a store that cannot be opened; `where` names its folder."""
        return SourceError(
            f"{where!r} is damaged: {self.file} at byte {self.fault.offset}: {self.fault.reason}; "
            "headrace.Store.salvage(path, copy), or headrace store verify PATH --copy COPY, copies "
            + ("what is undamaged" if self.file.startswith("main") else "all rows up to there")
        )


def unread_main(files: FileSystem, name: str, where: str) -> tuple[MainRecord, ...] | None:
    """Return the records of a main, whose columns are read at their first use; None if a header or another record is damaged.

    Raise FileNotFoundError if there is no such file.
    """
    file = files.open_read(name)
    found: list[MainRecord] = []
    at = 0
    while at < file.size:
        header = parsed_header(file.read(at, HEADER_BYTES))
        if isinstance(header, str) or header.sequence != len(found) + 1:
            return None
        record = MainRecord(header.kind, (), partial(_fetched, file, name, where, at, header), Place(where, name, at))
        at += HEADER_BYTES + header.padded_bytes
        if header.kind != RecordKind.COLUMN:
            try:
                record = MainRecord(header.kind, (record.content(),), place=record.place)
            except SourceError:
                return None
        found.append(record)
    return tuple(found[:-1]) if at == file.size and found and found[-1].kind == RecordKind.SEAL else None


def _fetched(file: ReadFile, name: str, where: str, at: int, header: RecordHeader) -> memoryview:
    """Return the payload of the record at an offset. Raise SourceError if it is damaged."""
    payload = file.read(at + HEADER_BYTES, header.padded_bytes)
    if len(payload) == header.padded_bytes and checksum(payload) == header.checksum:
        return payload[: header.nbytes]
    raise Damage(name, Fault(at, file.size - at, "the checksum of the payload differs", is_damage=True)).error(where)
