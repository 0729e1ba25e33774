"""Compares scans of CR LF with a read, for windows of every size: a window may end between CR and LF."""

from __future__ import annotations

import gzip
import io
from typing import Any

import pytest

import headrace

TEXT = b"a,b\r\n" + b"".join(b"%d,%s\r\n" % (i, b"xyzzy"[: i % 6]) for i in range(8)) + b'\r\n7,"q\r\nr"\r\n8,\r\n\r\n\r\n9,z\r\n'
BLANKS = {"skip_blank_lines": False, "short_records": "null"}


class Pieces(io.RawIOBase):
    """A stream without positions that returns at most three bytes a read."""

    def __init__(self, text: bytes) -> None:
        self._rest = io.BytesIO(text)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._rest.read(min(3, len(buffer)))
        buffer[: len(piece)] = piece
        return len(piece)


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("kind", ["bytes", "stream", "gzip", "utf-16"])
@pytest.mark.parametrize(
    "options", [BLANKS, {}, {"header": False, "skip_rows": 2, **BLANKS}, {"lineterminator": "\r\n", **BLANKS}]
)
def test_windows_of_every_size(options: dict[str, Any], kind: str) -> None:
    text = {"gzip": gzip.compress(TEXT), "utf-16": TEXT.decode().encode("utf-16-le")}.get(kind, TEXT)
    given = {**options, "encoding": "utf-16-le"} if kind == "utf-16" else options
    expected = headrace.read_csv(TEXT, **options)
    assert len(expected) > (12 if options.get("short_records") else 10)
    for size in range(1, len(TEXT) + 2):
        source = Pieces(TEXT) if kind == "stream" else text
        batches = list(headrace.scan_csv(source, batch_bytes=size, **given).batches())
        rows = [row for batch in batches for row in batch.iter_rows()]
        assert rows == list(expected.iter_rows()), size
