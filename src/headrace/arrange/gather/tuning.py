"""Lists the sizes of the gather kernels; launches and the program list are computed from it."""

from headrace.gpu.kernels.source import ANY, Programs

TAKE_THREADS = 256
TAKE_TURNS = 8  # rows per thread of take.cu
SELECTED_THREADS = 256
ROW_TYPES = ("u32", "u64")  # types of row numbers

PROGRAMS: Programs = (
    ("take.cu", {"HR_ROW": ROW_TYPES, "HR_THREADS": [TAKE_THREADS], "HR_TURNS": [TAKE_TURNS]}),
    ("selected_rows.cu", {"HR_ROW": ["u32", ANY], "HR_THREADS": [SELECTED_THREADS]}),
)
