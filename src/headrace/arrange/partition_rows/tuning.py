"""Lists the sizes of the row hash kernels; launches and the program list are computed from it."""

from __future__ import annotations

from headrace.gpu.kernels.source import Programs

HASH_THREADS = 256

PROGRAMS: Programs = (("hash_rows.cu", {"HR_THREADS": [HASH_THREADS]}),)
