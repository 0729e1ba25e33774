"""Recognises files of formats other than text by their first bytes, so that they are not read as text."""

from __future__ import annotations

from headrace.core.errors import SourceError

_FOREIGN = {
    b"PK\x05\x06": "a zip archive without a file",
    b"PAR1\x15": "Parquet; read it by Table.from_arrow(pyarrow.parquet.read_table(path))",
    b"ARROW1\0\0": "an Arrow file; read it by Table.from_arrow(pyarrow.feather.read_table(path))",
    b"Obj\x01": "Avro; read it by Table.from_arrow(polars.read_avro(path))",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "a workbook or document of Office; save it as CSV first",
    b"\x89HDF\r\n\x1a\n": "HDF5; read it with a reader of HDF5",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive; unpack it first",
    b"Rar!\x1a\x07": "a rar archive; unpack it first",
}  # first bytes of files that are not text, and their descriptions in messages
FOREIGN_MARKS = tuple(_FOREIGN)  # first bytes of files that are not text


def check_is_text(start: bytes, name: str) -> None:
    """Raise if bytes that begin with `start` are a known format other than text."""
    if start.startswith(FOREIGN_MARKS):
        what = next(what for mark, what in _FOREIGN.items() if start.startswith(mark))
        raise SourceError(f"{name} is {what}")
