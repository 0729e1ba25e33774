"""Determines the encoding of a text, and how it is decoded.

The native readers decode UTF-16 and single-byte code pages tile by tile, and report positions in the source. Any other codec of
Python decodes the whole text into memory first; positions are then positions in the decoded text, in UTF-8.
"""

from __future__ import annotations

import codecs
import re
import sys
from dataclasses import dataclass
from functools import cache

from headrace import _native
from headrace.core.errors import MemoryLimitError, OptionError
from headrace.sources.encoding.marks import UTF8_MARK, WIDE_MARKS

_PIECE = 1 << 20
_UTF8 = ("utf-8", "utf-8-sig")
_MARKS = {UTF8_MARK: "utf-8"} | WIDE_MARKS
TEXT_MARKS = tuple(_MARKS)  # all byte-order marks
_COMMON = ("utf-8", "utf8-lossy", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1252", "ascii", "utf-32")

UNDECODABLE = b"\xff"
"""Replaces undecodable bytes. Valid UTF-8 never contains it, so the field that contains it is reported as a fault."""


@dataclass(frozen=True, slots=True)
class TextEncoding:
    """The encoding of a text."""

    codec: str | None = None  # Python's name of the codec; None for that of the byte-order mark, or UTF-8
    replace: bool = False  # True if undecodable text becomes U+FFFD in strings instead of a fault

    @classmethod
    def parse(cls, encoding: object, errors: str) -> TextEncoding:
        """Return the encoding of any name that Python knows; ``"utf8-lossy"`` is UTF-8 with ``errors="replace"``.

        Raise OptionError if Python has no text encoding of that name.

        >>> TextEncoding.parse("latin1", "strict").codec
        'iso8859-1'
        """
        if encoding is None:
            return cls(None, errors == "replace")
        if not isinstance(encoding, str):
            raise OptionError.wrong("encoding", "a name or None", encoding)
        if encoding.lower().replace("_", "-") in ("utf8-lossy", "utf-8-lossy"):
            return cls(None, True)
        try:
            codec = codecs.lookup(encoding).name
            b"a".decode(codec, "replace")  # fails for codecs from bytes to bytes, such as hex
        except (LookupError, ValueError):
            raise OptionError.unknown("encoding", encoding, _COMMON) from None
        return cls(None if codec in _UTF8 else codec, errors == "replace")

    def of_text(self, start: bytes) -> tuple[str, int]:
        """Return the codec of a text that begins with `start`, and the size of its byte-order mark in bytes.

        >>> TextEncoding().of_text(b"\\xff\\xfea\\0")
        ('utf-16-le', 2)
        """
        mark = next(mark for mark in _MARKS if start.startswith(mark)) if start.startswith(TEXT_MARKS) else b""
        marked = _MARKS.get(mark, "utf-8")
        if self.codec is None:
            return marked, len(mark)
        if self.codec in ("utf-16", "utf-32"):
            if mark and marked.startswith(self.codec):
                return marked, len(mark)
            # FF FE 00 00 is the mark of UTF-32, and also that of UTF-16 followed by a NUL.
            if self.codec == "utf-16" and marked == "utf-32-le":
                return "utf-16-le", 2
            return f"{self.codec}-{'le' if sys.byteorder == 'little' else 'be'}", 0
        codec_mark = next((mark for mark, codec in _MARKS.items() if codec == self.codec), b"")
        return self.codec, len(codec_mark) if codec_mark and start.startswith(codec_mark) else 0


@dataclass(frozen=True, slots=True)
class DecodedText:
    """A source that the native readers read as UTF-8."""

    native: _native.Source
    begin: int  # first byte of the text, after a byte-order mark
    held: int = 0  # bytes of text in memory, if the whole text was decoded
    codec: str = "utf-8"  # codec of the bytes of `native`


def decoded(source: _native.Source, encoding: TextEncoding, *, isa: str = "", memory_limit: int | None = None) -> DecodedText:
    """Return the text of `source`.

    Raise MemoryLimitError if the text has to be decoded into memory, and is longer than `memory_limit`.
    """
    codec, begin = encoding.of_text(source.read(0, 4))
    if codec == "utf-8":
        return DecodedText(source, begin)
    if not is_decoded_whole(codec):
        decode_as(source, codec, isa)
    else:
        text = _decoded_whole(source, codec, begin, memory_limit)
        return DecodedText(_native.Source.from_bytes(text), 0, len(text))
    return DecodedText(source, begin, codec=codec)


def decode_as(source: _native.Source, codec: str, isa: str) -> None:
    """Let the native readers decode the source, whose codec is one for which `is_decoded_whole` is false."""
    source.decode_as(codec, [] if codec.startswith("utf-16") else code_page(codec) or [], isa)


def is_decoded_whole(codec: str) -> bool:
    """Return whether `decoded` decodes the whole text into memory."""
    return codec not in ("utf-8", "utf-16-le", "utf-16-be") and code_page(codec) is None


@cache
def code_page(codec: str) -> list[bytes] | None:
    """Return the UTF-8 text of each byte, FF for an undefined byte; None if the codec is not a single-byte codec.

    >>> code_page("cp1252")[0x80:0x82]
    [b'\\xe2\\x82\\xac', b'\\xff']
    """
    characters: list[bytes] = []
    known = b""
    for byte in range(256):
        one = bytes([byte])
        try:
            character = codecs.getincrementaldecoder(codec)().decode(one)
        except UnicodeError:
            characters.append(UNDECODABLE)
            continue
        if len(character) != 1:  # the first of several bytes, or a byte that only changes the decoder's state
            return None
        known += one
        characters.append(in_utf8(character))
    # Some codecs accept single bytes but do not decode each independently (punycode): the whole then differs.
    try:
        whole = in_utf8(known.decode(codec))
    except UnicodeError:
        return None
    return characters if whole == b"".join(character for character in characters if character != UNDECODABLE) else None


def _decoded_whole(source: _native.Source, codec: str, begin: int, memory_limit: int | None) -> bytearray:
    decoder = codecs.getincrementaldecoder(codec)(MARK_UNDECODABLE)
    text = bytearray()
    for at in range(begin, source.size, _PIECE):
        more = in_utf8(decoder.decode(source.read(at, _PIECE), at + _PIECE >= source.size))
        text += more
        if memory_limit is None:
            _native.poll_group_memory(len(more))
        elif len(text) > memory_limit:
            raise MemoryLimitError(f"the text, decoded from {codec}, is longer than memory_limit = {memory_limit} bytes")
    return text


def in_utf8(text: str) -> bytes:
    """Return decoded text as UTF-8, with the marks that `MARK_UNDECODABLE` may have left."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", _ESCAPED, text).encode("utf-8", "surrogateescape")


MARK_UNDECODABLE = "headrace.undecodable"
_ESCAPED = UNDECODABLE.decode("utf-8", "surrogateescape")


def _mark(error: UnicodeError) -> tuple[str, int]:
    if isinstance(error, UnicodeDecodeError):
        return _ESCAPED, error.end
    raise error


codecs.register_error(MARK_UNDECODABLE, _mark)
