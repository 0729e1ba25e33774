"""Builds the automaton of a dialect: the table of `step`, which is the only place that interprets a byte.

The table is the closure of `step` from the start of a record. A quote opens a field only as the field's first byte; inside an
unquoted field it is text.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from headrace.structure.automaton import Automaton, Emit, Transition, reachable

if TYPE_CHECKING:
    from headrace.structure.dialect import Dialect


class _Context(StrEnum):
    """Position in a record at which a byte is read. START and CR are idle: no record is open."""

    START = "START"
    CR = "CR"  # after a CR that ended a line; its LF, if one follows, belongs to the same line end
    FIELD_START = "FIELD_START"
    UNQUOTED = "UNQUOTED"
    QUOTED = "QUOTED"
    QUOTE_END = "QUOTE_END"  # after a quote within quotes: it closes them, unless another quote follows
    PADDED = "PADDED"  # after closing quotes and spaces that are skipped
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


@dataclass(frozen=True, slots=True)
class _Reading:
    """A byte that is read in a context, after pending bytes."""

    dialect: Dialect
    context: _Context  # START after a CR that ended a line, unless the byte is its LF
    pending: bytes
    byte: bytes
    is_unreal: bool  # True if the byte is a quote that opens no field

    @property
    def text(self) -> bytes:
        return self.pending + self.byte

    @property
    def match(self) -> bytes:
        """Longest end of the text with which a delimiter may begin. With sep ``aab``, ``aa`` + ``a`` leaves ``aa``."""
        line_ends = self.dialect.line_ends
        return _match(self.text, line_ends if self.context is _Context.COMMENT else (*line_ends, self.dialect.sep))

    @property
    def is_whole(self) -> bool:
        """True if no byte before the match becomes data."""
        return self.match == self.text

    @property
    def opens(self) -> Emit:
        return Emit.OPEN if self.context is _Context.START and not self.pending else Emit(0)

    @property
    def emit(self) -> Emit:
        """Emit bits of a byte that ends nothing. Only a delimiter may follow closing quotes."""
        return self.opens | (Emit.STRAY if self.context in _CLOSED and not self.is_whole else Emit(0))

    @property
    def is_quote(self) -> bool:
        return self.byte == self.dialect.quote_char

    @property
    def is_doubled(self) -> bool:
        """True if the byte is the second of two quotes that mean one."""
        return self.is_quote and self.context is _Context.QUOTE_END and not self.pending and self.dialect.double_quote


_Step = Transition[_State]


def step(dialect: Dialect, state: _State, symbol: bytes) -> _Step:
    """Return the meaning of one symbol in a state: that of the first rule that applies."""
    context, pending = state
    is_unreal = symbol == _UNREAL
    byte = dialect.quote_char if is_unreal and dialect.quote_char is not None else symbol
    if context is _Context.CR:
        if byte == b"\n":
            return Transition(_State(_Context.START), 0)
        context = _Context.START
    reading = _Reading(dialect, context, pending, byte, is_unreal)
    rules = _inside_quotes, _comment_prefix, _lenient_quote, _line_end, _delimiter
    return next((found for rule in rules if (found := rule(reading)) is not None), None) or _field_text(reading)


def _inside_quotes(read: _Reading) -> _Step | None:
    """Read a byte that can be no part of a delimiter: inside quotes, after an escape, or padding."""
    if read.context in (_Context.ESC_U, _Context.ESC_Q):
        return Transition(_State(_Context.UNQUOTED if read.context is _Context.ESC_U else _Context.QUOTED), 0)
    if read.context is _Context.QUOTED:
        leave = {read.dialect.quote_char: _Context.QUOTE_END, read.dialect.escape_char: _Context.ESC_Q}
        return Transition(_State(leave.get(read.byte, _Context.QUOTED)), 0)
    if read.byte == b" " and read.dialect.strip and read.context in _CLOSED:
        return Transition(_State(_Context.PADDED), 0)
    return None


def _comment_prefix(read: _Reading) -> _Step | None:
    comment = read.dialect.comment
    if read.context is _Context.START and comment is not None and comment.startswith(read.text):
        complete = read.text == comment
        return Transition(_State(_Context.COMMENT) if complete else _State(_Context.START, read.text), read.opens)
    return None


def _lenient_quote(read: _Reading) -> _Step | None:
    """Read a byte inside the field whose lenient quote did not close it, since text follows."""
    if read.dialect.keeps_strays and read.context is _Context.QUOTE_END and not read.is_whole and not read.is_doubled:
        return Transition(step(read.dialect, _State(_Context.QUOTED), read.byte).state, Emit.STRAY)
    return None


def _line_end(read: _Reading) -> _Step | None:
    if read.match not in read.dialect.line_ends:
        return None
    may_have_lf = read.match == b"\r" and read.dialect.lineterminator is None
    after = _State(_Context.CR if may_have_lf else _Context.START)
    if read.context is _Context.COMMENT:
        return Transition(after, Emit.RECORD | Emit.COMMENT)
    if read.context is _Context.START and read.is_whole and read.dialect.skip_blank_lines:
        return Transition(after, Emit.BLANK if read.opens else Emit.RECORD | Emit.BLANK)
    return Transition(after, read.emit | Emit.RECORD)


def _delimiter(read: _Reading) -> _Step | None:
    """Read the end of a separator, or a byte with which a delimiter may begin, or any other byte of a comment."""
    if read.context is _Context.COMMENT:
        return Transition(_State(_Context.COMMENT, read.match), 0)
    if read.match == read.dialect.sep:
        return Transition(_State(_Context.FIELD_START), read.emit | Emit.FIELD)
    if not read.match:
        return None
    is_blank = read.context is _Context.START and not read.dialect.sep.startswith(read.match)
    stays = read.is_whole and (is_blank or read.context is _Context.QUOTE_END)
    return Transition(_State(read.context if stays else _Context.UNQUOTED, read.match), read.emit)


def _field_text(read: _Reading) -> _Step:
    at_start = read.context in (_Context.START, _Context.FIELD_START) and not read.pending
    if read.is_doubled or (read.is_quote and at_start and not read.is_unreal):
        return Transition(_State(_Context.QUOTED), read.opens)
    if read.byte == read.dialect.escape_char:
        return Transition(_State(_Context.ESC_U), read.emit)
    if read.byte == b" " and at_start and read.dialect.skip_initial_space:
        return Transition(_State(_Context.FIELD_START), read.emit)
    is_fault = read.is_quote and read.dialect.lists_strays
    return Transition(_State(_Context.UNQUOTED), read.emit | (Emit.STRAY if is_fault else Emit(0)))


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
    still = target == _State(_Context.FIELD_START) and not emit & Emit.FIELD
    return byte == b" " and dialect.skip_initial_space and starts and still


def _match(text: bytes, patterns: tuple[bytes, ...]) -> bytes:
    """Return the longest suffix of `text` that is a prefix of one of `patterns`; b"" if there is none."""
    ends = (text[i:] for i in range(len(text)))
    return next((end for end in ends if any(pattern.startswith(end) for pattern in patterns)), b"")


@lru_cache(maxsize=128)
def automaton_of(dialect: Dialect) -> Automaton:
    """Return the automaton that reads texts of the dialect."""
    symbols = _symbols(dialect)
    table = reachable(_State(_Context.START), symbols, lambda state, symbol: step(dialect, state, symbol))
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
        unreal_group=symbols.index(_UNREAL) if dialect.looks_ahead else None,
        unfinished=frozenset(number[state] for state in states if state.context is _Context.QUOTE_END and state.pending),
        sep_length=len(dialect.sep),
        line_end_length=len(dialect.line_ends[0]),
    )


def _symbols(dialect: Dialect) -> list[bytes]:
    """Return the special bytes, one group each, and at the end an ordinary byte."""
    space = b" " if dialect.skip_initial_space else b""
    special = dict.fromkeys(b"".join((*dialect.line_ends, *dialect.delimiters.values(), space)))
    plain = next(value for value in range(256) if value not in special)
    unreal = [_UNREAL] if dialect.looks_ahead else []
    return [*(bytes([value]) for value in special), *unreal, bytes([plain])]


def _printable(data: bytes) -> str:
    r"""Return ``b"|\n "`` as ``|\n\x20``: one word, for names of states and groups."""
    return repr(data)[2:-1].replace(" ", r"\x20")
