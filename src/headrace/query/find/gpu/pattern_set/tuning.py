"""Lists the sizes of the kernels that find many patterns; launches and the program list are computed from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headrace.gpu.kernels.source import Programs

WINDOWS = ((1, 1), (1, 2), (1, 4), (2, 4), (4, 4))
"""Words of a window, and bytes from one to the next, of searches for many patterns (pattern/window.hpp)."""


@dataclass(frozen=True, slots=True)
class SetTuning:
    """Sizes of a search for many patterns: threads of a block, and limits of its tables in shared memory.

    The limits are the binary logarithm of the bits for fingerprints, and the number of patterns whose hits are counted there.
    """

    threads: int = 1024
    max_slot_bits: int = 19
    max_block_counts: int = 4096

    def search(self, words: int, stride: int) -> dict[str, Any]:
        """Return the macros of search_set.cu for windows of some words, `stride` bytes apart."""
        return {"HR_WORDS": words, "HR_STRIDE": stride, "HR_THREADS": self.threads}

    @staticmethod
    def part_bytes(stride: int) -> int:
        """Return the bytes of text that a warp takes at a time: 32 windows of each lane."""
        return 32 * 32 * stride


SET_TUNING = SetTuning()

PROGRAMS: Programs = tuple(
    ("search_set.cu", {name: [value] for name, value in SET_TUNING.search(words, stride).items()}) for words, stride in WINDOWS
)
