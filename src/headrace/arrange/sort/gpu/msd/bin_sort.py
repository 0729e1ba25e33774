"""Blocks that sort parts in one pass (bin_sort.cu)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from headrace.arrange.sort.gpu.common.launch import Keys
from headrace.gpu.kernels.kernel import LaunchMode
from headrace.gpu.kernels.launcher import Entry, Shape

_STAGE_BYTES, _ROW_BYTES = 8, 2
_LINE_KEYS = 32


@dataclass(frozen=True, slots=True)
class SpreadShape:
    """A block that sorts parts in one pass: threads, keys of a thread, blocks of a multiprocessor."""

    threads: int
    items: int
    resident: int

    @property
    def keys(self) -> int:
        """Keys of a part it takes, which may begin anywhere in a line of memory."""
        return self.threads * self.items - _LINE_KEYS

    def local(self, keys: Keys, blocks: int, *, has_values: bool) -> Shape:
        """Of bin_sort.cu."""
        sizes = ("HR_THREADS", self.threads), ("HR_ITEMS", self.items), ("HR_BLOCKS", self.resident)
        counters = self.threads * (1 if self.items < 8 else 3) * 16
        tile = self.threads * self.items
        shared = tile * keys.width + counters
        if has_values:
            shared = max(shared, tile * _STAGE_BYTES) + tile * _ROW_BYTES
        return Shape(keys.defines(*sizes, ("HR_VALUES", int(has_values))), blocks, self.threads, shared)


@lru_cache(8)
def spread_entry(rule: int) -> Entry:
    """For a ``KeyRule`` of so many bytes."""
    return Entry("arrange/sort/gpu/msd/bin_sort.cu", "sort_spread", f"48s{rule}s296sIPP", mode=LaunchMode.EARLY)
