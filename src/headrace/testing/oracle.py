"""Reads texts sequentially, as the definition of their meaning; tests compare the parallel readers with it.

`split` is written from the rules of a dialect alone, with a cursor and look-ahead and without an automaton. `split_by_automaton`
walks a table byte by byte. If the two agree, the table is right; parallel readers are compared with either.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from headrace.structure.automaton import Automaton, Emit, compose
from headrace.structure.dialect import Dialect

_SPACE = 0x20


@dataclass(slots=True)
class OracleRecord:
    """One record, or one comment line."""

    start: int
    end: int  # offsets of the first byte and past the last one, without the line end
    fields: list[tuple[int, int]]
    """Raw byte ranges, including quotes and skipped spaces. A comment line has one range, the whole line."""
    comment: bool = False  # the record is a comment line
    strays: list[int] = field(default_factory=list)  # offsets of the bytes at which quoting is malformed
    unclosed: bool = False  # the input ends inside quotes


@dataclass(slots=True)
class OracleStructure:
    """Records of a text in order, including comment lines, and the number of skipped blank lines."""

    records: list[OracleRecord] = field(default_factory=list)
    blank_lines: int = 0


def split(data: bytes, dialect: Dialect) -> OracleStructure:
    """Find the records and fields of `data` from left to right.

    >>> split(b'a,"b\\nc"\\n', Dialect()).records[0].fields
    [(0, 1), (2, 7)]
    """
    structure = OracleStructure()
    pos = 0
    while pos < len(data):
        blank = _line_end_at(data, pos, dialect)
        if blank and dialect.skip_blank_lines:
            structure.blank_lines += 1
            pos += blank
        elif dialect.comment is not None and data.startswith(dialect.comment, pos):
            record, pos = _read_comment(data, pos, dialect)
            structure.records.append(record)
        else:
            reader = _RecordReader(data, pos, dialect)
            structure.records.append(reader.read())
            pos = reader.pos
    return structure


def _line_end_at(data: bytes, pos: int, dialect: Dialect) -> int:
    """Return the length of the line end at `pos`, 0 if there is none."""
    ends = (b"\r\n", b"\r", b"\n") if dialect.lineterminator is None else (dialect.lineterminator,)
    for end in ends:  # each byte of a text comes here
        if data.startswith(end, pos):
            return len(end)
    return 0


def _read_comment(data: bytes, start: int, dialect: Dialect) -> tuple[OracleRecord, int]:
    pos = start + len(dialect.comment or b"")
    while pos < len(data) and not _line_end_at(data, pos, dialect):
        pos += 1
    return OracleRecord(start, pos, [(start, pos)], comment=True), pos + _line_end_at(data, pos, dialect)


class _RecordReader:
    """Reads the record that starts at `pos` and advances `pos` after its line end."""

    def __init__(self, data: bytes, pos: int, dialect: Dialect) -> None:
        self.data, self.pos, self.dialect = data, pos, dialect
        self.quote = dialect.quote_char[0] if dialect.quote_char else None
        self.escape = dialect.escape_char[0] if dialect.escape_char else None
        self.record = OracleRecord(pos, pos, [])

    def read(self) -> OracleRecord:
        while self._read_field():
            pass
        return self.record

    def _read_field(self) -> bool:
        """Read one field and the delimiter after it; return whether the record continues."""
        data, dialect, start = self.data, self.dialect, self.pos
        self.pos = _skip_spaces(data, start, len(data), dialect)
        if self._byte() == self.quote and (not dialect.lenient_quotes or opens_field(data, self.pos, dialect)):
            self._read_quoted()
        while self.pos < len(data):
            ended = _line_end_at(data, self.pos, dialect)
            separated = len(dialect.sep) if data.startswith(dialect.sep, self.pos) else 0
            if ended or separated:
                self._close_field(start)
                self.pos += ended + separated
                return separated > 0
            if self._byte() == self.quote and (dialect.strict_quotes or dialect.lenient_quotes):
                self._stray(self.pos)
            self.pos = min(self.pos + (2 if self._byte() == self.escape else 1), len(data))
        self._close_field(start)
        return False

    def _read_quoted(self) -> None:
        """Read from an opening quote to the position after its closing quote."""
        data, dialect = self.data, self.dialect
        self.pos += 1
        while self.pos < len(data):
            byte = self._byte()
            self.pos = min(self.pos + (2 if byte == self.escape else 1), len(data))
            if byte != self.quote:
                continue
            if self._byte() == self.quote and dialect.double_quote:
                self.pos += 1
                continue
            strays = len(self.record.strays)
            self._check_after_quotes()
            if not dialect.lenient_quotes or len(self.record.strays) == strays:
                return
        self.record.unclosed = True

    def _check_after_quotes(self) -> None:
        """Check that a delimiter follows. If one begins but is incomplete, the fault is at the first byte that does not match.

        In ``"x"|y`` with sep ``||`` that is y; if the input ends first, it is the end.
        """
        while self.dialect.strip and self._byte() == _SPACE:
            self.pos += 1
        after = self.data[self.pos : self.pos + 8]
        ends = (b"\r", b"\n") if self.dialect.lineterminator is None else (self.dialect.lineterminator,)
        common = max(_common_prefix(after, delimiter) for delimiter in (self.dialect.sep, *ends))
        if self.pos < len(self.data) and not any(after.startswith(d) for d in (self.dialect.sep, *ends)):
            self._stray(self.pos + common)

    def _byte(self) -> int:
        """Return the byte at the cursor; -1 at the end of the input."""
        return self.data[self.pos] if self.pos < len(self.data) else -1

    def _stray(self, offset: int) -> None:
        if offset not in self.record.strays:
            self.record.strays.append(offset)

    def _close_field(self, start: int) -> None:
        self.record.fields.append((start, self.pos))
        self.record.end = self.pos


_SPACES_BEFORE_QUOTE, _ESCAPES_BEFORE_QUOTE = 16, 32
"""Bytes before a later quote that are examined. More spaces are those of no field's start, and more escapes are pairs."""


def opens_field(data: bytes, pos: int, dialect: Dialect) -> bool:
    """Return whether a lenient quote at the start of a field opens it.

    An even run of quotes is a field of its own if a delimiter follows. An odd run opens the field if, among later odd runs, one
    that precedes a delimiter is earlier than one that begins a field. If the dialect does not double quotes, every run counts as
    odd. Two or more quotes before a delimiter are then a field of their own. See ``structure/cpu/lenient.hpp``.

    >>> opens_field(b'"a,b', 0, Dialect(lenient_quotes=True)), opens_field(b'"a,b"', 0, Dialect(lenient_quotes=True))
    (False, True)
    """
    quote = dialect.quote_char or b""
    end = pos + len(data[pos:]) - len(data[pos:].lstrip(quote))
    if dialect.double_quote and (end - pos) % 2 == 0:
        return _delimiter_at(data, end, dialect)
    if not dialect.double_quote and end - pos > 1 and _delimiter_at(data, end, dialect):
        return True
    for run in re.finditer(re.escape(quote) + b"+", data[end:]):
        begin, after = end + run.start(), end + run.end()
        escaped = _escaped(data[:begin][-_ESCAPES_BEFORE_QUOTE:], dialect)
        count = after - begin - escaped
        if count == 0 or (dialect.double_quote and count % 2 == 0):
            continue
        if _delimiter_at(data, after, dialect):
            return True
        if not escaped and _delimiter_before(data, begin, dialect):
            return False
    return False


def _delimiter_at(data: bytes, pos: int, dialect: Dialect) -> bool:
    return pos == len(data) or data.startswith(dialect.sep, pos) or bool(_line_end_at(data, pos, dialect))


def _delimiter_before(data: bytes, pos: int, dialect: Dialect) -> bool:
    spaces = len(data[:pos]) - len(data[:pos].rstrip(b" ")) if dialect.skip_initial_space else 0
    before = data[: pos - min(spaces, _SPACES_BEFORE_QUOTE)]
    ends = (b"\r", b"\n") if dialect.lineterminator is None else (dialect.lineterminator,)
    found = next((end for end in (dialect.sep, *ends) if before.endswith(end)), None)
    return not before or (found is not None and not _escaped(before[: -len(found)][-_ESCAPES_BEFORE_QUOTE:], dialect))


def _escaped(before: bytes, dialect: Dialect) -> bool:
    return dialect.escape_char is not None and (len(before) - len(before.rstrip(dialect.escape_char))) % 2 == 1


def _lenient_quoted(field: bytes, dialect: Dialect) -> bool:
    """Return whether a field that begins with a quote is enclosed in quotes."""
    quote = dialect.quote_char or b""
    if not dialect.double_quote:
        return len(field) > 1 and field.endswith(quote) and not _escaped(field[:-1], dialect)
    inner = field.lstrip(quote)
    if not inner:
        return len(field) % 2 == 0
    trailing = len(field) - len(field.rstrip(quote))
    trailing -= trailing > 0 and _escaped(field[: len(field) - trailing], dialect)
    return (len(field) - len(inner)) % 2 == 1 and trailing % 2 == 1


def _common_prefix(a: bytes, b: bytes) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _skip_spaces(data: bytes, start: int, end: int, dialect: Dialect) -> int:
    while dialect.skip_initial_space and start < end and data[start] == _SPACE:
        start += 1
    return start


_SEQUENCES = {
    b"0": b"\x00", b"b": b"\x08", b"t": b"\x09", b"n": b"\x0a", b"v": b"\x0b", b"f": b"\x0c", b"r": b"\x0d", b"Z": b"\x1a",
}  # fmt: skip


def field_text(data: bytes, start: int, end: int, dialect: Dialect) -> tuple[bytes, bool]:
    """Return the content of the raw field ``data[start:end]``, and whether it is quoted.

    A quoted field loses its opening quote and the first closing one, and doubled quotes between them count once. Text after the
    closing quote, which is malformed, is kept unchanged. Escapes are removed everywhere; an escape at the end is text. The byte
    after one may be decoded.

    >>> field_text(b'"a""b"', 0, 6, Dialect())
    (b'a"b', True)
    """
    pos = _skip_spaces(data, start, end, dialect)
    end = pos + len(data[pos:end].rstrip(b" ")) if dialect.strip else end
    quoted = inside = dialect.quote_char is not None and data[pos:end].startswith(dialect.quote_char)
    if dialect.lenient_quotes and quoted:
        quoted = inside = _lenient_quoted(data[pos:end], dialect)
        end -= quoted
    pos += quoted
    text = bytearray()
    while pos < end:
        byte, following = data[pos : pos + 1], data[pos + 1 : min(pos + 2, end)]
        pos += 1
        if byte == dialect.escape_char and following:
            text += _SEQUENCES.get(following, following) if dialect.escape_sequences else following
            pos += 1
        elif inside and byte == dialect.quote_char and dialect.lenient_quotes:
            text += byte
            pos += dialect.double_quote and following == dialect.quote_char
        elif inside and byte == dialect.quote_char:
            inside = dialect.double_quote and following == dialect.quote_char
            if inside:
                text += byte
                pos += 1
        else:
            text += byte
    return bytes(text), quoted


def split_by_automaton(data: bytes, automaton: Automaton) -> OracleStructure:
    """Do the same as `split` from the emits of an automaton."""
    structure = OracleStructure()
    record = OracleRecord(0, 0, [])
    state = field_start = 0
    for pos, byte in enumerate(data):
        state, emit = automaton.step(state, byte)
        if not emit:
            continue
        if emit & Emit.OPEN:
            record, field_start = OracleRecord(pos, pos, []), pos
        if emit & Emit.STRAY:
            record.strays.append(pos)
        if emit & Emit.BLANK:
            structure.blank_lines += 1
        elif emit & (Emit.RECORD | Emit.FIELD):
            length = automaton.line_end_length if emit & Emit.RECORD else automaton.sep_length
            record.end = pos - (length - 1)
            record.fields.append((field_start, record.end))
            field_start = pos + 1
        if emit & Emit.RECORD and not emit & Emit.BLANK:
            record.comment = bool(emit & Emit.COMMENT)
            structure.records.append(record)
    if state not in automaton.idle:
        record.end = len(data)
        record.fields.append((field_start, record.end))
        record.comment = state in automaton.comment
        record.unclosed = state in automaton.quoted
        if state in automaton.unfinished:
            record.strays.append(len(data))
        structure.records.append(record)
    return structure


def reference_state_scan(data: bytes, automaton: Automaton, chunk: int) -> list[int]:
    """Return the state before each chunk of `chunk` bytes, and after the whole input, by composing the chunks' state maps.

    This is a parallel reader's scan done in order. It has ``1 + ceil(len(data) / chunk)`` items, ``[0]`` for an empty input.
    """
    prefix = automaton.identity
    states = [prefix[0]]
    for start in range(0, len(data), chunk):
        prefix = compose(prefix, automaton.state_map(data[start : start + chunk]))
        states.append(prefix[0])
    return states
