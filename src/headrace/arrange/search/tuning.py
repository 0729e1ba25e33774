"""Lists the sizes of the search kernels; launches and the program list are computed from it."""

from __future__ import annotations

from headrace.gpu.kernels.source import ANY, Programs

SEARCH_THREADS = 256
TURNS = 4  # keys per thread
KEY_TYPES = {1: "u8", 2: "u16", 4: "u32", 8: "u64"}  # types of keys that kernels are compiled for, by width

PROGRAMS: Programs = (
    ("search.cu", {"HR_KEY": [KEY_TYPES[4], KEY_TYPES[8], ANY], "HR_THREADS": [SEARCH_THREADS], "HR_TURNS": [TURNS]}),
)
