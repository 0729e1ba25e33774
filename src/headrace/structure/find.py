"""Where the records and fields of a text are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headrace import _native
from headrace.core.context import Context
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect

DEFAULT_TILE_BYTES = 256 << 10


@dataclass(frozen=True, slots=True)
class Structure:
    """Positions in bytes from the start of the text; the same for any tile size, thread count and instruction set.

    Parameters
    ----------
    record_starts
        First byte of each record, comment lines included.
    field_counts
        Fields of each record.
    field_ends
        Behind the last byte of each field, separators and line ends excluded; ``field_counts`` tells whose they are.
    comments
        Which records are comment lines.
    strays
        Quotes where none may stand, and the first byte after a closing quote where something follows it.
    blank_lines
        Lines that were left out.
    unclosed_quote
        The text ends inside quotes.
    """

    record_starts: list[int]
    field_counts: list[int]
    field_ends: list[int]
    comments: list[bool]
    strays: list[int]
    blank_lines: int
    unclosed_quote: bool


def find_structure(
    source: OpenSource,
    dialect: Dialect,
    *,
    context: Context | None = None,
    tile_bytes: int = DEFAULT_TILE_BYTES,
    use_masks: bool = True,
) -> Structure:
    """Find all records and fields.

    Every tile is run from every state that it may begin in; a scan over these summaries tells which it was, and the tile is then
    indexed (ParPaRaw, section 3.1). ``use_masks=False`` makes a plain dialect take the automaton's way too; the answer is
    the same.
    """
    context = context or Context()
    native = _native.Dialect.make(dialect, use_masks)
    found = _native.find_structure(source.native, native, context.isa, context.thread_count, tile_bytes)
    return Structure(
        record_starts=_numbers(found["record_starts"]).tolist(),
        field_counts=_numbers(found["field_counts"]).tolist(),
        field_ends=_numbers(found["field_ends"]).tolist(),
        comments=found["comments"],
        strays=_numbers(found["strays"]).tolist(),
        blank_lines=found["blank_lines"],
        unclosed_quote=found["unclosed_quote"],
    )


def find_last_record(source: OpenSource, dialect: Dialect) -> tuple[int, int]:
    """How many quotes of a short text are malformed, and where its last record begins; 0 if it has but one.

    As `Structure` has it, without the lists of all records and fields.
    """
    found = _native.find_structure(source.native, _native.Dialect.make(dialect), "", 1, DEFAULT_TILE_BYTES)
    starts = _numbers(found["record_starts"])
    return len(_numbers(found["strays"])), starts[-1] if len(starts) > 1 else 0


def _numbers(found: Any) -> memoryview:
    return memoryview(found).cast("Q")
