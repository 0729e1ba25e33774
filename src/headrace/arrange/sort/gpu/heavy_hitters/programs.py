"""Lists the programs that the kernels of this folder are compiled to (docs/writing-a-kernel.md, section 6)."""

from __future__ import annotations

from headrace.gpu.kernels.source import Programs

PROGRAMS: Programs = (
    # Values that many keys have: found, counted, packed and put back; and moved together with what goes with them, by
    # the tiles of a step.
    (
        "sample.cu",
        {
            "HR_KEY": ["u32", "u64"],
            "HR_EQUALS": [0, 1],
            "HR_BITS": [8],
            "HR_CLASS_BITS": [6],
            "HR_THREADS": [1024],
            "HR_ROWS": [1],
        },
    ),
    (
        "extract_keys.cu",
        {
            "HR_KEY": ["u32", "u64"],
            "HR_EQUALS": [0, 1],
            "HR_BITS": [8],
            "HR_CLASS_BITS": [6],
            "HR_THREADS": [256],
            "HR_ROWS": [4],
        },
    ),
    (
        "extract_stable.cu",
        {
            "HR_KEY": ["u32"],
            "HR_EQUALS": [0, 1],
            "HR_BITS": [6],
            "HR_VALUES": [1],
            "HR_THREADS": [384],
            "HR_ITEMS": [16],
            "HR_BLOCKS": [2],
            "HR_TOGETHER": [0],
            "HR_TO": ["u32"],
        },
    ),
    (
        "extract_stable.cu",
        {
            "HR_KEY": ["u64"],
            "HR_EQUALS": [0, 1],
            "HR_BITS": [6],
            "HR_VALUES": [1],
            "HR_THREADS": [512],
            "HR_ITEMS": [12],
            "HR_BLOCKS": [1],
            "HR_TOGETHER": [0],
            "HR_TO": ["u32"],
        },
    ),
    (
        "extract_stable.cu",
        {
            "HR_KEY": ["u32"],
            "HR_EQUALS": [0, 1],
            "HR_BITS": [6],
            "HR_VALUES": [4],
            "HR_THREADS": [256],
            "HR_ITEMS": [32],
            "HR_BLOCKS": [2],
            "HR_TOGETHER": [1],
            "HR_TO": ["u32"],
        },
    ),
    (
        "extract_stable.cu",
        {
            "HR_KEY": ["u64"],
            "HR_EQUALS": [0, 1],
            "HR_BITS": [6],
            "HR_VALUES": [8],
            "HR_THREADS": [256],
            "HR_ITEMS": [24],
            "HR_BLOCKS": [2],
            "HR_TOGETHER": [0],
            "HR_TO": ["u32"],
        },
    ),
    (
        "remainder_pass.cu",
        {
            "HR_KEY": ["u32"],
            "HR_EQUALS": [0, 1],
            "HR_BITS": [8],
            "HR_VALUES": [1],
            "HR_THREADS": [384],
            "HR_ITEMS": [16],
            "HR_BLOCKS": [2],
            "HR_TOGETHER": [0],
            "HR_TO": ["u32"],
        },
    ),
    (
        "remainder_pass.cu",
        {
            "HR_KEY": ["u64"],
            "HR_EQUALS": [0, 1],
            "HR_BITS": [8],
            "HR_VALUES": [1],
            "HR_THREADS": [512],
            "HR_ITEMS": [12],
            "HR_BLOCKS": [1],
            "HR_TOGETHER": [0],
            "HR_TO": ["u32"],
        },
    ),
    (
        "remainder_pass.cu",
        {
            "HR_KEY": ["u32"],
            "HR_EQUALS": [0, 1],
            "HR_BITS": [8],
            "HR_VALUES": [4],
            "HR_THREADS": [256],
            "HR_ITEMS": [32],
            "HR_BLOCKS": [2],
            "HR_TOGETHER": [1],
            "HR_TO": ["u32"],
        },
    ),
    (
        "remainder_pass.cu",
        {
            "HR_KEY": ["u64"],
            "HR_EQUALS": [0, 1],
            "HR_BITS": [8],
            "HR_VALUES": [8],
            "HR_THREADS": [256],
            "HR_ITEMS": [24],
            "HR_BLOCKS": [2],
            "HR_TOGETHER": [0],
            "HR_TO": ["u32"],
        },
    ),
    (
        "remainder_pass.cu",
        {
            "HR_KEY": ["u32"],
            "HR_EQUALS": [0],
            "HR_BITS": [8],
            "HR_VALUES": [0],
            "HR_THREADS": [384],
            "HR_ITEMS": [32],
            "HR_BLOCKS": [2],
            "HR_TOGETHER": [0],
            "HR_TO": ["u32"],
        },
    ),
    (
        "remainder_pass.cu",
        {
            "HR_KEY": ["u64"],
            "HR_EQUALS": [0],
            "HR_BITS": [8],
            "HR_VALUES": [0],
            "HR_THREADS": [256],
            "HR_ITEMS": [32],
            "HR_BLOCKS": [2],
            "HR_TOGETHER": [0],
            "HR_TO": ["u32"],
        },
    ),
)
