"""Lists the programs that the kernels of this folder are compiled to (docs/writing-a-kernel.md, section 6)."""

from __future__ import annotations

from headrace.gpu.kernels.source import Programs

PROGRAMS: Programs = (
    # Rows of columns that are null, or bools.
    (
        "null_partition.cu",
        {
            "HR_THREADS": [256],
        },
    ),
    # The first k keys, and whether keys are in order: equal codes are made of all keys.
    (
        "top_k.cu",
        {
            "HR_KEY": ["u8", "u16", "u32", "u64"],
            "HR_EQUALS": [1],
            "HR_BITS": [8],
            "HR_THREADS": [256],
            "HR_ROWS": [4],
        },
    ),
    (
        "is_sorted.cu",
        {
            "HR_KEY": ["u8", "u16", "u32", "u64"],
            "HR_EQUALS": [1],
            "HR_BITS": [8],
            "HR_THREADS": [256],
            "HR_ROWS": [4],
        },
    ),
)
