"""Lists the programs that the kernels of this folder are compiled to."""

from headrace.gpu.kernels.source import ANY, Programs
from headrace.index.hash_map.gpu.tuning import BLOCK_ROWS, PAIR_WIDTHS, BuildTuning

PROGRAMS: Programs = (  # the last row is for benchmarks of other sizes
    ("small_batch.cu", {**PAIR_WIDTHS, "HR_THREADS": [BLOCK_ROWS]}),
    ("bulk_build.cu", {**PAIR_WIDTHS, "HR_THREADS": [BuildTuning().threads], "HR_BUCKETS": [BuildTuning().buckets]}),
    ("bulk_build.cu", {"HR_KEY_WIDTH": [4, 8], "HR_VALUE_WIDTH": [4, 8], "HR_THREADS": [ANY], "HR_BUCKETS": [ANY]}),
)
