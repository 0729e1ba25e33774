"""From an open source to typed columns: the contract of the native loader."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache

from headrace import _native
from headrace.columns.column import Column
from headrace.columns.rows import RowRules
from headrace.columns.schema import FirstRecord
from headrace.columns.types import DataType, parse_type
from headrace.core.context import Context
from headrace.core.errors import HeadraceError, MemoryLimitError, ParseError, SourceError
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect
from headrace.structure.find import DEFAULT_TILE_BYTES

MOST_TILE_BYTES = 1 << 30
"""No tile may be larger: places in a tile are 32-bit numbers."""
_LARGE_TILE_BYTES = 4 << 20
_ROWS_PER_TILE = 256
"""So many rows at least, so that a column's loop is worth its start, as long as the tile stays in the cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueOptions:
    """How the texts of fields become values, and what becomes of those that do not."""

    null_texts: tuple[bytes, ...] = (b"",)
    true_words: tuple[bytes, ...] = (b"true", b"True", b"TRUE")
    false_words: tuple[bytes, ...] = (b"false", b"False", b"FALSE")
    quoted_null: bool = False
    replace_invalid: bool = False
    on_error: str = "raise"
    shrink: bool = False


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """All that the native loader is told; `columns` are (name, type or None to infer, whether it is wanted).

    Bytes `begin` to `end` of the source are read; records that begin before `data_begin` are no data.
    """

    columns: list[tuple[str, DataType | None, bool]]
    begin: int
    end: int
    data_begin: int
    rows: RowRules
    values: ValueOptions
    threads: int
    tile_bytes: int
    memory_limit: int
    isa: str
    row_index: int | None = None
    exact_memory: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """The field that settled an inferred type: no field before it needed so wide a type.

    Parameters
    ----------
    record
        Number of the data record, from 1.
    byte
        Where the field begins in the source.
    text
        Its first bytes.
    """

    record: int
    byte: int
    text: bytes


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a load gives; `counts` has records, rows, rejected, filled, leading, blank, comment and passes; `replaced` the strings
    of each column that were mended with U+FFFD.

    `columns` and `evidence` are as in the plan, None for columns that are not wanted; `row_index` holds the index of each row's
    record.
    """

    columns: tuple[Column | None, ...]
    evidence: tuple[Evidence | None, ...]
    rejects: dict[str, Column]
    counts: dict[str, int]
    row_index: Column | None
    replaced: tuple[int, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)


def first_records(source: OpenSource, dialect: Dialect, begin: int, context: Context, count: int) -> list[FirstRecord]:
    """The first records behind `begin`, `count` at most, that are neither blank nor comments."""
    with _native_errors():
        found = _native.peek(source.native, _native.Dialect.make(dialect), context.isa, begin, count)
    return [FirstRecord(record[0], tuple(record[1]), *record[2:]) for record in found]


def check_header(source: OpenSource, first: FirstRecord) -> None:
    """Raise for a header whose quotes are malformed, whatever `on_error` is: without names there is no table.

    Raises
    ------
    ParseError
        With record 0.
    """
    if first.malformed is None:
        return
    raise ParseError(
        record=0,
        line=_native.line_numbers(source.native, [first.begin], 1)[0],
        byte=first.malformed,
        column=None,
        kind="unclosed_quote" if first.malformed == first.begin else "quote",
        expected=None,
        text=first.text.decode("utf-8", "backslashreplace"),
    )


def tile_bytes_for(size: int, first: FirstRecord | None) -> int:
    """Bytes of one tile, for records about as long as the first."""
    if first is None or size == 0:
        return DEFAULT_TILE_BYTES
    record = sum(len(text) + 1 for text in first.fields)
    return min(_LARGE_TILE_BYTES, max(DEFAULT_TILE_BYTES, _ROWS_PER_TILE * record))


def load(source: OpenSource, dialect: Dialect, plan: LoadPlan) -> Loaded:
    """Read all records into columns.

    Working memory is a few tiles a thread beside the result; the result is charged to ``plan.memory_limit``.

    Raises
    ------
    ParseError
        With ``on_error="raise"``: the first record (then column) that does not fit.
    MemoryLimitError
        The result outgrew the limit, or there is no more memory.
    SourceError
        The source could not be read to its end as it was when it was opened.
    """
    with _native_errors():
        made = _native.load(source.native, _native.Dialect.make(dialect), plan)
    counts = made["counts"]
    faults = made["fault_count"]
    rejects = {name: _column(parts, faults) for name, parts in made["rejects"]}
    if made["raised"]:
        raise _parse_error(rejects)
    rows = counts["rows"]
    parts = zip(plan.columns, made["columns"], strict=True)
    columns = tuple(_column(made_column, rows) if wanted else None for (_, _, wanted), made_column in parts)
    row_index = _column(made["row_index"], rows) if plan.row_index is not None else None
    evidence = tuple(None if found is None else Evidence(*found) for found in made["evidence"])
    find, convert, finish = made["seconds"]
    return Loaded(
        columns=columns,
        evidence=evidence,
        rejects=rejects,
        counts=counts,
        row_index=row_index,
        replaced=tuple(made["replaced"]),
        seconds={"find": find, "convert": convert, "finish": finish},
    )


def _column(parts: tuple[str, int, _native.Buffer, _native.Buffer | None, _native.Buffer | None], length: int) -> Column:
    type_name, null_count, values, validity, offsets = parts
    return Column(
        type=_type_named(type_name), length=length, null_count=null_count, values=values, validity=validity, offsets=offsets
    )


_type_named = cache(parse_type)
"""There are few types and may be a million columns."""


def _parse_error(rejects: dict[str, Column]) -> ParseError:
    first = {name: column[0] for name, column in rejects.items()}
    text = first["field"] if first["field"] is not None else first["text"]
    return ParseError(
        record=first["record"],
        line=first["line"],
        byte=first["byte"],
        column=first["column"],
        kind=first["kind"],
        expected=first["expected"],
        text=text,
    )


@contextmanager
def _native_errors() -> Iterator[None]:
    """The native part's errors as the package's own."""
    try:
        yield
    except _native.SourceFailure as error:
        raise SourceError(str(error)) from None
    except _native.RecordTooLong as error:
        raise HeadraceError(str(error)) from None
    except MemoryError as error:
        raise MemoryLimitError(str(error) or "no more memory for the result; read in parts or set fewer threads") from None
