"""Lists the sizes of the filter kernels; launches and the program list are computed from it."""

from headrace.arrange.gather.tuning import SELECTED_THREADS
from headrace.gpu.kernels.source import ANY, Programs

DEPTHS = (4, 16, 104)
"""Depths of the stack that kernels are compiled for; a program uses the first that is enough, which is seldom more than 4."""

PROGRAMS: Programs = (("filter.cu", {"HR_DEPTH": [DEPTHS[0], ANY], "HR_THREADS": [SELECTED_THREADS]}),)
