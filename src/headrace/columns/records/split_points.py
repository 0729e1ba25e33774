"""Finds points between two records where a text may be split, from a few KB before the split.

The last bytes of a part are searched for records twice: as if they began outside quotes, and inside. The result with fewer
malformed quotes is more likely (Ge, Li, Eilebrecht, Chandramouli and Kossmann, "Speculative distributed CSV data parsing",
SIGMOD 2019). The load of the part detects a wrong guess, because the part then ends inside a record. The caller tries the other
guess next, and finally a later end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from headrace import _native
from headrace.sources.encoding.encoding import decode_as
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect
from headrace.structure.find import find_last_record

_LOOK_BYTES = 16 << 10
_SHORT_LOOK_BYTES = 2 << 10  # bytes to search in a text without quotes, which is assumed to begin outside quotes


def split_points(source: OpenSource, dialect: Dialect, begin: int, end: int) -> list[int]:
    """Return the begin of the last record in bytes `begin` to `end`: guesses, most likely first; none if no other record begins.

    >>> from headrace.sources.open import open_source
    >>> from headrace.structure.dialect import CSV
    >>> with open_source(b'a,b\\n1,"x\\ny"\\n2,z\\n3') as source:
    ...     split_points(source, CSV, 0, 18), split_points(source, CSV, 0, 10)
    ([16], [4])
    """
    if dialect.looks_ahead:
        return lenient_split_points(source, dialect, begin, end)
    size = _LOOK_BYTES
    codec = source.codec
    end -= (end - begin) % 2 if codec.startswith("utf-16") else 0  # a multiple of two bytes, as all positions here
    while True:
        first = max(end - size, begin)
        text = _Text(source.native.read(first, end - first), codec)
        found = _guesses(text, dialect, is_start=first == begin)
        places = list(dict.fromkeys(first + at for at in found if first + at > begin))
        if places or first == begin:
            return places
        size *= 8


def lenient_split_points(source: OpenSource, dialect: Dialect, begin: int, end: int) -> list[int]:
    """Return split points of a UTF-8 text with lenient quotes. These are certain.

    A split point is a line end after a quote that closes any open field, with no other quote between them. A field that opens
    before such a quote is closed by it or earlier, so the text after the split cannot change its meaning.

    >>> from headrace.sources.open import open_source
    >>> with open_source(b'a\\n1,"x\\ny"\\n2,"z\\n3') as source:
    ...     lenient_split_points(source, Dialect(lenient_quotes=True), 0, 18)
    [10]
    """
    quote = dialect.quote_char or b""
    line_end = dialect.lineterminator or b"\n"
    following = [re.escape(each) for each in (dialect.sep, *([line_end] if dialect.lineterminator else [b"\r", b"\n"]))]
    others = re.escape(quote + dialect.sep + (dialect.lineterminator or b"\r\n") + b" ")
    # An odd number of quotes (any number, if a doubled quote is not one quote), after other text and before a delimiter.
    one = re.escape(quote)
    more = one + one if dialect.double_quote else one
    closing = re.compile(b"(?<=[^%s])%s(?:%s)*(?=%s)" % (others, one, more, b"|".join(following)))
    size = _LOOK_BYTES
    while True:
        first = max(end - size, begin)
        text = source.native.read(first, end - first)
        bounds = [match.end() for match in closing.finditer(text)]
        if first == begin:
            bounds.insert(0, 0)
        for after_quote in reversed(bounds):
            next_quote = text.find(quote, after_quote)
            at = text.rfind(line_end, after_quote, None if next_quote < 0 else next_quote)
            if at >= 0:
                return [first + at + len(line_end)]
        if first == begin:
            return []
        size *= 8


@dataclass(frozen=True, slots=True)
class _Text:
    """Bytes in a codec that the native readers decode."""

    content: bytes
    codec: str


def _guesses(text: _Text, dialect: Dialect, *, is_start: bool) -> list[int]:
    quote = b"" if dialect.quote_char is None else dialect.quote_char.decode().encode(text.codec)
    if not quote or quote not in text.content:
        before = max(len(text.content) - _SHORT_LOOK_BYTES, 0)
        _, at = _last_record(replace(text, content=text.content[before:]), dialect)
        return [before + at] if at else _outside(text, dialect)
    if is_start:
        return _outside(text, dialect)
    outside = _last_record(text, dialect)
    strays, at = _last_record(replace(text, content=quote + text.content), dialect)
    guesses = [outside, (strays, at - len(quote))]
    return [at for _, at in sorted(guesses, key=lambda guess: guess[0]) if at > 0]


@lru_cache(maxsize=16)
def _strict(dialect: Dialect) -> Dialect:
    """Return the dialect with stray quotes as faults: text read from the wrong side of quotes has many."""
    return dialect.with_strays_listed()


def _outside(text: _Text, dialect: Dialect) -> list[int]:
    return [at for _, at in (_last_record(text, dialect),) if at]


def _last_record(text: _Text, dialect: Dialect) -> tuple[int, int]:
    """Return the number of malformed quotes, and the begin of the last record; 0 if there is only one record."""
    dialect = _strict(dialect)
    native = _native.Source.from_bytes(text.content)
    if text.codec != "utf-8":
        decode_as(native, text.codec, "")
    return find_last_record(OpenSource(native, "", codec=text.codec), dialect)
