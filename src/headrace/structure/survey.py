"""What is to be known of a text's records before any is converted: how many there are, how wide, where some begin."""

from __future__ import annotations

from dataclasses import dataclass

from headrace import _native
from headrace.core.context import Context
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect
from headrace.structure.find import DEFAULT_TILE_BYTES

TO_THE_END = 2**64 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A part of a source: bytes ``begin`` to ``end``, exclusive, or to the source's end."""

    begin: int = 0
    end: int = TO_THE_END


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What a pass over the structure alone tells.

    Parameters
    ----------
    records
        Records of data: neither comments nor blank lines.
    comments, blank_lines
        Lines of those.
    most_fields
        Of any record.
    last
        First bytes of the last records, as many as were asked for, ascending.
    """

    records: int
    comments: int
    blank_lines: int
    most_fields: int
    last: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Plan:
    begin: int
    end: int
    tile_bytes: int
    threads: int
    isa: str
    last: int


def plan_of(span: Span, context: Context, tile_bytes: int, last: int = 0) -> _Plan:
    """Return what the native passes over a span's structure take."""
    return _Plan(span.begin, span.end, tile_bytes, context.thread_count, context.isa, last)


def survey(
    source: OpenSource,
    dialect: Dialect,
    span: Span = Span(),  # immutable
    *,
    context: Context | None = None,
    last: int = 0,
    tile_bytes: int = DEFAULT_TILE_BYTES,
) -> Survey:
    """Count the records of a span, in parallel; `last` asks where so many of its last records begin."""
    plan = plan_of(span, context or Context(), tile_bytes, last)
    found = _native.survey(source.native, _native.Dialect.make(dialect), plan)
    return Survey(**found | {"last": tuple(found["last"])})


def record_begin(source: OpenSource, dialect: Dialect, begin: int, index: int, context: Context | None = None) -> int:
    """First byte of the record with this index (from 0) of those behind `begin`; the source's size if there are fewer."""
    plan = plan_of(Span(begin=begin), context or Context(), DEFAULT_TILE_BYTES)
    place: int = _native.record_begin(source.native, _native.Dialect.make(dialect), plan, index)
    return place


def skip_lines(source: OpenSource, dialect: Dialect, begin: int, lines: int) -> tuple[int, int]:
    """Behind so many physical lines (quotes mean nothing here), and how many there were."""
    behind, found = _native.skip_lines(source.native, _native.Dialect.make(dialect), begin, lines)
    return behind, found
