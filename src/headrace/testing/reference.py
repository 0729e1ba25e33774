"""Reads a whole text slowly and simply; tests compare the fast readers of all devices with it.

Structure comes from `oracle.split`, text from `oracle.field_text`, values from `values`. Nothing here runs native code.

>>> read(b"a,b\\n1,x\\n2,y\\n").columns
[[1, 2], ['x', 'y']]
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from headrace.columns.types import DataType, parse_type
from headrace.structure.dialect import Dialect
from headrace.testing.forms import Forms
from headrace.testing.headers import COMPARED_BYTES, COMPARED_RECORDS, holds_names
from headrace.testing.oracle import OracleRecord, field_text, split
from headrace.testing.values import Kind, Misfit, Value, Words, classify, join, parse, smallest_type, type_of_kind

_UTF8_MARK = b"\xef\xbb\xbf"
_SHOWN = 100
_FAMILIES = {
    "bool": {Kind.BOOL},
    "number": {Kind.NATURAL, Kind.NEGATIVE, Kind.UINT64, Kind.FLOAT, Kind.HEX, Kind.HEX_UINT64},
    "date": {Kind.DATE, Kind.TIMESTAMP_US, Kind.TIMESTAMP_NS, Kind.TIMESTAMP_US_UTC, Kind.TIMESTAMP_NS_UTC},
    "time": {Kind.TIME_US, Kind.TIME_NS},
    "duration": {Kind.DURATION_US, Kind.DURATION_NS},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceOptions:
    """Options of `read_csv` that the reference supports. `types`, `forms_of` and `nulls_of` are by column position: given types
    (others are inferred), formats that differ from `forms`, and null texts that differ from `words`.
    """

    dialect: Dialect = field(default_factory=Dialect)
    header: bool | str = "infer"
    types: Mapping[int, str] = field(default_factory=dict)
    words: Words = field(default_factory=Words)
    forms: Forms = field(default_factory=Forms)
    forms_of: Mapping[int, Forms] = field(default_factory=dict)
    nulls_of: Mapping[int, tuple[bytes, ...]] = field(default_factory=dict)
    shrink: bool = False
    on_error: str = "raise"


@dataclass(frozen=True, slots=True)
class ReferenceTable:
    """Expected result of a read."""

    names: list[str]
    types: list[DataType]
    columns: list[list[Value]]
    """The columns. Values are Python's: numbers, bool, str, days of dates and units of timestamps as int; None for null."""
    evidence: list[tuple[int, int, bytes] | None]  # (record, byte, text) of the field that decided each inferred type
    rejects: list[dict[str, object]]  # rows of the table of rejects
    counts: dict[str, int]  # `records`, `rows`, `rejected`, `header`, `blank`, `comment`


class NoRecordError(Exception):
    """The text has no record."""


class MalformedHeaderError(Exception):
    """The header record is malformed or not UTF-8."""


@dataclass(frozen=True, slots=True)
class _Field:
    begin: int
    end: int
    raw: bytes
    text: bytes
    quoted: bool


class _Cell(NamedTuple):
    """A field of a column."""

    column: str
    type: DataType
    field: _Field


@dataclass(slots=True)
class _Row:
    """A data record: its number from 1, and its fields or its fault (kind and byte)."""

    number: int
    record: OracleRecord
    fields: list[_Field]
    fault: tuple[str, int] | None = None


def read(data: bytes, options: ReferenceOptions | None = None) -> ReferenceTable:
    """Read a text as `read_csv` must.

    Raises
    ------
    NoRecordError
        There is none, comments and blank lines apart.
    MalformedHeaderError
        The first record is examined as a header and is malformed, or is a header that is not UTF-8.

    Notes
    -----
    With ``on_error="raise"`` the table holds what a reader raises the first row of ``rejects`` for.
    """
    return _Reader(data, options or ReferenceOptions()).read()


class _Reader:
    def __init__(self, data: bytes, options: ReferenceOptions) -> None:
        self.data = data
        self.options = options
        self.begin = len(_UTF8_MARK) if data.startswith(_UTF8_MARK) else 0
        self.rejects: list[dict[str, object]] = []
        # LF, CR LF and CR, inside quotes too: where each is complete.
        self.line_ends = [match.end() for match in re.finditer(rb"\r\n|\r|\n", data)]

    def read(self) -> ReferenceTable:
        structure = split(self.data[self.begin :], self.options.dialect)
        records = [record for record in structure.records if not record.comment]
        if not records:
            raise NoRecordError
        first = self._fields(records[0])
        header = self._is_header(records, first)
        if header and not all(_is_utf8(field.raw) for field in first):
            raise MalformedHeaderError
        names = _names(first) if header else [f"column_{i + 1}" for i in range(len(first))]
        rows = [self._row(number, record, len(first)) for number, record in enumerate(records[header:], 1)]
        whole = [row for row in rows if row.fault is None]
        given = self.options.types
        kinds = {i: self._kinds(i, whole) for i in range(len(names)) if i not in given}
        types = [parse_type(given[i]) if i in given else type_of_kind(_joined(kinds[i])) for i in range(len(names))]
        values = self._values(rows, names, types)
        retained = [row for row in whole if row.number in values]
        columns = [[values[row.number][i] for row in retained] for i in range(len(names))]
        evidence = [self._evidence(i, whole, kinds[i]) if i in kinds else None for i in range(len(names))]
        for i in kinds:
            if self.options.shrink:
                types[i], at = smallest_type(types[i], columns[i])
                evidence[i] = evidence[i] if at is None else self._shown(retained[at], i)
        counts = {
            "records": len(structure.records) + structure.blank_lines,
            "rows": len(retained),
            "rejected": len(rows) - len(retained),
            "header": int(header),
            "blank": structure.blank_lines,
            "comment": len(structure.records) - len(records),
        }
        return ReferenceTable(names, types, columns, evidence, self.rejects, counts)

    def _fields(self, record: OracleRecord) -> list[_Field]:
        result = []
        for start, end in record.fields:
            begin, stop = start + self.begin, end + self.begin
            text, quoted = field_text(self.data, begin, stop, self.options.dialect)
            result.append(_Field(begin, stop, self.data[begin:stop], text, quoted))
        return result

    def _is_header(self, records: list[OracleRecord], fields: list[_Field]) -> bool:
        if self.options.header is False:
            return False
        if records[0].strays or records[0].unclosed:
            raise MalformedHeaderError
        limit = records[0].start + COMPARED_BYTES
        below = [[field.text for field in self._fields(one)] for one in records[1 : COMPARED_RECORDS + 1] if one.end <= limit]
        nulls = {b"", *self.options.words.null, *itertools.chain(*self.options.nulls_of.values())}
        first = [field.text for field in fields]
        return self.options.header is True or holds_names(first, below, self._family, tuple(nulls))

    def _family(self, text: bytes) -> str:
        """Values that a column can hold together."""
        several = [
            replace(forms, iso=True, dates_before_numbers=False)
            for forms in (self.options.forms, *self.options.forms_of.values())
        ]
        kinds = [classify(text, self.options.words, forms) for forms in several]
        kind = next((kind for kind in kinds if kind is not Kind.TEXT), Kind.TEXT)
        return next((name for name, members in _FAMILIES.items() if kind in members), "text")

    def _row(self, number: int, record: OracleRecord, columns: int) -> _Row:
        """Return the first fault of a malformed record; it has only one."""
        fields = self._fields(record)
        row = _Row(number, record, fields)
        if record.unclosed:
            row.fault = "unclosed_quote", self.data.index(self.options.dialect.quote_char or b"", fields[-1].begin)
        elif record.strays:
            row.fault = "quote", min(record.strays) + self.begin
        elif len(fields) < columns:
            row.fault = "too_few_fields", record.end + self.begin
        elif len(fields) > columns:
            row.fault = "too_many_fields", fields[columns].begin
        return row

    def _kinds(self, column: int, rows: list[_Row]) -> list[Kind]:
        """Return the kind of each row's field. A time outside the range of the column's unit is text."""
        words, forms = self._words(column), self._forms(column)
        fields = [row.fields[column] for row in rows]
        kinds = [Kind.EMPTY if self._is_null(f, words) else classify(f.text, words, forms) for f in fields]
        joined = _joined(kinds)
        if type_of_kind(joined).name in ("timestamp", "duration"):
            reached = [
                kind is Kind.EMPTY or not isinstance(parse(f.text, type_of_kind(joined), words, forms), Misfit)
                for kind, f in zip(kinds, fields, strict=True)
            ]
            kinds = [kind if fits else Kind.TEXT for kind, fits in zip(kinds, reached, strict=True)]
        return kinds

    def _is_null(self, field: _Field, words: Words, *, in_text: bool = False) -> bool:
        """Compare null texts that contain the escape with the field as it is written, and others with its text."""
        raw = field.raw.lstrip(b" ") if self.options.dialect.trims_fields else field.raw
        is_written = words.is_written_null(raw[1:-1] if field.quoted else raw, field.quoted)
        return is_written or words.is_null(field.text, field.quoted, in_text=in_text)

    def _words(self, column: int) -> Words:
        own = self.options.nulls_of.get(column)
        return self.options.words if own is None else replace(self.options.words, null=own)

    def _forms(self, column: int) -> Forms:
        return self.options.forms_of.get(column, self.options.forms)

    def _evidence(self, column: int, rows: list[_Row], kinds: list[Kind]) -> tuple[int, int, bytes] | None:
        final = type_of_kind(_joined(kinds))
        # A negative number counts as a natural one, unless the column has its type because of it.
        without_signs: list[Kind] = [Kind.NATURAL if kind is Kind.NEGATIVE else kind for kind in kinds]
        kinds = without_signs if type_of_kind(_joined(without_signs)) == final else kinds
        joins = itertools.accumulate(kinds, join)
        typed = (row for row, kind in zip(rows, joins, strict=True) if kind is not Kind.EMPTY and type_of_kind(kind) == final)
        row = next(typed, None)
        return None if row is None else self._shown(row, column)

    def _shown(self, row: _Row, column: int) -> tuple[int, int, bytes]:
        return row.number, row.fields[column].begin, row.fields[column].raw[:_SHOWN]

    def _values(self, rows: list[_Row], names: list[str], types: list[DataType]) -> dict[int, list[Value]]:
        """Return the values of records that are rows, by record number; rejected records and nulled fields go to the rejects."""
        result = {}
        for row in rows:
            if row.fault is not None:
                self._reject(row, *row.fault)
                continue
            values = [self._value(field, types[i], i) for i, field in enumerate(row.fields)]
            for name, type_, raw, value in zip(names, types, row.fields, values, strict=True):
                if isinstance(value, Misfit):
                    at = raw.begin if value is not Misfit.ENCODING else _first_bad_byte(raw)
                    self._reject(row, value.value, at, of=_Cell(name, type_, raw))
            if self.options.on_error == "null" or not any(isinstance(value, Misfit) for value in values):
                result[row.number] = [None if isinstance(value, Misfit) else value for value in values]
        return result

    def _value(self, field: _Field, type_: DataType, column: int) -> Value | Misfit:
        """Check the bytes of a text as they are in the file, before anything else."""
        words, forms = self._words(column), self._forms(column)
        if type_.is_string and not _is_utf8(field.raw):
            return Misfit.ENCODING
        is_null = self._is_null(field, words, in_text=type_.is_string or type_.is_binary)
        return None if is_null else parse(field.text, type_, words, forms)

    def _reject(self, row: _Row, kind: str, at: int, of: _Cell | None = None) -> None:
        """Add a fault. `of`: the field at fault, if it is one."""
        begin, end = row.record.start + self.begin, row.record.end + self.begin
        field, expected = (None, None) if of is None else (_printable(of.field.raw), str(of.type))
        if kind == "unclosed_quote":
            lines = self.data[at:end].splitlines()
            first = 1 + bisect_right(self.line_ends, at)
            field = _printable(lines[0][:80])
            place = f"line {first}" if len(lines) == 1 else f"the {len(lines)} lines from line {first} on"
            expected = f"a closing quote in {place}"
        self.rejects.append({
            "record": row.number,
            "kept": of is not None and self.options.on_error == "null",
            "line": 1 + bisect_right(self.line_ends, begin),
            "line_byte": begin,
            "byte": at,
            "column": of and of.column,
            "kind": kind,
            "expected": expected,
            "field": field,
            "text": _printable(self.data[begin:end]),
        })  # fmt: skip


def _joined(kinds: list[Kind]) -> Kind:
    joined = Kind.EMPTY
    for kind in kinds:
        joined = join(joined, kind)
    return joined


def _names(fields: list[_Field]) -> list[str]:
    """Return the header's names; an empty or repeated name gets its position or a number."""
    found = [field.text.decode("utf-8", "backslashreplace") for field in fields]
    names: list[str] = []
    for position, name in enumerate(found, 1):
        base = name or f"column_{position}"
        free = (n for n in _numbered(base) if n not in names and (n == name or n not in found))
        names.append(next(free))
    return names


def _numbered(base: str) -> Iterator[str]:
    yield base
    yield from (f"{base}_{i}" for i in itertools.count(1))


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _first_bad_byte(field: _Field) -> int:
    try:
        field.raw.decode()
    except UnicodeDecodeError as error:
        return field.begin + error.start
    raise AssertionError("the field is UTF-8")


def _printable(raw: bytes) -> str:
    r"""Return the text with bytes that are not UTF-8 as ``\xNN``."""
    return re.sub("[\udc80-\udcff]", lambda m: rf"\x{ord(m[0]) - 0xDC00:02X}", raw.decode("utf-8", "surrogateescape"))
