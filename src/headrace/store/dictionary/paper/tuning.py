"""Lists the sizes of the paper's kernels; launches and the program list are computed from it."""

from headrace.gpu.kernels.source import ANY, Programs

THREADS = 128
SLICES = 1 << 14  # slices on a GPU: the paper's best launches have 64 * 64 to 256 * 256 threads
VALUE_TYPES = {4: "u32", 8: "u64"}  # Types of values that kernels are compiled for, by width. The paper has 4 bytes.

# Published methods are compiled at their first use.
PROGRAMS: Programs = (("slices.cu", {"HR_VALUE": [ANY], "HR_THREADS": [THREADS]}),)
