"""Holds the sizes of the kernels whose blocks each sort whole buckets: bin_sort.cu and block_radix_sort.cu."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headrace.arrange.sort.gpu.common.key_type import KeyType
from headrace.arrange.sort.gpu.lsd.tuning import tile_bytes

_STAGE_BYTES, _ROW_BYTES = 8, 2
_LINE_KEYS = 32


@dataclass(frozen=True, slots=True)
class BinSortTuning:
    """Size of bin_sort.cu, which sorts a bucket in one pass."""

    threads: int
    items: int
    blocks: int  # threads of a block, keys of a thread, resident blocks of a multiprocessor

    @property
    def keys(self) -> int:
        """Return the maximum size of a bucket, which may begin anywhere in a line of memory."""
        return self.threads * self.items - _LINE_KEYS

    def defines(self, keys: KeyType, *, has_values: bool) -> Mapping[str, Any]:
        """Return the macros of a program."""
        return keys.defines(HR_THREADS=self.threads, HR_ITEMS=self.items, HR_BLOCKS=self.blocks, HR_VALUES=int(has_values))

    def shared_bytes(self, width: int, *, has_values: bool) -> int:
        """Return the bytes of dynamic shared memory for keys of `width` bytes."""
        counter_bytes = self.threads * (1 if self.items < 8 else 3) * 16
        tile = self.threads * self.items
        shared = tile * width + counter_bytes
        return max(shared, tile * _STAGE_BYTES) + tile * _ROW_BYTES if has_values else shared


@dataclass(frozen=True, slots=True)
class BlockSortTuning:
    """Size of block_radix_sort.cu, which sorts a bucket digit by digit in shared memory."""

    bits: int  # bits of a digit
    threads: int
    items: int
    blocks: int  # threads of a block, keys of a thread, resident blocks of a multiprocessor

    @property
    def keys(self) -> int:
        """Return the maximum size of a bucket."""
        return self.threads * self.items

    def defines(self, keys: KeyType, *, has_values: bool) -> Mapping[str, Any]:
        """Return the macros of a program."""
        return keys.defines(
            HR_BITS=self.bits, HR_THREADS=self.threads, HR_ITEMS=self.items, HR_BLOCKS=self.blocks, HR_VALUES=int(has_values)
        )

    def shared_bytes(self, width: int, *, has_values: bool) -> int:
        """Return the bytes of dynamic shared memory for keys of `width` bytes."""
        return tile_bytes(self.threads, self.items, width + 2 * has_values, 1 << self.bits)


LocalSortTuning = BinSortTuning | BlockSortTuning
