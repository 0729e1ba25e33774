"""Lists the programs that the kernels of this folder are compiled to, and their sizes."""

from headrace.gpu.kernels.source import ANY, Programs

THREADS = 256
PREFIX_ITEMS = 16  # characters of a thread in a scan of prefixes

PROGRAMS: Programs = (
    # Published methods are compiled at their first use.
    ("rabin_karp.cu", {"HR_FORM": [ANY], "HR_THREADS": [THREADS]}),
    ("prefixes.cu", {"HR_THREADS": [THREADS], "HR_ITEMS": [ANY]}),
)
