"""Lists the sizes of the kernels of sorted maps; launches and the program list are computed from it."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.gpu.kernels.source import Programs


@dataclass(frozen=True, slots=True)
class MergeTuning:
    """Sizes of merge.cu.

    Parameters
    ----------
    threads, items
        Threads of a block, and items of a thread.
    stride
        Maximum number of items of a level from one sample to the next.
    """

    threads: int
    items: int
    stride: int = 64

    def stride_and_span(self, levels: int) -> tuple[int, int]:
        """Return the items from one sample to the next, and from one cut to the next.

        A tile has at most ``levels * stride`` items more than the latter, and each cut has a sample if it has no fewer.

        Examples
        --------
        >>> MergeTuning(256, 8).stride_and_span(2), MergeTuning(256, 8).stride_and_span(32)
        ((64, 1920), (16, 1536))
        """
        tile = self.threads * self.items
        stride = min(self.stride, tile // (4 * levels))
        return stride, tile - levels * stride


THREADS = 256
TURNS = 4
"""Items per thread of the kernels of batches."""
MERGE = MergeTuning(256, 7)
"""An odd number of items per thread, so that the threads of a warp write to different banks of shared memory."""
MERGED_LEVELS = 32
"""Maximum number of levels that are merged at once."""
LONGEST_WALK = 256
"""Maximum number of items of a range that one thread visits."""
FENCES_FROM = 1 << 12
"""Minimum number of items of a level that gets fences."""
GUIDE_STRIDE = 32
"""Items of a level from one sample of a guide to the next."""
GUIDE_SAMPLES = 8
"""A guide is written for searches of one key or more for this many of its samples."""
CODE_TYPES = {4: "u32", 8: "u64"}

_CODES = tuple(CODE_TYPES.values())
_PLAIN: Programs = tuple(
    (f"{stem}.cu", {"HR_CODE": _CODES, "HR_THREADS": [THREADS]}) for stem in ("batch", "find", "guide", "ranges")
)
PROGRAMS: Programs = (
    *_PLAIN,
    ("merge.cu", {"HR_CODE": _CODES, "HR_THREADS": [MERGE.threads], "HR_ITEMS": [MERGE.items]}),
)
