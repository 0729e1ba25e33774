"""Blocks that sort parts in one pass (sort_spread.cu)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from headrace.arrange.sort.launch_gpu import Keys
from headrace.core.gpu.kernels import LaunchMode
from headrace.core.gpu.launcher import Entry, Shape

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
        """Of sort_spread.cu."""
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
    return Entry("arrange/sort/parts/sort_spread.cu", "sort_spread", f"48s{rule}s296sIPP", mode=LaunchMode.EARLY)
