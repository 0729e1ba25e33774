"""Lists the programs that the kernels of this folder are compiled to (docs/writing-a-kernel.md, section 6)."""

from __future__ import annotations

from headrace.gpu.kernels.source import Programs

PROGRAMS: Programs = (
    # Warp by warp, up to 32 buckets: directly, and reordered.
    (
        "warp_level.cu",
        {
            "HR_KEY": ["u32"],
            "HR_RULE": ["BitsOf"],
            "HR_BITS": [1, 5],
            "HR_REORDER": [0, 1],
            "HR_THREADS": [256],
            "HR_ITEMS": [8],
        },
    ),
)
