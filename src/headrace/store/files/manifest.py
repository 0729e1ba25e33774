"""Defines the manifest: the one file that says which files are the store's, replaced atomically."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from headrace.core.errors import SourceError
from headrace.store.files.file_system import FileSystem, read_file
from headrace.store.files.main_file import Place
from headrace.store.files.records import RecordKind, framed, read_records

MANIFEST = "manifest"
_NEXT = "manifest.new"
FORMAT = 1
_MAX_GENERATION = 10**10 - 1  # a name has 10 digits
MAX_NUMBER = 1 << 62  # maximum number of a row or a record
LOG_NAME = re.compile(r"log-(\d{20})\.hrs")
MAIN_NAME = re.compile(r"main-(\d{10})\.hrs")


@dataclass(frozen=True, slots=True)
class Manifest:
    """The state of a store's files."""

    schema: dict[str, str]  # name and type of each column, as texts
    key: str | list[str] | None  # name of the key column, or names of several; None without one
    on_duplicate: str  # policy for rows whose key is present
    generation: int = 0  # number of the main, which is in the name of its file; 0 before the first merge
    first_sequence: int = 1  # sequence of the first record of the log that is not in the main
    next_row: int = 0  # number of the first row that the log adds
    format: int = FORMAT  # version of the format

    @property
    def main(self) -> str | None:
        """Name of the file of the main; None before the first merge."""
        return main_name(self.generation) if self.generation else None


def main_name(generation: int) -> str:
    """Return the name of a main's file."""
    return f"main-{generation:010}.hrs"


def log_name(first_sequence: int) -> str:
    """Return the name of a log's file."""
    return f"log-{first_sequence:020}.hrs"


def check_no_lost_manifest(files: FileSystem, where: str) -> None:
    """Raise SourceError if a folder without a manifest has files with rows. A crash while it is created leaves an empty log."""
    names = files.names()
    if any(MAIN_NAME.fullmatch(name) or (LOG_NAME.fullmatch(name) and files.open_read(name).size) for name in names):
        raise SourceError(f"{where!r} has files of a store without a manifest; restore that file")


def write_manifest(files: FileSystem, manifest: Manifest) -> None:
    """Replace the manifest. After a crash, the folder has either the old one or the new one.

    Raise OSError if it cannot be written; the old one remains.
    """
    payload = json.dumps(asdict(manifest), ensure_ascii=False).encode()
    if _NEXT in files.names():
        files.remove(_NEXT)
    file = files.open_append(_NEXT)
    try:
        file.write(framed(RecordKind.MANIFEST, 1, 0, payload))
        file.sync()
    finally:
        file.close()
    files.replace(_NEXT, MANIFEST)
    files.sync_folder()


def read_manifest(files: FileSystem, where: str) -> Manifest:
    """Return the manifest of a folder; `where` names the folder in messages.

    Raise SourceError if there is none, or it is damaged.
    """
    try:
        data = read_file(files, MANIFEST)
    except FileNotFoundError:
        check_no_lost_manifest(files, where)
        raise SourceError(f"{where!r} is no store: it has no file {MANIFEST!r}; Store(path, schema=...) creates one") from None
    except NotADirectoryError:
        raise SourceError(f"{where!r} is no store: it is a file, and a store is a folder") from None
    found = read_records(data, 1)
    if found.fault is not None or len(found.records) != 1 or found.records[0].kind != RecordKind.MANIFEST:
        reason = "it has no record" if found.fault is None else f"at byte {found.fault.offset}: {found.fault.reason}"
        raise SourceError(f"the manifest of {where!r} is damaged, {reason}; restore this file from a copy")
    with Place(where, MANIFEST).decoding():
        values = json.loads(bytes(found.records[0].payload))
        if values.get("format") != FORMAT:
            raise SourceError(f"{where!r} has format {values.get('format')}, and this package reads format {FORMAT}")
        return _checked(values)


def _checked(values: Mapping[str, Any]) -> Manifest:
    """Return the manifest of a JSON object. Raise ValueError if a value has another type or is out of range.

    The caller checks the schema and the key, which need types of columns.
    """
    schema, key = values["schema"], values["key"]
    keys = [key] if isinstance(key, str) else [] if key is None else key
    if not isinstance(schema, dict) or not isinstance(keys, list) or not all(isinstance(name, str) for name in keys):
        raise ValueError("schema is no object, or key is no name, list of names or null")
    if key == [] or len(set(keys)) < len(keys) or not schema.keys() >= set(keys):
        raise ValueError("key has no names, a name twice, or one that schema does not have")
    ranges = (("generation", 0, _MAX_GENERATION), ("first_sequence", 1, MAX_NUMBER), ("next_row", 0, MAX_NUMBER))
    for name, low, high in ranges:
        if type(values[name]) is not int or not low <= values[name] <= high:
            raise ValueError(f"{name} is no integer from {low} to {high}")
    return Manifest(**{field.name: values[field.name] for field in fields(Manifest)})
