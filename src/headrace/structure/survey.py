"""Counts the records of a text before any is converted, finds the widest one, and finds where some of them begin."""

from __future__ import annotations

from dataclasses import dataclass

from headrace import _native
from headrace.core.context import Context
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect
from headrace.structure.find import DEFAULT_TILE_BYTES

TO_THE_END = 2**64 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ByteSpan:
    """Bytes `begin` up to `end` of a source; `end` may lie after the source's end."""

    begin: int = 0
    end: int = TO_THE_END


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """Result of a pass over the structure alone.

    `records`: data records: neither comments nor blank lines.
    `comments`, `blank_lines`: comment lines, and skipped blank lines.
    `max_fields`: fields of the widest record.
    `last`: first bytes of the last records, ascending; as many as the caller asked for, if there are as many.
    """

    records: int
    comments: int
    blank_lines: int
    max_fields: int
    last: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Plan:
    begin: int
    end: int
    tile_bytes: int
    threads: int
    isa: str
    last: int


def plan_of(span: ByteSpan, context: Context, tile_bytes: int, last: int = 0) -> _Plan:
    """Return the parameters of a native pass over a span's structure."""
    return _Plan(span.begin, span.end, tile_bytes, context.thread_count, context.isa, last)


def survey(
    source: OpenSource,
    dialect: Dialect,
    span: ByteSpan = ByteSpan(),  # immutable
    *,
    context: Context | None = None,
    last: int = 0,
) -> Survey:
    """Count the records of a span in parallel. `last`: number of records at its end whose first bytes are wanted."""
    plan = plan_of(span, context or Context(), DEFAULT_TILE_BYTES, last)
    found = _native.survey(source.native, _native.Dialect.make(dialect), plan)
    return Survey(**found | {"last": tuple(found["last"])})


def record_begin(source: OpenSource, dialect: Dialect, begin: int, index: int, context: Context | None = None) -> int:
    """Return the first byte of record `index` (from 0) after `begin`; the source's size if there are fewer records."""
    plan = plan_of(ByteSpan(begin=begin), context or Context(), DEFAULT_TILE_BYTES)
    place: int = _native.record_begin(source.native, _native.Dialect.make(dialect), plan, index)
    return place


def skip_lines(source: OpenSource, dialect: Dialect, begin: int, lines: int) -> tuple[int, int]:
    """Return the position after `lines` physical lines, whether in quotes or not, and the number of lines found."""
    position, lines_found = _native.skip_lines(source.native, _native.Dialect.make(dialect), begin, lines)
    return position, lines_found
