"""Holds the sizes of the heavy-hitter kernels: the one table for their launches and their list of programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headrace.arrange.sort.gpu.common.key_type import KeyType


@dataclass(frozen=True, slots=True)
class HeavyHitterTuning:
    """Sizes of the heavy-hitter kernels.

    Parameters
    ----------
    class_bits
        Bits of a class number: class 0 holds the remaining keys, each other class the keys of one heavy hitter.
    sample_threads
        Threads of the block that looks at the sample, with four keys each.
    threads, rows, blocks
        Threads of a block that reads keys, 16-byte vectors of a thread, resident blocks of a multiprocessor.
    min_bytes
        Minimum number of bytes of keys and the values that move with them. For less data, launches that find nothing to do would
        cost too much.
    """

    class_bits: int = 6
    sample_threads: int = 1024
    threads: int = 256
    rows: int = 4
    min_bytes: int = 1 << 29
    blocks: int = 6

    def defines(self, keys: KeyType, digit_bits: int) -> Mapping[str, Any]:
        """Return the macros of extract_keys.cu."""
        return keys.defines(
            HR_BITS=digit_bits, HR_CLASS_BITS=self.class_bits, HR_THREADS=self.threads, HR_ROWS=self.rows,
            HR_SAMPLE_THREADS=self.sample_threads,
        )  # fmt: skip
