"""Lists the programs that the kernels of this folder are compiled to (docs/writing-a-kernel.md, section 6)."""

from __future__ import annotations

from headrace.gpu.kernels.source import Programs

PROGRAMS: Programs = (
    # Signed whole numbers are counted by the kernels of unsigned ones. Half as many rows for keys of 1 byte: a tile's
    # keys must fit counters of 16 bits.
    (
        "histogram.cu",
        {
            "HR_KEY": ["u16", "u32", "u64", "float", "double"],
            "HR_THREADS": [1024],
            "HR_ROWS": [4],
        },
    ),
    (
        "histogram.cu",
        {
            "HR_KEY": ["u8"],
            "HR_THREADS": [1024],
            "HR_ROWS": [2],
        },
    ),
    (
        "histogram_between.cu",
        {
            "HR_KEY": ["u16", "u32", "u64", "float", "double"],
            "HR_THREADS": [1024],
            "HR_ROWS": [4],
        },
    ),
    (
        "histogram_between.cu",
        {
            "HR_KEY": ["u8"],
            "HR_THREADS": [1024],
            "HR_ROWS": [2],
        },
    ),
    (
        "histogram.cu",
        {
            "HR_KEY": ["u32"],
            "HR_THREADS": [1024],
            "HR_ROWS": [4],
            "HR_BUCKET": ["(key >> 24u)", "*"],
        },
    ),
)
