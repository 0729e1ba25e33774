"""Runs the CPU's structure search and gives the oracle's answer for a text."""

from __future__ import annotations

from headrace import Context, Dialect
from headrace.sources.open import open_source
from headrace.structure.find import Structure, find_structure
from headrace.testing.oracle import split

BLOCK = 64


def found(data: bytes, dialect: Dialect, *, isa: str = "", threads: int = 1, tile: int = 64, masks: bool = True) -> Structure:
    with open_source(data) as source:
        return find_structure(source, dialect, context=Context(threads=threads, isa=isa), tile_bytes=tile, use_masks=masks)


def expected(data: bytes, dialect: Dialect) -> Structure:
    oracle = split(data, dialect)
    return Structure(
        record_starts=[record.start for record in oracle.records],
        field_counts=[len(record.fields) for record in oracle.records],
        field_ends=[end for record in oracle.records for _, end in record.fields],
        comments=[record.comment for record in oracle.records],
        strays=sorted(at for record in oracle.records for at in record.strays),
        blank_lines=oracle.blank_lines,
        unclosed_quote=any(record.unclosed for record in oracle.records),
    )
