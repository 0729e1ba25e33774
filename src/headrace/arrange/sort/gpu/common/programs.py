"""Lists the programs of this folder's kernels (docs/writing-a-kernel.md, section 6)."""

from headrace.arrange.sort.gpu.common.key_type import THREADS
from headrace.gpu.kernels.source import Programs

PROGRAMS: Programs = (("gather.cu", {"HR_THREADS": [THREADS]}),)
