"""Sorts few keys in one launch: by ranks (rank_sort.cu), or digit by digit with grid barriers (cooperative_sort.cu)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from headrace.arrange.sort.gpu.common.key_type import KeyType
from headrace.arrange.sort.gpu.common.launch import ARRAYS, SortArrays, SortContext
from headrace.arrange.sort.gpu.single_launch.tuning import CooperativeTuning, RankSortTuning
from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.kernel import LaunchMode
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Shape

_MEMORY = layout("CooperativeMemory").packer()


def rank_sort(
    context: SortContext,
    keys: KeyType,
    tuning: RankSortTuning,
    arrays: SortArrays,
    *,
    writes_keys: bool,
    counters: Callable[[], DeviceBuffer],
) -> None:
    """Sort by blocks that each rank their share of the keys among all.

    It needs no memory unless it sorts in place: then `counters` gives 16 bytes that are zero before and after the launch.
    """
    in_place = any(column.in_place for column in arrays.all)
    args = (context.count, keys.rule, arrays.packed, int(writes_keys), counters() if in_place else None)
    shape = Shape(tuning.defines(keys), tuning.grid(context.capacity), tuning.threads)
    context.launcher.launch(_rank_entry(len(keys.rule), in_place), shape, args)


def cooperative_sort(
    context: SortContext,
    keys: KeyType,
    tuning: CooperativeTuning,
    arrays: SortArrays,
    *,
    writes_keys: bool,
    counters: Callable[[], DeviceBuffer],
) -> None:
    """Sort by blocks that wait for each other after each digit; a target may be its source.

    It takes twice `keys.width` bytes a key, 8 more if columns move with the keys, and 4 for each block and digit value.
    `counters` gives 16 bytes that are zero before and after the launch.
    """
    has_values, capacity, blocks = bool(arrays.columns), context.capacity, tuning.grid(context.capacity)
    sizes = blocks * (4 << tuning.bits), 2 * capacity * keys.width, 8 * capacity if has_values else 0
    buffers = [counters(), *(context.launcher.allocate(nbytes) for nbytes in sizes)]  # referenced until the launch is enqueued
    memory = _MEMORY.pack(*(buffer.address for buffer in buffers))
    args = (context.count, keys.rule, arrays.packed, int(writes_keys), memory)
    shared = tuning.shared_bytes(keys.width, has_values=has_values)
    shape = Shape(tuning.defines(keys, has_values=has_values), blocks, tuning.threads, shared)
    context.launcher.launch(_cooperative_entry(len(keys.rule)), shape, args)


@lru_cache(8)
def _cooperative_entry(rule: int) -> Entry:
    name, signature = "cooperative_sort", f"I{rule}s{ARRAYS}I{_MEMORY.size}s"
    return Entry("arrange/sort/gpu/single_launch/cooperative_sort.cu", name, signature, mode=LaunchMode.COOPERATIVE)


@lru_cache(16)
def _rank_entry(rule: int, in_place: bool) -> Entry:
    mode = LaunchMode.COOPERATIVE if in_place else LaunchMode.ORDERED
    return Entry("arrange/sort/gpu/single_launch/rank_sort.cu", "rank_sort", f"I{rule}s{ARRAYS}IP", mode=mode)
