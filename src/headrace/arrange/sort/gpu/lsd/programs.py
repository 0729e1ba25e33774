"""Lists the programs of this folder's kernels, computed from tuning.py (docs/writing-a-kernel.md, section 6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from headrace.arrange.sort.gpu.common.key_type import KeyType, SortProgram, key_types, program_rows
from headrace.arrange.sort.gpu.lsd.tuning import SPLITTER_KEY_BYTES, TUNINGS, LsdTuning
from headrace.gpu.kernels.source import ANY, Programs

BENCH_TILE_MACROS: Mapping[str, list[Any]] = {
    "HR_KEY": ["u32", "u64"],
    "HR_EQUALS": [0],
    "HR_BITS": [8],
    "HR_VALUES": [0, 1, 4, 8],
    "HR_THREADS": [ANY],
    "HR_ITEMS": [ANY],
    "HR_BLOCKS": [ANY],
    "HR_TOGETHER": [0, 1],
    "HR_TO": ["u32"],
}  # macros of the tile sizes that bench.sort.tune_tiles measures, compiled on demand


def lsd_programs(tuning: LsdTuning) -> Iterator[SortProgram]:
    """Yield each program that launches with `tuning` use: its file and macros."""
    yield SortProgram("copy_or_reverse.cu", {})
    for row in tuning.tiles:
        for keys in key_types(row.key_bytes, has_values=True):
            yield SortProgram("digit_histogram.cu", tuning.histogram.defines(keys, tuning.bits), keys.free_macro)
        if row.key_bytes >= 4 and tuning.prefix_histogram is not None:
            for keys in key_types(row.key_bytes, has_values=False):
                yield SortProgram("prefix_histogram.cu", tuning.prefix_histogram.defines(keys, tuning.bits))
        if row.key_bytes == SPLITTER_KEY_BYTES:
            yield SortProgram("splitters.cu", tuning.splitters.defines(KeyType(row.key_bytes, b""), tuning.bits))
    for width, tile, may_be_large in tuning.all_tiles():
        for keys in key_types(width, has_values=tile.value_bytes != 0):
            defines = tile.defines(keys, tuning.bits, is_large=False)
            yield SortProgram("onesweep_pass.cu", defines, tile.free_macro(keys))
            if may_be_large:  # few devices have memory for 2**32 keys
                yield SortProgram("onesweep_pass.cu", defines, "HR_TO")


PROGRAMS: Programs = (
    *program_rows(program for tuning in TUNINGS for program in lsd_programs(tuning)),
    ("onesweep_pass.cu", BENCH_TILE_MACROS),
)
