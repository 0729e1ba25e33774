"""Lists the programs of this folder's kernels (docs/writing-a-kernel.md, section 6)."""

from headrace.arrange.sort.gpu.common.key_type import KeyType, SortProgram, program_rows
from headrace.arrange.sort.gpu.row_tuning import NullPartitionTuning, TopKTuning
from headrace.gpu.kernels.source import Programs

_KEYS = [KeyType(width, b"") for width in (1, 2, 4, 8)]

PROGRAMS: Programs = program_rows(
    (
        SortProgram("null_partition.cu", NullPartitionTuning().defines()),
        *(SortProgram("top_k.cu", TopKTuning().defines(keys), keys.free_macro) for keys in _KEYS),
    )
)
