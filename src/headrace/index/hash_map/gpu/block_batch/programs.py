"""Lists the programs that the kernels of this folder are compiled to."""

from collections.abc import Mapping, Sequence

from headrace.gpu.kernels.source import ANY, Programs, Value
from headrace.index.hash_map.gpu.tuning import BLOCK_ROWS, PAIR_WIDTHS, BuildTuning

_SIZES: Mapping[str, Sequence[Value]] = {
    "HR_THREADS": [BuildTuning().threads, ANY],
    "HR_BUCKETS": [BuildTuning().buckets, ANY],
}
PROGRAMS: Programs = (  # pairs of two widths, and the sizes of benchmarks, are compiled at their first use
    ("small_batch.cu", {**PAIR_WIDTHS, "HR_THREADS": [BLOCK_ROWS]}),
    ("bulk_build.cu", {**_SIZES, "HR_KEY_WIDTH": [4], "HR_VALUE_WIDTH": [0, 4, ANY]}),
    ("bulk_build.cu", {**_SIZES, "HR_KEY_WIDTH": [8], "HR_VALUE_WIDTH": [0, 8, ANY]}),
)
