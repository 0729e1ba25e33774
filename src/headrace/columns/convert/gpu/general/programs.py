"""Lists the programs that the kernels of this folder are compiled to (docs/writing-a-kernel.md, section 6)."""

from __future__ import annotations

from headrace.columns.convert.gpu.tuning import ALL_FAMILIES
from headrace.gpu.kernels.source import SUBSET, Programs

PROGRAMS: Programs = (
    # Without quotes, with quotes, and by the DFA; for each the kernel that converts and the one that measures strings.
    (
        "convert.cu",
        {
            "HR_THREADS": [256],
            "HR_TILE": [16384],
            "HR_WINDOW": [4096],
            "HR_BLOCKS": [4],
            "HR_QUOTES": [0, 1, 2],
            "HR_WRITES": [0, 1],
            "HR_FAMILIES": [ALL_FAMILIES, SUBSET],
        },
    ),
)
