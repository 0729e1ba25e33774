"""Lists the programs that the kernels of this folder are compiled to (docs/writing-a-kernel.md, section 6)."""

from headrace.gpu.kernels.source import ANY, Programs

PROGRAMS: Programs = (
    # Tiles of 16 KiB (measurements: bench/results/h100/2026-11-28-search-by-words.md).
    ("summarize_plain.cu", {"HR_QUOTED": [0, 1], "HR_THREADS": [128], "HR_ROWS": [8], "HR_UNROLL": [4], "HR_BLOCKS": [8]}),
    ("summarize_dfa.cu", {"HR_STATES": [8, 16, ANY], "HR_THREADS": [128], "HR_ROWS": [8], "HR_UNROLL": [1], "HR_BLOCKS": [9]}),
    ("opening_quotes.cu", {"HR_THREADS": [256]}),
    ("scan_summaries.cu", {"HR_THREADS": [256]}),
)
