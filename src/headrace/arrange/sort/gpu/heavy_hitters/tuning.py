"""Holds the sizes of the heavy-hitter kernels: the one table for their launches and their list of programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headrace.arrange.sort.gpu.common.key_type import KeyType


@dataclass(frozen=True, slots=True)
class HeavyHitterTuning:
    """Sizes of the heavy-hitter kernels."""

    class_bits: int = 6  # bits of a class number: class 0 holds the remaining keys, each other class the keys of one heavy hitter
    sample_threads: int = 1024  # threads of the block that looks at the sample, with four keys each
    threads: int = 256
    rows: int = 4  # threads of a block that reads keys, and 16-byte vectors of a thread
    min_bytes: int = 1 << 29
    """Minimum number of bytes of keys and the values that move with them. For less data, idle launches would cost too much."""
    blocks: int = 6  # resident blocks of a multiprocessor

    def defines(self, keys: KeyType, digit_bits: int) -> Mapping[str, Any]:
        """Return the macros of extract_keys.cu."""
        return keys.defines(
            HR_BITS=digit_bits, HR_CLASS_BITS=self.class_bits, HR_THREADS=self.threads, HR_ROWS=self.rows,
            HR_SAMPLE_THREADS=self.sample_threads,
        )  # fmt: skip
