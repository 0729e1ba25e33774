"""Lists the sizes of the kernels of sorted maps; launches and the program list are computed from it."""

from __future__ import annotations

from headrace.gpu.kernels.source import Programs

THREADS = 256
TURNS = 4
"""Items per thread of the kernels of batches."""
MERGE_ITEMS = 8
"""Items per thread of a merge."""
MERGED_LEVELS = 32
"""Maximum number of levels that are merged at once."""
COARSE_TILES = 64
"""Tiles from one coarse cut to the next."""
LONGEST_WALK = 256
"""Maximum number of items of a range that one thread visits."""
FENCES_FROM = 1 << 12
"""Minimum number of items of a level that gets fences."""
CODE_TYPES = {4: "u32", 8: "u64"}

PROGRAMS: Programs = tuple(
    (file, {"HR_CODE": tuple(CODE_TYPES.values()), "HR_THREADS": [THREADS]})
    for file in ("batch.cu", "merge.cu", "find.cu", "ranges.cu")
)
