"""Lists the programs that the kernels of this folder are compiled to (docs/writing-a-kernel.md, section 6)."""

from headrace.gpu.kernels.source import Programs

PROGRAMS: Programs = (
    # Decoding of other encodings.
    ("decode.cu", {"HR_THREADS": [256]}),
)
