"""Lists the dialects that a sample may be written in, from counts of bytes alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, combinations, product
from typing import Any

from headrace.core.errors import OptionError
from headrace.structure.dialect import MALFORMED_QUOTES_ARE_TEXT, SKIP_LEADING_SPACES, SKIP_OUTER_SPACES, Dialect
from headrace.structure.sample import count_line_ends

SEPARATORS = (b",", b"\t", b";", b"|", b"\x1f", b"\x01", b"^", b"~", b":", b" ")
"""Common separators, in the order of preference between equal scores."""
RARE_SEPARATORS = b"!*&$@=+#"
"""Rare separators, considered only if every line has the same number of them."""
LONG_SEPARATORS = (b"~|~", b"^|^", b"||", b"::", b"\\|")
COMMENTS = (b"#", b"//", b"--", b"%", b";", b" #", b"  #")
_NEVER_IN_TEXT = (b",", b"\x1f", b"\x01", b"\x02")
_COMMENTS_TRIED = 2
_FEW_LINES = 20  # with more lines, a separator has to occur at least once in ten records

_SINGLE_OPENS = re.compile(rb"(?<![^\r\n,;\t|\x1f^~: ])'")
_SINGLE_CLOSES = re.compile(rb"'(?![^\r\n,;\t|\x1f^~: ])")

_QUOTED = re.compile(rb'"[^"]*(?:"|\Z)')  # a quoted part; its line ends do not end records

Options = dict[str, Any]
Fixed = Mapping[str, Any]  # options of `Dialect` that the caller has set, by name; they are not guessed


def candidates(text: bytes, fixed: Fixed) -> list[Dialect]:
    """Return the dialects to try: common ones first, one-column ones last, escapes only if a quote seems to be escaped."""
    seps = [fixed["sep"]] if "sep" in fixed else list(_separators(text))
    quotes = [fixed["quote_char"]] if "quote_char" in fixed else _quotes(text)
    comments = [fixed["comment"]] if "comment" in fixed else _comments(text)
    line_ends = [fixed["lineterminator"]] if "lineterminator" in fixed else _line_ends(text)
    escapes = {quote: [fixed["escape_char"]] if "escape_char" in fixed else _escapes(text, quote) for quote in quotes}
    quoting = [(quote, escape) for quote in quotes for escape in escapes[quote]]
    choices = product(seps, quoting, comments, line_ends)
    return list(
        _valid(
            {**fixed, "sep": sep, "quote_char": quote, "escape_char": escape, "comment": comment, "lineterminator": end}
            for sep, (quote, escape), comment, end in choices
        )
    )


def variants(text: bytes, dialect: Dialect, fixed: Fixed, *, malformed: bool) -> list[Dialect]:
    """Return variants of `dialect` for which the text gives evidence, alone and combined.

    The variants are: a backslash as escape, spaces after separators or around fields skipped, and lenient quotes if some quotes
    are malformed. A dialect without quotes is also varied with quotes: it may lead only because the text's quotes are escaped or
    malformed.
    """
    options = {name: getattr(dialect, name) for name in Dialect.names()}
    if dialect.quote_char is not None or "quote_char" in fixed:
        return list(_valid(_varied(text, options, fixed, malformed)))
    quotes = (options | {"quote_char": quote} for quote in _quotes(text) if quote is not None)
    several = (varied for with_quote in quotes for varied in _varied(text, with_quote, fixed, True))
    return list(_valid(chain(_varied(text, options, fixed, False), several)))


def _varied(text: bytes, options: Options, fixed: Fixed, malformed: bool) -> Iterator[Options]:
    sep, quote = options["sep"], options["quote_char"] or b""
    changes: list[Mapping[str, object]] = []
    if "escape_char" not in fixed and re.search(rb"\\[" + re.escape(quote + sep + b"\\") + rb"\r\n]", text):
        changes.append({"escape_char": b"\\"})
    if sep != b" " and _spaced(text, sep, quote):
        changes.append(SKIP_LEADING_SPACES)
    if sep != b" " and _padded(text, sep, quote):
        changes.append(SKIP_OUTER_SPACES)
    if malformed:
        changes.append(MALFORMED_QUOTES_ARE_TEXT)
    changes = [change for change in changes if _is_free(change, options, fixed)]
    for size in range(1, len(changes) + 1):
        yield from (
            {name: value for one in (options, *subset) for name, value in one.items()} for subset in combinations(changes, size)
        )


def _is_free(change: Mapping[str, object], options: Options, fixed: Fixed) -> bool:
    """Return whether a change of options changes some, and none that the caller has set."""
    return any(options[name] != value for name, value in change.items()) and all(
        fixed.get(name, value) == value for name, value in change.items()
    )


def _spaced(text: bytes, sep: bytes, quote: bytes) -> bool:
    """Return whether spaces seem to belong to separators: before a quote, or after at least half of the separators."""
    return (quote != b"" and sep + b" " + quote in text) or 2 * text.count(sep + b" ") >= text.count(sep)


def _padded(text: bytes, sep: bytes, quote: bytes) -> bool:
    """Return whether spaces seem to end fields: after a closing quote, or before at least half of the separators."""
    if quote and re.search(re.escape(quote) + rb" +(?:" + re.escape(sep) + rb"|[\r\n]|\Z)", text):
        return True
    return 0 < text.count(sep) <= 2 * text.count(b" " + sep)


def _valid(several: Iterable[Options]) -> Iterator[Dialect]:
    """Yield the dialects whose options are valid, which means that they share no byte."""
    for options in several:
        try:
            yield Dialect(**options)
        except OptionError:
            continue


def _separators(text: bytes) -> Iterator[bytes]:
    """Yield separators that occur often, except bytes that occur only in a longer separator; at the end one that is absent."""
    lines = text.splitlines()
    records = len(_QUOTED.sub(b"", text).splitlines()) if b'"' in text else len(lines)
    often = 1 if records < _FEW_LINES else records // 10
    long = [sep for sep in LONG_SEPARATORS if text.count(sep) >= often]
    parts = {sep[i : i + 1] for sep in long for i in range(len(sep)) if _only_in(text, sep[i : i + 1], sep)}
    yield from (sep for sep in SEPARATORS if text.count(sep) >= often and sep not in parts)
    yield from (sep for sep in long if set(parts) & {sep[i : i + 1] for i in range(len(sep))})
    if len(lines) > 2:
        counts = (([line.count(byte) for line in lines[:_FEW_LINES]], bytes([byte])) for byte in RARE_SEPARATORS)
        yield from (sep for several, sep in counts if several[0] and several == several[:1] * len(several) and sep not in parts)
    yield next((sep for sep in _NEVER_IN_TEXT if sep not in text), b",")


def _only_in(text: bytes, byte: bytes, sep: bytes) -> bool:
    return text.count(byte) == text.count(sep) * sep.count(byte)


def _quotes(text: bytes) -> list[bytes | None]:
    """Return the quotes to try: the double quote; a single quote or none if the text gives evidence for it."""
    quotes: list[bytes | None] = [b'"']
    if b"'" in text and _SINGLE_OPENS.search(text) and _SINGLE_CLOSES.search(text):
        quotes.append(b"'")
    if b'"' in text:
        quotes.append(None)
    return quotes


def _escapes(text: bytes, quote: bytes | None) -> list[bytes | None]:
    r"""Return the escapes to try. A backslash before a quote escapes it, unless that scores lower: ``"C:\dir\",1``."""
    return [b"\\", None] if quote is not None and b"\\" + quote in text else [None]


def _comments(text: bytes) -> list[bytes | None]:
    """Return None, and the comment prefixes that most lines begin with."""
    ends = [end for end in (b"\n", b"\r") if end in text]
    counts = {prefix: text.startswith(prefix) + sum(text.count(end + prefix) for end in ends) for prefix in COMMENTS}
    often = sorted((prefix for prefix in COMMENTS if counts[prefix]), key=lambda prefix: -counts[prefix])
    return [None, *often[:_COMMENTS_TRIED]]


def _line_ends(text: bytes) -> list[bytes | None]:
    """Return universal line ends; LF alone if a few CRs may be data; ASCII's record separator if it occurs."""
    ends: list[bytes | None] = [None]
    found = count_line_ends(text)
    if 0 < found[b"\r"] < found[b"\n"] + found[b"\r\n"]:
        ends.append(b"\n")
    if b"\x1e" in text and b"\x1f" in text:
        ends.append(b"\x1e")
    return ends
