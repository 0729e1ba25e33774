"""Lists the programs of the paper's scatter, computed from tuning.py. They are compiled at their first use."""

from headrace.arrange.sort.gpu.common.key_type import KeyType, SortProgram, program_rows
from headrace.arrange.sort.gpu.msd.tuning import TUNINGS
from headrace.gpu.kernels.source import Programs

PROGRAMS: Programs = program_rows(
    SortProgram(
        "scatter.cu", row.paper.scatter_defines(KeyType(row.key_bytes, b""), has_values=has_values), free_macro="HR_VALUES"
    )
    for tuning in TUNINGS
    for row in tuning
    for has_values in (False, True)
)
