"""Lists the byte sequences that compressed sources begin with."""

from __future__ import annotations

MARK_BYTES = 10  # bytes from which every format is recognised
ZIP_MARK = b"PK\x03\x04"
_BZ2_MARKS = tuple(b"BZh%d%s" % (level, block) for level in range(1, 10) for block in (b"1AY&SY", b"\x17rE8P\x90"))
"""Level, then the mark of a first block or, in an empty stream, of the end."""
MARKS: dict[str, tuple[bytes, ...]] = {
    "gzip": (b"\x1f\x8b\x08",),
    "zstd": (b"\x28\xb5\x2f\xfd",),
    "bz2": _BZ2_MARKS,
    "xz": (b"\xfd7zXZ\0",),
    "lz4": (b"\x04\x22\x4d\x18",),
    "zip": (ZIP_MARK,),
}
"""Byte sequences of which a source begins with one, by format."""
ALL_MARKS = tuple(mark for marks in MARKS.values() for mark in marks)
