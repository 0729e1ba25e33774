"""Lists the programs that the kernels of this folder are compiled to (docs/writing-a-kernel.md, section 6)."""

from __future__ import annotations

from headrace.gpu.kernels.source import Programs

PROGRAMS: Programs = (
    # Rows of tables by their numbers, and hashes of rows.
    (
        "take.cu",
        {
            "HR_ROW": ["u32", "u64"],
            "HR_THREADS": [256],
        },
    ),
)
