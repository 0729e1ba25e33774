"""Lists the programs that the kernels of this folder are compiled to (docs/writing-a-kernel.md, section 6)."""

from headrace.gpu.kernels.source import Programs

PROGRAMS: Programs = (
    # Programs that process faults: lines, rejected rows, single values.
    ("faulty_records.cu", {"HR_THREADS": [256]}),
    ("count_lines.cu", {"HR_THREADS": [256]}),
    ("gather_records.cu", {"HR_THREADS": [256]}),
    ("remove_rows.cu", {"HR_THREADS": [256]}),
    ("store_values.cu", {"HR_THREADS": [256]}),
    ("patch_strings.cu", {"HR_THREADS": [256]}),
)
