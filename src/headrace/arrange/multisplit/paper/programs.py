"""Lists the programs that the kernels of this folder are compiled to, as computed from the tuning table."""

from __future__ import annotations

from headrace.arrange.multisplit.gpu.tuning import SplitTuning
from headrace.gpu.kernels.source import ANY, Programs

_THREADS, _ITEMS = SplitTuning().warps

PROGRAMS: Programs = (
    # Warp-level multisplit takes up to 32 buckets. One program is compiled ahead of time, others at their first use.
    (
        "warp_level.cu",
        {
            "HR_KEY": ["u32"],
            "HR_RULE": ["BitsOf"],
            "HR_BITS": [5, ANY],
            "HR_REORDER": [1, ANY],
            "HR_THREADS": [_THREADS],
            "HR_ITEMS": [_ITEMS],
        },
    ),
)
