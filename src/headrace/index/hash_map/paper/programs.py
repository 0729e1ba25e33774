"""Lists the programs that the kernels of this folder are compiled to."""

from headrace.gpu.kernels.source import Programs

THREADS = 128

PROGRAMS: Programs = (("allocation.cu", {"HR_THREADS": [THREADS]}),)
