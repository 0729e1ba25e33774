"""Lists the program that the kernels of this folder are compiled to."""

from headrace.gpu.kernels.source import Programs

THREADS = 256

PROGRAMS: Programs = (("text_rows.cu", {"HR_THREADS": [THREADS]}),)
