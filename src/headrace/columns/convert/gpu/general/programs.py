"""Lists the programs that the kernels of this folder are compiled to (docs/writing-a-kernel.md, section 6)."""

from collections.abc import Sequence

from headrace.columns.convert.gpu.tuning import ALL_FAMILIES, LISTED_DEFINES
from headrace.gpu.kernels.source import ANY, SUBSET, Programs, Value

_TILE = {"HR_THREADS": [256], "HR_TILE": [16384], "HR_WINDOW": [4096], "HR_BLOCKS": [4], "HR_SPAN": [1]}
_WIDE = {"HR_THREADS": [512], "HR_TILE": [49152], "HR_BLOCKS": [2], "HR_SPAN": [3]}
_FAMILIES: dict[str, Sequence[Value]] = {"HR_FAMILIES": [ALL_FAMILIES, SUBSET]}

PROGRAMS: Programs = (
    # Without quotes, with quotes, and by the DFA; for each the kernel that converts and the one that measures strings.
    ("convert.cu", {**_TILE, "HR_QUOTES": [0, 1, 2], "HR_WRITES": [0, 1], **_FAMILIES}),
    # The same for long records of many columns. Strings with quotes are measured by smaller tiles, and converted by a program
    # that is compiled at its first use.
    ("convert.cu", {**_WIDE, "HR_QUOTES": [0], "HR_WINDOW": [8704], "HR_WRITES": [1], **_FAMILIES}),
    ("convert.cu", {**_WIDE, "HR_QUOTES": [0], "HR_WINDOW": [8704], "HR_WRITES": [0], "HR_FAMILIES": [ANY]}),
    ("convert.cu", {**_WIDE, "HR_QUOTES": [1], "HR_WINDOW": [4352], "HR_WRITES": [1], "HR_FAMILIES": [ANY]}),
    ("listed_strings.cu", {name: [ANY] for name in LISTED_DEFINES}),
)
