"""Lists the programs of this folder's kernels (docs/writing-a-kernel.md, section 6)."""

from __future__ import annotations

from headrace.arrange.sort.gpu.common.launch import KeyType, program_rows
from headrace.arrange.sort.gpu.null_partition import NullPartitionTuning
from headrace.arrange.sort.gpu.top_k import TopKTuning
from headrace.gpu.kernels.source import Programs

PROGRAMS: Programs = program_rows(
    (
        ("null_partition.cu", NullPartitionTuning().defines()),
        *(("top_k.cu", TopKTuning().defines(KeyType(width, b""))) for width in (1, 2, 4, 8)),
    )
)
