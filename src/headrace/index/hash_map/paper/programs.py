"""Lists the programs that the kernels of this folder are compiled to."""

from headrace.gpu.kernels.source import ANY, Programs

THREADS = 128

# Published methods are compiled at their first use.
PROGRAMS: Programs = (("allocation.cu", {"HR_THREADS": [ANY], "HR_SLOT_BYTES": [4]}),)
