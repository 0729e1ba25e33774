"""Describes how a delimited text is written.

`Dialect` has the options, and `Dialect.automaton` defines their meaning (dialect_automaton.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from itertools import combinations
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from headrace.core.errors import OptionError, shown
from headrace.core.options import flag
from headrace.structure.automaton import Automaton
from headrace.structure.dialect_automaton import automaton_of

MAX_SEP_BYTES = 8  # greatest length of a separator, a comment prefix and a line terminator, in bytes

DELIMITERS = ("sep", "quote_char", "escape_char", "comment", "lineterminator")  # options whose bytes are not data

ESCAPE_LETTERS = b"0bfnrtvZ"
"""Bytes that stand for others after an escape: 00, 08, 0C, 0A, 0D, 09, 0B and 1A (columns/rules/escape_sequences.hpp)."""


Text = TypeVar("Text", bytes, str)


@dataclass(frozen=True, slots=True, kw_only=True)
class DialectOptions(Generic[Text]):
    """The options of a dialect; `Text` is how their texts are kept. `Dialect` has their meanings."""

    sep: Text
    quote_char: Text | None
    double_quote: bool
    escape_char: Text | None
    escape_sequences: bool
    comment: Text | None
    lineterminator: Text | None
    skip_initial_space: bool
    skip_blank_lines: bool
    lenient_quotes: bool
    strict_quotes: bool
    strip: bool

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of the options."""
        return tuple(one.name for one in fields(DialectOptions))


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Dialect(DialectOptions[bytes]):
    """Options of a delimited text. Text arguments are encoded as UTF-8 and stored as bytes.

    Parameters
    ----------
    sep
        Separator of two fields, 1 to 8 bytes. The leftmost match counts: with sep ``aab``, ``aaab`` is ``a``, then sep.
    quote_char
        Byte that encloses fields with separators, line ends or quotes; None for no quoting.
    double_quote
        Inside quotes, two quotes mean one quote.
    escape_char
        Byte that makes the next byte data, inside and outside quotes. `escape_char` equal to `quote_char` means
        ``double_quote=True`` and no escape.
    escape_sequences
        After `escape_char`, the letters of `ESCAPE_LETTERS` stand for other bytes: ``\\n`` for a line feed. No delimiter may
        contain one of these letters. Without `escape_char` it has no effect.
    comment
        Prefix of comment lines, 1 to 8 bytes. It counts only as the first bytes of a record.
    lineterminator
        Line end, 1 to 8 bytes; None means universal: LF, CRLF and CR, also mixed.
    lenient_quotes
        A quote at the start of a field opens it only if a later quote closes it before a delimiter. Any other malformed quote is
        text. ``structure/cpu/lenient.hpp`` has the exact rule.
    strict_quotes
        A quote inside an unquoted field is text, but its record is malformed. Excludes `lenient_quotes`.
    skip_initial_space
        Spaces at the start of a field are skipped, and a quote after them opens the field.
    strip
        Spaces around a field are skipped, also after closing quotes; implies `skip_initial_space`. Excludes `lenient_quotes`,
        `escape_char`, and separators and line ends of several bytes.
    skip_blank_lines
        A line end at the start of a record is skipped; otherwise it ends a record with one empty field.

    Raises
    ------
    OptionError
        A value has the wrong type or length, or two options share a byte, so that it would mean two things.

    Examples
    --------
    >>> Dialect(sep="||").sep
    b'||'
    >>> Dialect(sep=";", lineterminator=";")
    Traceback (most recent call last):
    headrace.core.errors.OptionError: sep and lineterminator share the byte b';'; each byte may have one meaning only
    """

    def __init__(
        self,
        *,
        sep: bytes | str = b",",
        quote_char: bytes | str | None = b'"',
        double_quote: bool = True,
        escape_char: bytes | str | None = None,
        escape_sequences: bool = False,
        comment: bytes | str | None = None,
        lineterminator: bytes | str | None = None,
        skip_initial_space: bool = False,
        skip_blank_lines: bool = True,
        lenient_quotes: bool = False,
        strict_quotes: bool = False,
        strip: bool = False,
    ) -> None:
        values = {
            "sep": as_bytes("sep", sep, MAX_SEP_BYTES),
            "quote_char": None if quote_char is None else as_bytes("quote_char", quote_char, 1),
            "double_quote": flag("double_quote", double_quote),
            "escape_char": None if escape_char is None else as_bytes("escape_char", escape_char, 1),
            "escape_sequences": flag("escape_sequences", escape_sequences),
            "comment": None if comment is None else as_bytes("comment", comment, MAX_SEP_BYTES),
            "lineterminator": None if lineterminator is None else as_bytes("lineterminator", lineterminator, MAX_SEP_BYTES),
            "strip": flag("strip", strip),
            "skip_initial_space": flag("skip_initial_space", skip_initial_space) or flag("strip", strip),
            "skip_blank_lines": flag("skip_blank_lines", skip_blank_lines),
            "lenient_quotes": flag("lenient_quotes", lenient_quotes) and quote_char is not None,
            "strict_quotes": flag("strict_quotes", strict_quotes) and quote_char is not None,
        }
        if values["escape_char"] is not None and values["escape_char"] == values["quote_char"]:
            values |= {"escape_char": None, "double_quote": True}
        if values["escape_char"] is None:
            values["escape_sequences"] = False
        for name, value in values.items():
            object.__setattr__(self, name, value)
        for name, byte in (("quote_char", self.quote_char), ("escape_char", self.escape_char)):
            if byte is not None and byte >= b"\x80":
                raise OptionError(f"{name} must be an ASCII character, not {byte!r}: it may be a part of another character")
            if byte is not None and (byte.isalnum() or byte in b"+-."):
                raise OptionError(f"{name} must be no letter, digit or sign, not {byte!r}: numbers are made of those")
        if self.lenient_quotes and self.strict_quotes:
            raise OptionError("lenient_quotes and strict_quotes exclude each other: set at most one of them")
        if self.strip:
            self._check_strip()
        self._check_bytes()

    def _check_strip(self) -> None:
        for name, given in (("lenient_quotes", self.lenient_quotes), ("escape_char", self.escape_char is not None)):
            if given:
                raise OptionError(f"strip and {name} exclude each other; skip_initial_space=True goes with both")
        for name, value in (("sep", self.sep), ("lineterminator", self.lineterminator or b"\n")):
            if len(value) > 1:
                raise OptionError(f"with strip=True, {name} must be one byte, not {value!r}")

    def _check_bytes(self) -> None:
        roles = self.delimiters
        notes = {} if self.lineterminator else {"lineterminator": " (lineterminator=None stands for LF, CR and CRLF)"}
        check_distinct_bytes(roles, notes)
        if self.escape_sequences:
            check_no_letters(roles)
        for name, value in roles.items():
            if self.skip_initial_space and value.startswith(b" "):
                option = "strip" if self.strip else "skip_initial_space"
                raise OptionError(f"{name} may not start with a space when {option} is True; use one of the two")

    @property
    def delimiters(self) -> dict[str, bytes]:
        """The bytes of each of `DELIMITERS`; empty for None."""
        return {name: getattr(self, name) or b"" for name in DELIMITERS} | {"lineterminator": self.lineterminator or b"\r\n"}

    @property
    def line_ends(self) -> tuple[bytes, ...]:
        """The line ends of the automaton. CRLF is a CR whose LF is then skipped."""
        return (b"\n", b"\r") if self.lineterminator is None else (self.lineterminator,)

    @property
    def decodes_escapes(self) -> bool:
        """True if a byte after an escape may stand for another byte, so that text is more than its bytes without escapes."""
        return self.escape_sequences

    @property
    def looks_ahead(self) -> bool:
        """True if bytes that follow a quote, in any number, may decide its meaning."""
        return self.lenient_quotes

    @property
    def keeps_strays(self) -> bool:
        """True if a malformed quote is text, so that its record stays."""
        return self.lenient_quotes

    @property
    def lists_strays(self) -> bool:
        """True if quotes inside unquoted fields are faults of their records."""
        return self.strict_quotes or self.lenient_quotes

    @property
    def keeps_blank_lines(self) -> bool:
        """True if a blank line is a record of one empty field."""
        return not self.skip_blank_lines

    @property
    def trims_fields(self) -> bool:
        """True if spaces at the edges of a field may be no part of its text."""
        return self.skip_initial_space

    def trimmed(self, field: bytes) -> bytes:
        """Return the bytes of a field without the spaces that are no part of it."""
        return field.strip(b" ") if self.strip else field.lstrip(b" ") if self.skip_initial_space else field

    def allows(self, **options: object) -> bool:
        """Return whether the dialect with these options in place of its own is valid."""
        try:
            replace(self, **options)  # type: ignore[arg-type]
        except OptionError:
            return False
        return True

    def with_strays_listed(self) -> Dialect:
        """Return the dialect with quotes inside unquoted fields as faults. It reads the same records and fields."""
        return replace(self, strict_quotes=self.quote_char is not None)

    @property
    def automaton(self) -> Automaton:
        """The automaton that reads this dialect; computed once for each distinct dialect."""
        return automaton_of(self)


FLAGS = tuple(one.name for one in fields(Dialect) if one.type == "bool")  # options that are on or off (dialect_flags.hpp)


def as_bytes(name: str, value: object, longest: int) -> bytes:
    """Return the option `value` as UTF-8 bytes.

    Raise OptionError if the value has the wrong type or length, or UTF-8 cannot encode it.

    `value`: ``str`` or ``bytes``.
    `longest`: greatest length, in bytes; the smallest is 1.
    """
    try:
        data = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
    except UnicodeEncodeError:
        raise OptionError(f"{name} must be encodable as UTF-8, but {shown(value)} is not; pass bytes") from None
    if not isinstance(data, bytes):
        raise OptionError(f"{name} must be str or bytes, not {type(value).__name__}")
    if not 1 <= len(data) <= longest:
        length = "one byte" if longest == 1 else f"1 to {longest} bytes"
        raise OptionError(f"{name} must be {length} long, but {shown(value)} is {len(data)} (in UTF-8)")
    return data


_NO_NOTES: Mapping[str, str] = {}


def check_distinct_bytes(roles: Mapping[str, bytes], notes: Mapping[str, str] = _NO_NOTES) -> None:
    """Check that no byte has two meanings.

    Raise OptionError if two options share a byte.

    `roles`: bytes of each option, by the option's name.
    `notes`: text to add to the message if the second of the two options is this one, by the option's name.
    """
    for (one, first), (other, second) in combinations(roles.items(), 2):
        if shared := sorted(set(first) & set(second)):
            note = notes.get(other, "")
            raise OptionError(
                f"{one} and {other} share the byte {bytes(shared[:1])!r}{note}; each byte may have one meaning only"
            )


def check_no_letters(roles: Mapping[str, bytes]) -> None:
    """Check that no byte of an option is a letter of escape sequences; `roles` as for `check_distinct_bytes`.

    Raise OptionError if an option has a letter.
    """
    for name, value in roles.items():
        if letters := bytes(sorted(set(value) & set(ESCAPE_LETTERS))):
            raise OptionError(f"with escape_sequences=True, {name} may not contain {letters[:1]!r}, which is a letter of them")


def check_effect(given: Mapping[str, object], dialect: Dialect) -> None:
    """Check that each given option has an effect. Raise OptionError if another one, which it needs, is missing.

    `given`: options by name, as they were given.
    """
    if given["escape_sequences"] and dialect.escape_char is None:
        raise OptionError(r"escape_sequences=True needs an escape_char, such as escape_char='\\'")


def check_null_texts(texts: Iterable[bytes], dialect: Dialect) -> None:
    r"""Refuse null texts with an escape that decodes: of a field ``\n``, one text is ``\n`` and one a line feed.

    Raise OptionError if there is one.
    """
    if not dialect.decodes_escapes:
        return
    pair = re.compile(re.escape(dialect.escape_char or b"") + rb"(?:([" + ESCAPE_LETTERS + rb"])|.)", re.DOTALL)
    for text in texts:
        if any(found[1] for found in pair.finditer(text)):
            raise OptionError(
                f"the null text {shown(text.decode(errors='replace'))} has an escape sequence; give the text itself"
            )


CSV = Dialect()  # commas, double quotes, any line end
TSV = Dialect(sep=b"\t")  # tab-separated, otherwise as `CSV`
PIPE = Dialect(sep=b"|")  # separated by vertical bars, otherwise as `CSV`
LINES = Dialect(skip_blank_lines=False)  # as `CSV`, but a blank line is a record: for texts of one column

# Changes of options for texts of which a part does not fit a dialect.
MALFORMED_QUOTES_ARE_TEXT: Mapping[str, Any] = MappingProxyType({"lenient_quotes": True})
SKIP_LEADING_SPACES: Mapping[str, Any] = MappingProxyType({"skip_initial_space": True})
SKIP_OUTER_SPACES: Mapping[str, Any] = MappingProxyType({"strip": True, "skip_initial_space": True})
