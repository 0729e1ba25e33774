"""Finds all records and fields of a text on the CPU."""

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
    """Records and fields as byte positions in the source; the same for any tile size, thread count and instruction set.

    `record_starts`: first byte of each record, including comment lines.
    `field_counts`: number of fields of each record.
    `field_ends`: position after the last byte of each field, without separators and line ends. `field_counts` assigns them to
    records.
    `comments`: for each record, whether it is a comment line.
    `strays`: positions of malformed quotes, and of the first byte of text after a closing quote.
    `unclosed_quote`: the text ends inside quotes.
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

    Each tile is read from every state that it may begin in. A scan over the tiles' state maps gives the state that it does begin
    in, and the tile is then indexed (ParPaRaw, section 3.1). ``use_masks=False`` reads plain dialects by the automaton, too; the
    result is the same.
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
    """Return the number of malformed quotes in a short text, and the first byte of its last record (0 if it has only one).

    This is part of `find_structure`, without the lists of all records and fields.
    """
    found = _native.find_structure(source.native, _native.Dialect.make(dialect), "", 1, DEFAULT_TILE_BYTES)
    starts = _numbers(found["record_starts"])
    return len(_numbers(found["strays"])), starts[-1] if len(starts) > 1 else 0


def _numbers(found: Any) -> memoryview:
    return memoryview(found).cast("Q")
