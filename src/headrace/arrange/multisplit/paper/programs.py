"""Lists the programs that the kernels of this folder are compiled to, as computed from the tuning table."""

from headrace.arrange.multisplit.gpu.tuning import SplitTuning
from headrace.gpu.kernels.source import ANY, Programs

_THREADS, _ITEMS = SplitTuning().warps

PROGRAMS: Programs = (
    # Warp-level multisplit takes up to 32 buckets. Its programs are compiled at their first use.
    (
        "warp_level.cu",
        {
            "HR_KEY": ["u32"],
            "HR_RULE": ["BitsOf"],
            "HR_BITS": [ANY],
            "HR_REORDER": [ANY],
            "HR_THREADS": [_THREADS],
            "HR_ITEMS": [_ITEMS],
        },
    ),
)
