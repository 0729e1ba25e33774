"""Lists the programs of this folder's kernels, computed from tuning tables (docs/writing-a-kernel.md, section 6)."""

from __future__ import annotations

from collections.abc import Iterator

from headrace.arrange.sort.gpu.common.key_type import SortProgram, key_types, program_rows
from headrace.arrange.sort.gpu.heavy_hitters.tuning import HeavyHitterTuning
from headrace.arrange.sort.gpu.lsd.tuning import TUNINGS, LsdTuning
from headrace.gpu.kernels.source import Programs


def heavy_hitter_programs(tuning: HeavyHitterTuning, lsd: LsdTuning) -> Iterator[SortProgram]:
    """Yield each program that launches with these sizes use: its file and macros. Keys have at least 4 bytes."""
    for row in lsd.tiles:
        for keys in key_types(row.key_bytes, has_values=True) if row.key_bytes >= 4 else ():
            # Few sorts have half a gigabyte of keys with values.
            free = "HR_EQUALS" if keys.equals else ""
            yield SortProgram("extract_keys.cu", tuning.defines(keys, lsd.bits), free)
            for tile in row.with_values:
                yield SortProgram("extract_stable.cu", tile.defines(keys, tuning.class_bits, is_large=False), free or "HR_VALUES")


PROGRAMS: Programs = program_rows(program for lsd in TUNINGS for program in heavy_hitter_programs(HeavyHitterTuning(), lsd))
