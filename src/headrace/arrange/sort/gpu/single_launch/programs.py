"""Lists the programs of this folder's kernels, computed from tuning.py (docs/writing-a-kernel.md, section 6)."""

from __future__ import annotations

from collections.abc import Iterator

from headrace.arrange.sort.gpu.common.key_type import KeyType, SortProgram, key_types, program_rows
from headrace.arrange.sort.gpu.single_launch.tuning import SingleLaunchTuning
from headrace.gpu.kernels.source import Programs


def single_launch_programs(tuning: SingleLaunchTuning) -> Iterator[SortProgram]:
    """Yield each program that launches with `tuning` use: its file and macros."""
    for row in tuning.rows:
        only = KeyType(row.key_bytes, b"")
        yield from (SortProgram("rank_sort.cu", rank.defines(only), only.free_macro) for rank in row.ranks)
        for keys in key_types(row.key_bytes, has_values=True):
            for one in row.with_values:
                yield SortProgram("cooperative_sort.cu", one.defines(keys, has_values=True), keys.free_macro)
        for keys in key_types(row.key_bytes, has_values=False):
            for one in row.keys_only:
                yield SortProgram("cooperative_sort.cu", one.defines(keys, has_values=False), keys.free_macro)


PROGRAMS: Programs = program_rows(single_launch_programs(SingleLaunchTuning()))
