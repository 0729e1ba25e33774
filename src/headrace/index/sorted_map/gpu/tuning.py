"""Lists the sizes of the kernels of sorted maps; launches and the program list are computed from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headrace.gpu.kernels.source import Programs, Value


@dataclass(frozen=True, slots=True)
class MergeTuning:
    """Sizes of merge.cu."""

    threads: int
    items: int  # threads of a block, and items of a thread
    stride: int = 512  # items of a level from one sample to the next


THREADS = 256
TURNS = {"batch": 4, "guide": 4}  # items per thread of the kernels of a file; one of those of the others
MERGE = MergeTuning(256, 7)
"""An odd number of items per thread, so that the threads of a warp write to different banks of shared memory."""
MERGED_LEVELS = 32  # maximum number of levels that are merged at once
GATHERED_SHARE = 256  # batches that are sorted at once have the memory of the GPU divided by this number, at most
MERGED_PER_SEARCH = 2.0
"""Number of items that are merged in the time of a search of a key in one level. On an H100 these are 0.026 and 0.05 ns."""
LONGEST_WALK = 256  # maximum number of items of a range that one thread visits
FENCES_FROM = 1 << 12  # minimum number of items of a level that gets fences
FILTERED_PER_KEY = 4  # a level gets a filter if it has at most this number of items for each key searched since the last update
SHORT_CODES = {4: 20, 8: 14}
"""Maximum number of codes of a short range by their width (short_range.cuh); of ranges that one walk copies, their mean."""
WALKED_SHARE = 64  # ranges are counted and copied in one walk if that takes the memory of the GPU divided by this number, at most
GUIDE_STRIDE = 16  # items of a level from one sample of a guide to the next
GUIDE_SAMPLES = 8  # a guide is written for one range or more for this many of its samples
CODE_TYPES = {4: "u32", 8: "u64"}

_CODES = tuple(CODE_TYPES.values())
_PLAIN: Mapping[str, Sequence[Value]] = {"HR_CODE": _CODES, "HR_THREADS": [THREADS]}
PROGRAMS: Programs = (
    *((f"{stem}.cu", {**_PLAIN, "HR_TURNS": [turns]}) for stem, turns in TURNS.items()),
    *((f"{stem}.cu", _PLAIN) for stem in ("find", "ranges")),
    ("merge.cu", {"HR_CODE": _CODES, "HR_THREADS": [MERGE.threads], "HR_ITEMS": [MERGE.items]}),
)
