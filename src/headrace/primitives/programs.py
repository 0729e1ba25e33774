"""Lists the programs that the kernels of this folder are compiled to (docs/writing-a-kernel.md, section 6)."""

from __future__ import annotations

from headrace.gpu.kernels.source import Programs

PROGRAMS: Programs = (
    (
        "copy.cu",
        {
            "HR_WIDTH": [1, 2, 4, 8, 16],
        },
    ),
    # A ring of 72 KiB, which every card has. Sums of signed items have the bits of unsigned ones. Affine maps, which do
    # not commute, are what tests join.
    (
        "scan.cu",
        {
            "HR_OPERATOR": ["Sum"],
            "HR_ITEM": ["u32", "u64"],
            "HR_THREADS": [128],
            "HR_ROWS": [9],
            "HR_STAGES": [4],
            "HR_REDUCERS": [4],
            "HR_LOOK": [5],
        },
    ),
    (
        "scan.cu",
        {
            "HR_OPERATOR": ["Min", "Max"],
            "HR_ITEM": ["u32", "i32", "u64", "i64", "float", "double"],
            "HR_THREADS": [128],
            "HR_ROWS": [9],
            "HR_STAGES": [4],
            "HR_REDUCERS": [4],
            "HR_LOOK": [5],
        },
    ),
    (
        "scan.cu",
        {
            "HR_OPERATOR": ["Compose"],
            "HR_ITEM": ["u32"],
            "HR_THREADS": [128],
            "HR_ROWS": [9],
            "HR_STAGES": [4],
            "HR_REDUCERS": [4],
            "HR_LOOK": [5],
        },
    ),
    # With 227 KiB of shared memory (bench/results/h200/2026-11-21-scan-and-selection.md).
    (
        "scan.cu",
        {
            "HR_OPERATOR": ["Sum"],
            "HR_ITEM": ["u32", "u64"],
            "HR_THREADS": [192],
            "HR_ROWS": [9],
            "HR_STAGES": [8],
            "HR_REDUCERS": [6],
            "HR_LOOK": [5],
        },
    ),
    (
        "scan.cu",
        {
            "HR_OPERATOR": ["Min", "Max"],
            "HR_ITEM": ["u32", "i32", "u64", "i64", "float", "double"],
            "HR_THREADS": [192],
            "HR_ROWS": [9],
            "HR_STAGES": [8],
            "HR_REDUCERS": [6],
            "HR_LOOK": [5],
        },
    ),
    (
        "scan.cu",
        {
            "HR_OPERATOR": ["Compose"],
            "HR_ITEM": ["u32"],
            "HR_THREADS": [192],
            "HR_ROWS": [9],
            "HR_STAGES": [8],
            "HR_REDUCERS": [6],
            "HR_LOOK": [5],
        },
    ),
    (
        "reduce.cu",
        {
            "HR_OPERATOR": ["Sum"],
            "HR_ITEM": ["u32", "u64"],
            "HR_THREADS": [256],
            "HR_ROWS": [4],
        },
    ),
    (
        "reduce.cu",
        {
            "HR_OPERATOR": ["Sum"],
            "HR_ITEM": ["u64"],
            "HR_SOURCE": ["u32", "i32"],
            "HR_THREADS": [256],
            "HR_ROWS": [4],
        },
    ),
    (
        "reduce.cu",
        {
            "HR_OPERATOR": ["Min", "Max"],
            "HR_ITEM": ["u32", "i32", "u64", "i64", "float", "double"],
            "HR_THREADS": [256],
            "HR_ROWS": [4],
        },
    ),
    (
        "reduce.cu",
        {
            "HR_OPERATOR": ["Compose"],
            "HR_ITEM": ["u32"],
            "HR_THREADS": [256],
            "HR_ROWS": [4],
        },
    ),
    (
        "float_sum.cu",
        {
            "HR_ITEM": ["float", "double"],
            "HR_THREADS": [256],
            "HR_ROWS": [16],
        },
    ),
    (
        "select.cu",
        {
            "HR_WIDTH": [1, 2, 4, 8, 16],
            "HR_THREADS": [256],
            "HR_ROWS": [3],
            "HR_STAGES": [3],
            "HR_COUNTERS": [2],
            "HR_LOOK": [5],
            "HR_BATCH": [8],
            "HR_BLOCKS": [1],
        },
    ),
    # With 227 KiB of shared memory: of the shapes tried the best for the worst share of selected items.
    (
        "select.cu",
        {
            "HR_WIDTH": [1, 2, 4, 8, 16],
            "HR_THREADS": [768],
            "HR_ROWS": [3],
            "HR_STAGES": [3],
            "HR_COUNTERS": [6],
            "HR_LOOK": [5],
            "HR_BATCH": [8],
            "HR_BLOCKS": [1],
        },
    ),
)
