"""Holds the sizes of the kernels that partition rows by class and that find the first keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from headrace.arrange.sort.gpu.common.key_type import KeyType

TOP_K_BITS = 8  # bits of a digit of the search for the k-th key


@dataclass(frozen=True, slots=True)
class NullPartitionTuning:
    """Size of null_partition.cu: threads of a block, and maximum number of blocks of a grid."""

    threads: int = 256
    blocks: int = 528

    def defines(self) -> dict[str, int]:
        """Return the macros of a program."""
        return _defines(self.threads)


@dataclass(frozen=True, slots=True)
class TopKTuning:
    """Size of top_k.cu: threads of a block, and 16-byte vectors of a thread."""

    threads: int = 256
    rows: int = 4

    def tile(self, width: int) -> int:
        """Return the keys of a tile."""
        return self.threads * self.rows * 16 // width

    def defines(self, keys: KeyType) -> Mapping[str, Any]:
        """Return the macros of a program."""
        return keys.by_equal_codes.defines(HR_BITS=TOP_K_BITS, HR_THREADS=self.threads, HR_ROWS=self.rows)


@cache
def _defines(threads: int) -> dict[str, int]:
    return {"HR_THREADS": threads}
