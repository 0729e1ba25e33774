"""Lists the programs that the kernels of this folder are compiled to."""

from headrace.gpu.kernels.source import Programs
from headrace.index.hash_map.gpu.tuning import PAIR_WIDTHS, SLAB_THREADS

PROGRAMS: Programs = tuple(("multi_map.cu", {**SLAB_THREADS, **widths}) for widths in PAIR_WIDTHS)
