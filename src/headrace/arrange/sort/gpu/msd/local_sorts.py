"""Launches the kernels whose blocks each sort whole buckets: bin_sort.cu and block_radix_sort.cu."""

from __future__ import annotations

from functools import lru_cache

from headrace.arrange.sort.gpu.common.key_type import KeyType
from headrace.arrange.sort.gpu.common.launch import ARRAYS, SortArrays
from headrace.arrange.sort.gpu.msd.local_tuning import BlockSortTuning, LocalSortTuning
from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.kernel import LaunchMode
from headrace.gpu.kernels.launcher import Entry, Launcher, Shape

SOURCE, TARGET, BETWEEN = 0, 1, 2  # values of a ``BufferRole`` of sort_task.hpp
LEAF_LIST = layout("List").packer()  # a ``List`` of buckets.hpp: leaves, their number, first, stride; the only leaf
_LEAF = layout("Leaf").packer()


def local_sort_shape(tuning: LocalSortTuning, keys: KeyType, blocks: int, *, has_values: bool) -> Shape:
    """Return the launch configuration of a local sort for a grid of `blocks` blocks."""
    shared = tuning.shared_bytes(keys.width, has_values=has_values)
    return Shape(tuning.defines(keys, has_values=has_values), blocks, tuning.threads, shared)


def sort_in_one_block(
    launcher: Launcher, keys: KeyType, tuning: BlockSortTuning, arrays: SortArrays, count: int, *, writes_keys: bool
) -> None:
    """Sort up to `tuning.keys` keys by one block. It needs no memory, and a target may be its source."""
    only_bucket = LEAF_LIST.pack(0, 0, 0, 0, _LEAF.pack(0, count, 8 * keys.width, SOURCE))
    args = (only_bucket, keys.rule, arrays.packed, int(writes_keys))
    launcher.launch(
        block_radix_sort_entry(len(keys.rule)), local_sort_shape(tuning, keys, 1, has_values=bool(arrays.columns)), args
    )


@lru_cache(8)
def bin_sort_entry(rule: int) -> Entry:
    """Return the entry of bin_sort.cu. `rule`: bytes of a ``KeyRule``."""
    return Entry("arrange/sort/gpu/msd/bin_sort.cu", "bin_sort", f"{LEAF_LIST.size}s{rule}s{ARRAYS}IPP", mode=LaunchMode.EARLY)


@lru_cache(8)
def block_radix_sort_entry(rule: int) -> Entry:
    """Return the entry of block_radix_sort.cu. `rule`: bytes of a ``KeyRule``."""
    return Entry(
        "arrange/sort/gpu/msd/block_radix_sort.cu",
        "block_radix_sort",
        f"{LEAF_LIST.size}s{rule}s{ARRAYS}I",
        mode=LaunchMode.EARLY,
    )
