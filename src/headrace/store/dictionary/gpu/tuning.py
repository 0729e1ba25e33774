"""Lists the sizes of the kernels of dictionaries; launches and the program list are computed from it."""

from __future__ import annotations

from headrace.gpu.kernels.source import Programs

THREADS = 256
THREAD_VALUES = 8
"""Values per thread of a merge (merge_tile.cuh)."""
VALUE_TYPES = {1: "u8", 2: "u16", 4: "u32", 8: "u64"}
"""Types of values that kernels are compiled for, by width."""
BLOCK_CODES = 64
"""Old codes per block of counts and bits (rules/codes.hpp)."""
BLOCK_BYTES = 12
"""Shared memory of a block of counts and bits."""
ON_CHIP_BYTES = 96 << 10
"""Maximum shared memory of counts and bits: two thread blocks a multiprocessor."""
ON_CHIP_BLOCKS = 264
"""Maximum number of blocks that load counts and bits: two for each multiprocessor of an H100."""
TRANSLATE_GROUPS = 16
"""Groups of 32 codes that a warp translates at least."""

PROGRAMS: Programs = (
    ("merge_numbers.cu", {"HR_VALUE": tuple(VALUE_TYPES.values()), "HR_THREADS": [THREADS]}),
    ("merge_texts.cu", {"HR_THREADS": [THREADS]}),
    ("translate.cu", {"HR_THREADS": [THREADS], "HR_ON_CHIP": [0, 1]}),
)
