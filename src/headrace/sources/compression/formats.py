"""Lists the compression formats, one row each.

To add one: a row, its name, a function that makes its decompressor, and the exception of its library. Libraries are imported
when a format is used: `headrace grep` needs only the marks, and imports this module at its start.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    from headrace.sources.compression.adapters import Decompressor

    CompressionName = Literal["gzip", "zstd", "bz2", "xz", "lz4", "zip"]
else:
    CompressionName = str

READ_BYTES = 256 << 10  # compressed bytes read at a time
MARK_BYTES = 10  # bytes from which every format is recognised
ZIP_MARK = b"PK\x03\x04"
ZSTD_RATIO = 1 << 15  # largest expansion by zstd: a block of at least 4 bytes makes at most 128 KB

_OUTPUT_BYTES = 1 << 20
_BZ2_MARKS = tuple(b"BZh%d%s" % (level, block) for level in range(1, 10) for block in (b"1AY&SY", b"\x17rE8P\x90"))
"""Level, then the mark of a first block or, in an empty stream, of the end."""


class Compression:
    """A compression format.

    `name`: value of the option ``compression=``.
    `marks`: byte sequences of which a compressed source begins with one.
    `make`: function that returns a decompressor for one member.
    `padded`: True if zero bytes may follow the last member.
    `max_output`: bytes of text to request from one call.
    """

    __slots__ = ("make", "marks", "max_output", "name", "padded")

    def __init__(
        self,
        name: str,
        marks: tuple[bytes, ...],
        make: Callable[[], Decompressor],
        *,
        padded: bool = False,
        max_output: int = _OUTPUT_BYTES,
    ) -> None:
        self.name, self.marks, self.make, self.padded, self.max_output = name, marks, make, padded, max_output


def _gzip() -> Decompressor:
    from headrace.sources.compression.adapters import inflate

    return inflate(31)


def _zip() -> Decompressor:
    from headrace.sources.compression.adapters import inflate
    from headrace.sources.compression.zip_archive import ZipArchive

    return ZipArchive(lambda: inflate(-15))


def _zstd() -> Decompressor:
    from headrace.sources.compression.adapters import zstd

    return zstd()


def _bz2() -> Decompressor:
    from bz2 import BZ2Decompressor

    return BZ2Decompressor()


def _xz() -> Decompressor:
    from lzma import LZMADecompressor

    return LZMADecompressor()


def _lz4() -> Decompressor:
    from headrace.sources.compression.adapters import package

    decompressor: Decompressor = package("lz4.frame", "a source compressed with lz4").LZ4FrameDecompressor()
    return decompressor


_FORMATS = (
    Compression("gzip", (b"\x1f\x8b\x08",), _gzip, padded=True),
    Compression("zstd", (b"\x28\xb5\x2f\xfd",), _zstd, max_output=READ_BYTES * ZSTD_RATIO),
    Compression("bz2", _BZ2_MARKS, _bz2),
    Compression("xz", (b"\xfd7zXZ\0",), _xz, padded=True),
    Compression("lz4", (b"\x04\x22\x4d\x18",), _lz4),
    Compression("zip", (ZIP_MARK,), _zip),
)
COMPRESSIONS = {row.name: row for row in _FORMATS}  # format by name
LIBRARY_ERRORS = ("lzma.LZMAError", "zstandard.ZstdError", "compression.zstd.ZstdError", "isal.isal_zlib.error")
"""Exceptions of the libraries for malformed input, except builtin ones and those of zlib."""
ALL_MARKS = tuple(mark for row in _FORMATS for mark in row.marks)


def recognised(start: bytes) -> Compression | None:
    """Return the format of a source that begins with `start`, None if it is not compressed.

    `start`: the first 10 bytes, fewer if the source is shorter.

    >>> recognised(b"\\x1f\\x8b\\x08\\0\\0\\0").name
    'gzip'
    >>> recognised(b"a,b\\n1,2\\n")
    """
    if not start.startswith(ALL_MARKS):
        return None
    return next(row for row in _FORMATS if start.startswith(row.marks))
