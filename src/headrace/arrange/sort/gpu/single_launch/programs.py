"""Lists the programs that the kernels of this folder are compiled to (docs/writing-a-kernel.md, section 6)."""

from __future__ import annotations

from headrace.gpu.kernels.source import Programs

PROGRAMS: Programs = (
    # Blocks that rank their own keys among all: of 8 bytes more of them.
    (
        "rank_sort.cu",
        {
            "HR_KEY": ["u8", "u16", "u32", "u64"],
            "HR_EQUALS": [0],
            "HR_THREADS": [512],
            "HR_OWN": [1, 2, 4],
        },
    ),
    (
        "rank_sort.cu",
        {
            "HR_KEY": ["u16", "u32", "u64"],
            "HR_EQUALS": [1],
            "HR_THREADS": [512],
            "HR_OWN": [1, 2, 4],
        },
    ),
    (
        "rank_sort.cu",
        {
            "HR_KEY": ["u64"],
            "HR_EQUALS": [0, 1],
            "HR_THREADS": [512],
            "HR_OWN": [8],
        },
    ),
    # Blocks that meet: of keys of 4 and 8 bytes more of them, and larger ones.
    (
        "cooperative_sort.cu",
        {
            "HR_KEY": ["u8", "u16"],
            "HR_EQUALS": [0],
            "HR_BITS": [8],
            "HR_VALUES": [0, 1],
            "HR_THREADS": [512],
            "HR_ITEMS": [8],
            "HR_BLOCKS": [1],
        },
    ),
    (
        "cooperative_sort.cu",
        {
            "HR_KEY": ["u16"],
            "HR_EQUALS": [1],
            "HR_BITS": [8],
            "HR_VALUES": [1],
            "HR_THREADS": [512],
            "HR_ITEMS": [8],
            "HR_BLOCKS": [1],
        },
    ),
    (
        "cooperative_sort.cu",
        {
            "HR_KEY": ["u32", "u64"],
            "HR_EQUALS": [0],
            "HR_BITS": [8],
            "HR_VALUES": [0],
            "HR_THREADS": [512],
            "HR_ITEMS": [2, 4, 8, 16],
            "HR_BLOCKS": [1],
        },
    ),
    (
        "cooperative_sort.cu",
        {
            "HR_KEY": ["u32", "u64"],
            "HR_EQUALS": [0, 1],
            "HR_BITS": [8],
            "HR_VALUES": [1],
            "HR_THREADS": [512],
            "HR_ITEMS": [2, 4, 8],
            "HR_BLOCKS": [1],
        },
    ),
    (
        "cooperative_sort.cu",
        {
            "HR_KEY": ["u32"],
            "HR_EQUALS": [0, 1],
            "HR_BITS": [8],
            "HR_VALUES": [1],
            "HR_THREADS": [512],
            "HR_ITEMS": [16],
            "HR_BLOCKS": [1],
        },
    ),
)
