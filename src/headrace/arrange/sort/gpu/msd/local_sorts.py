"""Holds the sizes and entries of the kernels whose blocks each sort whole buckets: bin_sort.cu and block_radix_sort.cu."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from headrace.arrange.sort.gpu.common.launch import KeyType, MovedColumn, packed_arrays
from headrace.arrange.sort.gpu.lsd.tuning import tile_bytes
from headrace.gpu.kernels.kernel import LaunchMode
from headrace.gpu.kernels.launcher import Entry, Launcher, Shape

SOURCE, TARGET, BETWEEN = 0, 1, 2
"""Values of a ``BufferRole`` of device_plan.cuh."""
_STAGE_BYTES, _ROW_BYTES = 8, 2
_LINE_KEYS = 32


@dataclass(frozen=True, slots=True)
class BinSortTuning:
    """Size of bin_sort.cu, which sorts a bucket in one pass.

    Parameters
    ----------
    threads, items, blocks
        Threads of a block, keys of a thread, resident blocks of a multiprocessor.
    """

    threads: int
    items: int
    blocks: int

    @property
    def keys(self) -> int:
        """Return the maximum size of a bucket, which may begin anywhere in a line of memory."""
        return self.threads * self.items - _LINE_KEYS

    def defines(self, keys: KeyType, *, has_values: bool) -> Mapping[str, Any]:
        """Return the macros of a program."""
        sizes = ("HR_THREADS", self.threads), ("HR_ITEMS", self.items), ("HR_BLOCKS", self.blocks)
        return keys.defines(*sizes, ("HR_VALUES", int(has_values)))

    def launch(self, keys: KeyType, blocks: int, *, has_values: bool) -> Shape:
        """Return the launch configuration of bin_sort.cu for a grid of `blocks` blocks."""
        counter_bytes = self.threads * (1 if self.items < 8 else 3) * 16
        tile = self.threads * self.items
        shared = tile * keys.width + counter_bytes
        if has_values:
            shared = max(shared, tile * _STAGE_BYTES) + tile * _ROW_BYTES
        return Shape(self.defines(keys, has_values=has_values), blocks, self.threads, shared)


@dataclass(frozen=True, slots=True)
class BlockSortTuning:
    """Size of block_radix_sort.cu, which sorts a bucket digit by digit in shared memory.

    Parameters
    ----------
    bits
        Bits of a digit.
    threads, items, blocks
        Threads of a block, keys of a thread, resident blocks of a multiprocessor.
    """

    bits: int
    threads: int
    items: int
    blocks: int

    @property
    def keys(self) -> int:
        """Return the maximum size of a bucket."""
        return self.threads * self.items

    def defines(self, keys: KeyType, *, has_values: bool) -> Mapping[str, Any]:
        """Return the macros of a program."""
        sizes = ("HR_BITS", self.bits), ("HR_THREADS", self.threads), ("HR_ITEMS", self.items), ("HR_BLOCKS", self.blocks)
        return keys.defines(*sizes, ("HR_VALUES", int(has_values)))

    def launch(self, keys: KeyType, blocks: int, *, has_values: bool) -> Shape:
        """Return the launch configuration of block_radix_sort.cu for a grid of `blocks` blocks."""
        shared = tile_bytes(self.threads, self.items, keys.width + 2 * has_values, 1 << self.bits)
        return Shape(self.defines(keys, has_values=has_values), blocks, self.threads, shared)


def sort_in_one_block(
    launcher: Launcher,
    keys: KeyType,
    tuning: BlockSortTuning,
    arrays: tuple[MovedColumn, Sequence[MovedColumn]],
    count: int,
    *,
    writes_keys: bool,
) -> None:
    """Sort up to `tuning.keys` keys by one block. It needs no memory, and a target may be its source."""
    moved, columns = arrays
    only_bucket = struct.pack("<4Q4I", 0, 0, 0, 0, 0, count, 8 * keys.width, SOURCE)
    args = (only_bucket, keys.rule, packed_arrays(moved, columns), int(writes_keys))
    launcher.launch(block_radix_sort_entry(len(keys.rule)), tuning.launch(keys, 1, has_values=bool(columns)), args)


@lru_cache(8)
def bin_sort_entry(rule: int) -> Entry:
    """Return the entry of bin_sort.cu. `rule`: bytes of a ``KeyRule``."""
    return Entry("arrange/sort/gpu/msd/bin_sort.cu", "bin_sort", f"48s{rule}s296sIPP", mode=LaunchMode.EARLY)


@lru_cache(8)
def block_radix_sort_entry(rule: int) -> Entry:
    """Return the entry of block_radix_sort.cu. `rule`: bytes of a ``KeyRule``."""
    return Entry("arrange/sort/gpu/msd/block_radix_sort.cu", "block_radix_sort", f"48s{rule}s296sI", mode=LaunchMode.EARLY)
