"""Decompresses zip archives of one file piece by piece, with the interface of the other formats.

An archive is a local header, the data, and the directory: PKWARE, APPNOTE.TXT 6.3.10, section 4.3. The archive is read forwards.
The sum and the sizes of the directory are compared with the text. An archive of several files is refused.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from headrace.sources.compression.formats import ZIP_MARK

if TYPE_CHECKING:
    from headrace.sources.compression.adapters import Decompressor

_ENTRY, _DIRECTORY_64, _LOCATOR_64, _DIRECTORY = b"PK\x01\x02", b"PK\x06\x06", b"PK\x06\x07", b"PK\x05\x06"
_HEADER = struct.Struct("<4s2xHH8xLLHH")
"""Mark, flags, method, compressed and whole size, length of the name and of the extra field."""
_ENTRY_HEADER = struct.Struct("<4s12xLLLHHH12x")
"""Mark, sum, compressed and whole size, lengths of the name, the extra field and the comment."""
_ENCRYPTED, _DESCRIPTOR = 1, 8
_STORED, _DEFLATED = 0, 8
_IN_EXTRA = 0xFFFFFFFF  # size that is in the extra field for large files
_DESCRIPTORS = (16, 24, 12, 20)  # lengths of the sizes after the data: with a mark or without, for small files and large ones


class ZipArchive:
    """Decompresses an archive of one file. `inflate`: returns a decompressor of raw deflate."""

    def __init__(self, inflate: Callable[[], Decompressor]) -> None:
        self._make = inflate
        self._inflate: Decompressor | None = None
        self._waiting = b""
        self._begun = self._ended = False
        self._has_descriptor = False
        self._stored_left = 0
        self._sum = self._size = 0
        self.eof = False

    @property
    def needs_input(self) -> bool:
        """True if all output for the input up to here has been returned."""
        if self.eof:
            return False
        if not self._begun or self._ended:
            return True
        return not self._waiting if self._inflate is None else self._inflate.needs_input

    @property
    def unused_data(self) -> bytes:
        """Input that follows the archive's end."""
        return self._waiting if self.eof else b""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Return at most `max_length` further bytes of the file.

        Raise ValueError if the archive is malformed, encrypted, or has several files.
        """
        if not self._begun:
            self._waiting += data
            if not self._begin():
                return b""
            data, self._waiting = self._waiting, b""
        text = b""
        if not self._ended:
            text, data = self._text(data, max_length)
            self._sum, self._size = zlib.crc32(text, self._sum), self._size + len(text)
        self._waiting += data
        if self._ended:
            self._end()
        return text

    def _begin(self) -> bool:
        """Read the header; return False if it is not complete."""
        header = self._waiting
        if header[: len(ZIP_MARK)] != ZIP_MARK[: len(header)]:
            raise ValueError("it is no zip archive")
        if len(header) < _HEADER.size:
            return False
        _, flags, method, packed_size, _, name, extra = _HEADER.unpack_from(header)
        if len(header) < _HEADER.size + name + extra:
            return False
        if flags & _ENCRYPTED:
            raise ValueError("the zip archive is encrypted; unpack it first")
        if method not in (_STORED, _DEFLATED) or (method == _STORED and flags & _DESCRIPTOR):
            raise ValueError(f"the zip archive uses method {method}; unpack it first")
        fields = header[_HEADER.size + name : _HEADER.size + name + extra]
        self._stored_left = _size_64(fields) if packed_size == _IN_EXTRA else packed_size
        self._inflate = self._make() if method == _DEFLATED else None
        self._has_descriptor = bool(flags & _DESCRIPTOR)
        self._waiting, self._begun = header[_HEADER.size + name + extra :], True
        return True

    def _text(self, data: bytes, max_length: int) -> tuple[bytes, bytes]:
        """Return the next bytes of the file, and the input that follows it."""
        if self._inflate is not None:
            text = self._inflate.decompress(data, max_length)
            self._ended = self._inflate.eof
            return text, self._inflate.unused_data if self._ended else b""
        data, self._waiting = self._waiting + data, b""
        size = min(self._stored_left, max_length)
        text = data[:size]
        self._stored_left -= len(text)
        self._ended = not self._stored_left
        return text, data[size:]

    def _end(self) -> None:
        """Read the directory; nothing if it is not complete."""
        rest = self._waiting
        begin = 0
        if self._has_descriptor:
            if len(rest) < max(_DESCRIPTORS) + 4:
                return
            begin = next((size for size in _DESCRIPTORS if rest[size : size + 4] in (_ENTRY, ZIP_MARK)), 0)
        if len(rest) < begin + _ENTRY_HEADER.size:
            return
        mark, text_sum, _, size, *lengths = _ENTRY_HEADER.unpack_from(rest, begin)
        at = begin + _ENTRY_HEADER.size + sum(lengths)
        if mark == ZIP_MARK or rest[at : at + 4] == _ENTRY:
            raise ValueError("the zip archive has several files; pass one of them: zipfile.ZipFile(path).open(name)")
        if mark != _ENTRY or text_sum != self._sum or size not in (self._size, _IN_EXTRA):
            raise ValueError("the file and the directory of the zip archive differ")
        end = _directory_end(rest, at)
        if end is not None:
            self._waiting, self.eof = rest[end:], True


def _size_64(extra: bytes) -> int:
    """Return the compressed size in the extra field of a large file."""
    while len(extra) >= 20:
        kind, length = struct.unpack_from("<HH", extra)
        if kind == 1:
            return int(struct.unpack_from("<Q", extra, 12)[0])
        extra = extra[4 + length :]
    raise ValueError("the zip archive has no size of its file")


def _directory_end(rest: bytes, at: int) -> int | None:
    """Return the end of the directory whose entries end at `at`; None if it is not complete."""
    while len(rest) >= at + 22:
        mark = rest[at : at + 4]
        if mark == _DIRECTORY:
            end = at + 22 + int.from_bytes(rest[at + 20 : at + 22], "little")
            return end if len(rest) >= end else None
        if mark not in (_DIRECTORY_64, _LOCATOR_64):
            raise ValueError("the directory of the zip archive is malformed")
        at += 20 if mark == _LOCATOR_64 else 12 + int.from_bytes(rest[at + 4 : at + 12], "little")
    return None
