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
        Items of a level from one sample to the next.
    """

    threads: int
    items: int
    stride: int = 512


THREADS = 256
TURNS = 4
"""Items per thread of the kernels of batches."""
MERGE = MergeTuning(256, 7)
"""An odd number of items per thread, so that the threads of a warp write to different banks of shared memory."""
MERGED_LEVELS = 32
"""Maximum number of levels that are merged at once."""
GATHERED_SHARE = 256
"""Batches that are sorted at once have the memory of the GPU divided by this number, at most."""
MERGED_PER_SEARCH = 2.0
"""Number of items that are merged in the time of a search of a key in one level. On an H100 these are 0.026 and 0.05 ns."""
LONGEST_WALK = 256
"""Maximum number of items of a range that one thread visits."""
FENCES_FROM = 1 << 12
"""Minimum number of items of a level that gets fences."""
FILTERED_PER_KEY = 4
"""A level gets a filter if it has at most this number of items for each key searched since the last update."""
SHORT_CODES = {4: 20, 8: 14}
"""Maximum number of codes of a short range by their width (short_range.cuh); of ranges that one walk copies, their mean."""
WALKED_SHARE = 64
"""Ranges are counted and copied in one walk if that takes the memory of the GPU divided by this number, at most."""
GUIDE_STRIDE = 16
"""Items of a level from one sample of a guide to the next."""
GUIDE_SAMPLES = 8
"""A guide is written for one range or more for this many of its samples."""
CODE_TYPES = {4: "u32", 8: "u64"}

_CODES = tuple(CODE_TYPES.values())
_PLAIN: Programs = tuple(
    (f"{stem}.cu", {"HR_CODE": _CODES, "HR_THREADS": [THREADS]}) for stem in ("batch", "find", "guide", "ranges")
)
PROGRAMS: Programs = (
    *_PLAIN,
    ("merge.cu", {"HR_CODE": _CODES, "HR_THREADS": [MERGE.threads], "HR_ITEMS": [MERGE.items]}),
)
