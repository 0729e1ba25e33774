"""Lists the programs that the kernels of this folder are compiled to."""

from headrace.gpu.kernels.source import Programs
from headrace.index.hash_map.gpu.tuning import BLOCK_ROWS, PAIR_WIDTHS

PROGRAMS: Programs = (("small_batch.cu", {**PAIR_WIDTHS, "HR_THREADS": [BLOCK_ROWS]}),)
