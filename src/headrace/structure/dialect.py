"""Describes how a delimited text is written, and builds the automaton that reads it.

`Dialect` has the options, and `Dialect.automaton` defines their meaning. `_step` is the only place that interprets a byte; the
table is its closure from the start of a record. A quote opens a field only as the field's first byte; inside an unquoted field
it is text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from headrace.core.errors import OptionError, shown
from headrace.core.options import flag
from headrace.structure.automaton import Automaton, Emit, Transition, reachable

MAX_SEP_BYTES = 8  # greatest length of a separator, a comment prefix and a line terminator, in bytes

ESCAPE_LETTERS = b"0bfnrtvZ"
"""Bytes that stand for others after an escape: 00, 08, 0C, 0A, 0D, 09, 0B and 1A (columns/rules/escape_sequences.hpp)."""


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Dialect:
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

    sep: bytes
    quote_char: bytes | None
    double_quote: bool
    escape_char: bytes | None
    escape_sequences: bool
    comment: bytes | None
    lineterminator: bytes | None
    skip_initial_space: bool
    skip_blank_lines: bool
    lenient_quotes: bool
    strict_quotes: bool
    strip: bool

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
        roles = {
            "sep": self.sep,
            "quote_char": self.quote_char or b"",
            "escape_char": self.escape_char or b"",
            "comment": self.comment or b"",
            "lineterminator": self.lineterminator or b"\r\n",
        }
        notes = {} if self.lineterminator else {"lineterminator": " (lineterminator=None stands for LF, CR and CRLF)"}
        check_distinct_bytes(roles, notes)
        if self.escape_sequences:
            check_no_letters(roles)
        for name, value in roles.items():
            if self.skip_initial_space and value.startswith(b" "):
                option = "strip" if self.strip else "skip_initial_space"
                raise OptionError(f"{name} may not start with a space when {option} is True; use one of the two")

    @property
    def line_ends(self) -> tuple[bytes, ...]:
        """The line ends of the automaton. CRLF is a CR whose LF is then skipped."""
        return (b"\n", b"\r") if self.lineterminator is None else (self.lineterminator,)

    @property
    def automaton(self) -> Automaton:
        """The automaton that reads this dialect; computed once for each distinct dialect."""
        return _automaton(self)


def as_bytes(name: str, value: object, longest: int) -> bytes:
    """Return the option `value` as UTF-8 bytes.

    Raise OptionError if the value has the wrong type or length, or UTF-8 cannot encode it.

    `name`: name of the option, for error messages.
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


class _Context(StrEnum):
    """Position in a record at which a byte is read. START and CR are idle: no record is open."""

    START = "START"
    CR = "CR"
    """After a CR that ended a line; its LF, if one follows, belongs to the same line end."""
    FIELD_START = "FIELD_START"
    UNQUOTED = "UNQUOTED"
    QUOTED = "QUOTED"
    QUOTE_END = "QUOTE_END"
    """After a quote within quotes: it closes them, unless another quote follows."""
    PADDED = "PADDED"
    """After closing quotes and spaces that are skipped."""
    ESC_U = "ESC_U"
    ESC_Q = "ESC_Q"
    COMMENT = "COMMENT"


class _State(NamedTuple):
    """A context, and the pending bytes, which may be the first of a separator, line end or comment prefix of several bytes.

    With sep ``||``, ``a|`` is in ``UNQUOTED+|``. A record that consists of pending bytes only is in ``START+...`` (open, not
    idle), because comments and blank lines require that nothing precedes them.
    """

    context: _Context
    pending: bytes = b""

    def __str__(self) -> str:
        return f"{self.context}+{_printable(self.pending)}" if self.pending else self.context.value


_UNREAL = b"quote that opens no field"
"""A symbol in addition to the bytes: a lenient quote at the start of a field that no later quote closes."""


_CLOSED = (_Context.QUOTE_END, _Context.PADDED)


def _step_where_nothing_ends(dialect: Dialect, context: _Context, byte: bytes) -> Transition[_State] | None:
    """Return the meaning of a byte that can be no part of a delimiter: inside quotes, after an escape, or padding."""
    if context in (_Context.ESC_U, _Context.ESC_Q):
        return Transition(_State(_Context.UNQUOTED if context is _Context.ESC_U else _Context.QUOTED), 0)
    if context is _Context.QUOTED:
        leave = {dialect.quote_char: _Context.QUOTE_END, dialect.escape_char: _Context.ESC_Q}
        return Transition(_State(leave.get(byte, _Context.QUOTED)), 0)
    if byte == b" " and dialect.strip and context in _CLOSED:
        return Transition(_State(_Context.PADDED), 0)
    return None


def _step(dialect: Dialect, state: _State, byte: bytes) -> Transition[_State]:
    """Return the meaning of one byte."""
    context, pending = state
    unreal = byte == _UNREAL
    byte = dialect.quote_char if unreal and dialect.quote_char is not None else byte
    if (step := _step_where_nothing_ends(dialect, context, byte)) is not None:
        return step
    if context is _Context.CR:
        if byte == b"\n":
            return Transition(_State(_Context.START), 0)
        context = _Context.START

    text = pending + byte
    opens = Emit.OPEN if context is _Context.START and not pending else Emit(0)
    if context is _Context.START and dialect.comment is not None and dialect.comment.startswith(text):
        complete = text == dialect.comment
        return Transition(_State(_Context.COMMENT) if complete else _State(_Context.START, text), opens)

    found = _match(text, dialect.line_ends if context is _Context.COMMENT else (*dialect.line_ends, dialect.sep))
    # Keep the longest possible begin of a match: with sep `aab`, `aa` + `a` keeps `aa`, and the first `a` becomes data.
    whole = found == text
    # Only a delimiter may follow closing quotes.
    emit = opens | (Emit.STRAY if context in _CLOSED and not whole else Emit(0))

    doubled = byte == dialect.quote_char and context is _Context.QUOTE_END and not pending and dialect.double_quote
    if dialect.lenient_quotes and context is _Context.QUOTE_END and not whole and not doubled:
        # The quote did not close the field, so this byte is read inside it.
        return Transition(_step(dialect, _State(_Context.QUOTED), byte).state, Emit.STRAY)
    if found in dialect.line_ends:
        after = _State(_Context.CR if found == b"\r" and dialect.lineterminator is None else _Context.START)
        if context is _Context.COMMENT:
            return Transition(after, Emit.REC | Emit.COMMENT)
        if context is _Context.START and whole and dialect.skip_blank_lines:
            return Transition(after, Emit.BLANK if opens else Emit.REC | Emit.BLANK)
        return Transition(after, emit | Emit.REC)
    if context is _Context.COMMENT:
        return Transition(_State(context, found), 0)
    if found == dialect.sep:
        return Transition(_State(_Context.FIELD_START), emit | Emit.FLD)
    if found:
        blank = context is _Context.START and not dialect.sep.startswith(found)
        keep = whole and (blank or context is _Context.QUOTE_END)
        return Transition(_State(context if keep else _Context.UNQUOTED, found), emit)

    at_start = context in (_Context.START, _Context.FIELD_START) and not pending
    if byte == dialect.quote_char and (doubled or (at_start and not unreal)):
        return Transition(_State(_Context.QUOTED), opens)
    if byte == dialect.escape_char:
        return Transition(_State(_Context.ESC_U), emit)
    if byte == b" " and at_start and dialect.skip_initial_space:
        return Transition(_State(_Context.FIELD_START), emit)
    is_fault = byte == dialect.quote_char and (dialect.strict_quotes or dialect.lenient_quotes)
    return Transition(_State(_Context.UNQUOTED), emit | (Emit.STRAY if is_fault else Emit(0)))


def _drop(dialect: Dialect, state: _State, byte: bytes, target: _State, emit: int) -> bool:
    """Return the cell of `Automaton.dropped` for a step from `state` to `target`."""
    context, pending = state
    if context in (_Context.ESC_U, _Context.ESC_Q, _Context.COMMENT):
        return False
    if byte in (dialect.quote_char, _UNREAL):
        doubled = context is _Context.QUOTE_END and not pending and dialect.double_quote
        return target.context is _Context.QUOTE_END or (target.context is _Context.QUOTED and not doubled)
    if byte == dialect.escape_char:
        return target.context in (_Context.ESC_U, _Context.ESC_Q)
    if target.context is _Context.PADDED:
        return True
    starts = not pending and context in (_Context.START, _Context.FIELD_START, _Context.CR)
    still = target == _State(_Context.FIELD_START) and not emit & Emit.FLD
    return byte == b" " and dialect.skip_initial_space and starts and still


def _match(text: bytes, patterns: tuple[bytes, ...]) -> bytes:
    """Return the longest suffix of `text` that is a prefix of one of `patterns`; b"" if there is none."""
    ends = (text[i:] for i in range(len(text)))
    return next((end for end in ends if any(pattern.startswith(end) for pattern in patterns)), b"")


@lru_cache(maxsize=128)
def _automaton(dialect: Dialect) -> Automaton:
    symbols = _symbols(dialect)
    table = reachable(_State(_Context.START), symbols, lambda state, byte: _step(dialect, state, byte))
    order = list(_Context)
    states = sorted(table, key=lambda state: (bool(state.pending), order.index(state.context), state.pending))
    number = {state: i for i, state in enumerate(states)}
    rows = range(len(symbols))
    class_of = bytearray([rows[-1]]) * 256
    for group, symbol in enumerate(symbols):
        if symbol != _UNREAL:
            class_of[symbol[0]] = group

    def named(*contexts: _Context) -> frozenset[int]:
        return frozenset(number[state] for state in states if state.context in contexts)

    return Automaton(
        states=tuple(map(str, states)),
        class_of=bytes(class_of),
        groups=(*map(_printable, symbols[:-1]), "other"),
        next=tuple(bytes(number[table[state][group].state] for state in states) for group in rows),
        emit=tuple(bytes(table[state][group].emit for state in states) for group in rows),
        idle=frozenset(number[state] for state in states if state in (_State(_Context.START), _State(_Context.CR))),
        quoted=named(_Context.QUOTED, _Context.ESC_Q),
        comment=named(_Context.COMMENT),
        dropped=tuple(bytes(_drop(dialect, state, symbols[group], *table[state][group]) for state in states) for group in rows),
        escaped=named(_Context.ESC_U, _Context.ESC_Q),
        unreal_group=symbols.index(_UNREAL) if dialect.lenient_quotes else None,
        unfinished=frozenset(number[state] for state in states if state.context is _Context.QUOTE_END and state.pending),
        sep_length=len(dialect.sep),
        line_end_length=len(dialect.line_ends[0]),
    )


def _symbols(dialect: Dialect) -> list[bytes]:
    """Return the special bytes, one group each, and at the end an ordinary byte."""
    space = b" " if dialect.skip_initial_space else b""
    parts = (*dialect.line_ends, dialect.sep, dialect.quote_char, dialect.escape_char, dialect.comment, space)
    special = dict.fromkeys(b"".join(part or b"" for part in parts))
    plain = next(value for value in range(256) if value not in special)
    unreal = [_UNREAL] if dialect.lenient_quotes else []
    return [*(bytes([value]) for value in special), *unreal, bytes([plain])]


def _printable(data: bytes) -> str:
    r"""Return ``b"|\n "`` as ``|\n\x20``: one word, for names of states and groups."""
    return repr(data)[2:-1].replace(" ", r"\x20")


CSV = Dialect()  # commas, double quotes, any line end
TSV = Dialect(sep=b"\t")  # tab-separated, otherwise as `CSV`
PIPE = Dialect(sep=b"|")  # separated by vertical bars, otherwise as `CSV`
