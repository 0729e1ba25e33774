"""Lists the programs that the kernels of this folder are compiled to."""

from collections.abc import Mapping, Sequence

from headrace.gpu.kernels.source import ANY, Programs, Value
from headrace.index.hash_map.gpu.tuning import BLOCK_ROWS, SLOT_BYTES, WIDTHS, BuildTuning

_SIZES: Mapping[str, Sequence[Value]] = {
    "HR_THREADS": [BuildTuning().threads, ANY],
    "HR_BUCKETS": [BuildTuning().buckets, ANY],
}
PROGRAMS: Programs = (  # the sizes of benchmarks are compiled at their first use
    *(("small_batch.cu", {**widths, **SLOT_BYTES, "HR_THREADS": [BLOCK_ROWS]}) for widths in WIDTHS),
    *(("bulk_build.cu", {**_SIZES, **SLOT_BYTES, **widths}) for widths in WIDTHS),
)
