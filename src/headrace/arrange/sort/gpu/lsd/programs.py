"""Lists the programs that the kernels of this folder are compiled to (docs/writing-a-kernel.md, section 6)."""

from __future__ import annotations

from headrace.gpu.kernels.source import Programs

PROGRAMS: Programs = (
    # Sorting (docs/decisions/0023-sort-gpu.md). Keys are words of their width; those that compare equal with different
    # bits (HR_EQUALS) are floats that
    # carry something.
    (
        "digit_histogram.cu",
        {
            "HR_KEY": ["u8", "u16", "u32", "u64"],
            "HR_EQUALS": [0],
            "HR_BITS": [8],
            "HR_THREADS": [256, 1024],
            "HR_ROWS": [4],
        },
    ),
    (
        "digit_histogram.cu",
        {
            "HR_KEY": ["u16", "u32", "u64"],
            "HR_EQUALS": [1],
            "HR_BITS": [8],
            "HR_THREADS": [256, 1024],
            "HR_ROWS": [4],
        },
    ),
    (
        "plan.cu",
        {
            "HR_KEY": ["u8", "u16", "u32", "u64"],
            "HR_EQUALS": [0],
            "HR_BITS": [8],
            "HR_THREADS": [256],
        },
    ),
    (
        "prefix_histogram.cu",
        {
            "HR_KEY": ["u32", "u64"],
            "HR_EQUALS": [0],
            "HR_BITS": [8],
            "HR_THREADS": [1024],
            "HR_ROWS": [4],
            "HR_FULL": [65536],
        },
    ),
    ("copy_or_reverse.cu", {}),
    # A step of a stable sort: keys alone, with one column of 4 or 8 bytes beside them, or with whatever follows. Places
    # of 32 bits, or of 64
    # from 2^32 - 2^17 keys on.
    (
        "onesweep_pass.cu",
        {
            "HR_KEY": ["u8", "u16"],
            "HR_EQUALS": [0],
            "HR_BITS": [8],
            "HR_VALUES": [0],
            "HR_THREADS": [512],
            "HR_ITEMS": [24],
            "HR_BLOCKS": [2],
            "HR_TOGETHER": [0],
            "HR_TO": ["u32", "u64"],
        },
    ),
    (
        "onesweep_pass.cu",
        {
            "HR_KEY": ["u32"],
            "HR_EQUALS": [0],
            "HR_BITS": [8],
            "HR_VALUES": [0],
            "HR_THREADS": [384],
            "HR_ITEMS": [32],
            "HR_BLOCKS": [2],
            "HR_TOGETHER": [0],
            "HR_TO": ["u32", "u64"],
        },
    ),
    (
        "onesweep_pass.cu",
        {
            "HR_KEY": ["u64"],
            "HR_EQUALS": [0],
            "HR_BITS": [8],
            "HR_VALUES": [0],
            "HR_THREADS": [256],
            "HR_ITEMS": [32],
            "HR_BLOCKS": [2],
            "HR_TOGETHER": [0],
            "HR_TO": ["u32", "u64"],
        },
    ),
    (
        "onesweep_pass.cu",
        {
            "HR_KEY": ["u8"],
            "HR_EQUALS": [0],
            "HR_BITS": [8],
            "HR_VALUES": [1],
            "HR_THREADS": [384],
            "HR_ITEMS": [16],
            "HR_BLOCKS": [2],
            "HR_TOGETHER": [0],
            "HR_TO": ["u32", "u64"],
        },
    ),
    (
        "onesweep_pass.cu",
        {
            "HR_KEY": ["u16", "u32"],
            "HR_EQUALS": [0, 1],
            "HR_BITS": [8],
            "HR_VALUES": [1],
            "HR_THREADS": [384],
            "HR_ITEMS": [16],
            "HR_BLOCKS": [2],
            "HR_TOGETHER": [0],
            "HR_TO": ["u32", "u64"],
        },
    ),
    (
        "onesweep_pass.cu",
        {
            "HR_KEY": ["u64"],
            "HR_EQUALS": [0, 1],
            "HR_BITS": [8],
            "HR_VALUES": [1],
            "HR_THREADS": [512],
            "HR_ITEMS": [12],
            "HR_BLOCKS": [1],
            "HR_TOGETHER": [0],
            "HR_TO": ["u32", "u64"],
        },
    ),
    (
        "onesweep_pass.cu",
        {
            "HR_KEY": ["u32"],
            "HR_EQUALS": [0, 1],
            "HR_BITS": [8],
            "HR_VALUES": [4],
            "HR_THREADS": [256],
            "HR_ITEMS": [32],
            "HR_BLOCKS": [2],
            "HR_TOGETHER": [1],
            "HR_TO": ["u32", "u64"],
        },
    ),
    (
        "onesweep_pass.cu",
        {
            "HR_KEY": ["u64"],
            "HR_EQUALS": [0, 1],
            "HR_BITS": [8],
            "HR_VALUES": [8],
            "HR_THREADS": [256],
            "HR_ITEMS": [24],
            "HR_BLOCKS": [2],
            "HR_TOGETHER": [0],
            "HR_TO": ["u32", "u64"],
        },
    ),
    (
        "onesweep_pass.cu",
        {
            "HR_KEY": ["u64"],
            "HR_EQUALS": [0, 1],
            "HR_BITS": [8],
            "HR_VALUES": [8],
            "HR_THREADS": [256],
            "HR_ITEMS": [16],
            "HR_BLOCKS": [2],
            "HR_TOGETHER": [0],
            "HR_TO": ["u32"],
        },
    ),
    # Shapes that bench.sort.tune_tiles measures, compiled when it asks.
    (
        "onesweep_pass.cu",
        {
            "HR_KEY": ["u32", "u64"],
            "HR_EQUALS": [0],
            "HR_BITS": [8],
            "HR_VALUES": [0, 1, 4, 8],
            "HR_THREADS": ["*"],
            "HR_ITEMS": ["*"],
            "HR_BLOCKS": ["*"],
            "HR_TOGETHER": [0, 1],
            "HR_TO": ["u32"],
        },
    ),
)
