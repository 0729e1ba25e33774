"""Lists the programs that the kernels of this folder are compiled to (docs/writing-a-kernel.md, section 6)."""

from headrace.gpu.kernels.source import Programs

PROGRAMS: Programs = (
    # Smaller types, and numbers of rows.
    ("finish.cu", {"HR_THREADS": [256]}),
    ("concat.cu", {"HR_THREADS": [256]}),
)
