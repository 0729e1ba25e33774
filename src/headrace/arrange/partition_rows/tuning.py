"""Lists the sizes of the kernels that hash and compare rows; launches and the program list are computed from it."""

from headrace.gpu.kernels.source import ANY, Programs

HASH_THREADS = 256
EQUAL_THREADS = 256

PROGRAMS: Programs = (
    ("hash_rows.cu", {"HR_THREADS": [HASH_THREADS]}),
    ("equal_rows.cu", {"HR_ROW": ["u32", ANY], "HR_THREADS": [EQUAL_THREADS]}),
)
