"""Lists the sizes of the filter kernels; launches and the program list are computed from it."""

from __future__ import annotations

from headrace.gpu.kernels.source import Programs

FILTER_THREADS = 256
DEPTHS = (4, 16, 104)
"""Depths of the stack that kernels are compiled for; a program uses the first that is enough."""
ROW_TYPES = ("u32", "u64")
"""Types of row numbers."""

PROGRAMS: Programs = (("filter.cu", {"HR_DEPTH": DEPTHS, "HR_ROW": ROW_TYPES, "HR_THREADS": [FILTER_THREADS]}),)
