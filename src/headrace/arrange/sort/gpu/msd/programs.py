"""Lists the programs of this folder's kernels, computed from tuning.py (docs/writing-a-kernel.md, section 6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from headrace.arrange.sort.gpu.common.key_type import KeyType, SortProgram, key_types, program_rows
from headrace.arrange.sort.gpu.lsd import tuning as lsd_tuning
from headrace.arrange.sort.gpu.lsd.programs import BENCH_TILE_MACROS
from headrace.arrange.sort.gpu.lsd.tuning import LsdTuning, TileTuning
from headrace.arrange.sort.gpu.msd.local_tuning import BinSortTuning
from headrace.arrange.sort.gpu.msd.tuning import TUNINGS, KeyMsdTuning, MsdTuning
from headrace.gpu.kernels.source import Programs


def msd_programs(row: KeyMsdTuning, lsd: LsdTuning) -> Iterator[SortProgram]:
    """Yield each program that launches for keys of one width use: its file and macros."""
    only = KeyType(row.key_bytes, b"")
    yield SortProgram("assign.cu", {"HR_BITS": row.pairs.bits})
    yield SortProgram("scatter_reserve.cu", row.keys_only.reserve_defines(only))
    for has_values in (False, True):  # the paper's own kernels are compiled at their first use
        yield from (
            program._replace(free_macro="HR_VALUES") for program in _local_programs(row.paper, only, has_values=has_values)
        )
    yield from _local_programs(replace(row.paper, local=row.paper.local[-1:]), only, has_values=False)
    yield SortProgram("bucket_count.cu", row.paper.count_defines(only))
    yield SortProgram("bucket_count.cu", row.keys_only.count_defines(only))
    yield from _local_programs(row.keys_only, only, has_values=False)
    for few in row.few_keys:
        yield SortProgram("assign.cu", {"HR_BITS": few.sizes.bits})
        yield SortProgram("scatter_reserve.cu", few.sizes.reserve_defines(only))
        yield from _local_programs(few.sizes, only, has_values=False)
    many = _chosen(row.select_keys(max(row.min_keys, row.many_from)))
    yield from (program._replace(free_macro="HR_VALUES") for program in _local_programs(many, only, has_values=False))
    for keys in key_types(row.key_bytes, has_values=True):
        yield SortProgram("bucket_count.cu", row.pairs.count_defines(keys))
        for tuning in (row.pairs, *(few.sizes for few in row.few_pairs)):
            yield from _local_programs(tuning, keys, has_values=True)
        many = _chosen(row.select_pairs((1, 1), max(row.min_keys, row.many_from), lsd))
        yield from (program._replace(free_macro="HR_VALUES") for program in _local_programs(many, keys, has_values=True))
        for bits, tile in _pair_tiles(row, lsd):
            if bits == lsd.bits or not keys.equals:
                yield SortProgram("scatter_stable.cu", tile.defines(keys, bits, is_large=False), tile.free_macro(keys))


def _pair_tiles(row: KeyMsdTuning, lsd: LsdTuning) -> Iterator[tuple[int, TileTuning]]:
    """Yield the bits of a digit and the tile of each stable scatter."""
    for widths in ((1, 1), (row.key_bytes,)):
        yield row.pairs.bits, _chosen(row.select_pairs(widths, 1 << 31, lsd)).scatter
    for few in row.few_pairs:
        for count in (few.min_keys, few.below - 1):
            chosen = _chosen(row.select_pairs((row.key_bytes,), count, lsd))
            yield chosen.bits, chosen.scatter


def _chosen(tuning: MsdTuning | None) -> MsdTuning:
    assert tuning is not None
    return tuning


def _local_programs(tuning: MsdTuning, keys: KeyType, *, has_values: bool) -> Iterator[SortProgram]:
    for local in (*tuning.local, *filter(None, (tuning.leftover,))):
        file = "bin_sort.cu" if isinstance(local, BinSortTuning) else "block_radix_sort.cu"
        yield SortProgram(file, local.defines(keys, has_values=has_values))


PROGRAMS: Programs = (
    *program_rows(
        program
        for rows, lsd in zip(TUNINGS, (*lsd_tuning.TUNINGS, lsd_tuning.LARGE_BLOCK_TUNING), strict=True)
        for row in rows
        for program in msd_programs(row, lsd)
    ),
    ("scatter_stable.cu", BENCH_TILE_MACROS),
)
