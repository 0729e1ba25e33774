"""Lists the programs that the kernels of this folder are compiled to (docs/writing-a-kernel.md, section 6)."""

from __future__ import annotations

from collections.abc import Sequence

from headrace.columns.convert.gpu.tuning import ALL_KINDS, TEXT_KIND, USUAL_KINDS
from headrace.gpu.kernels.source import ANY, SUBSET, Programs, Value

_PLAIN = {"HR_QUOTES": [0], "HR_TILE": [16384], "HR_HEAD": [512], "HR_RECORD_BYTES": [8]}
_STRINGS = {**_PLAIN, "HR_RECORD_BYTES": [4]}
_QUOTED = {"HR_QUOTES": [1], "HR_TILE": [16384], "HR_HEAD": [2048], "HR_RECORD_BYTES": [8]}
_DFA = {**_QUOTED, "HR_QUOTES": [2], "HR_HEAD": [1024]}
_NUMBER, _WIDE = {**_PLAIN, "HR_RECORD_BYTES": [2]}, {**_PLAIN, "HR_RECORD_BYTES": [64]}
_CONVERTED: dict[str, Sequence[Value]] = {"HR_WRITES": [1], "HR_KINDS": [ALL_KINDS, USUAL_KINDS, SUBSET]}
_USUAL: dict[str, Sequence[Value]] = {"HR_WRITES": [1], "HR_KINDS": [USUAL_KINDS, SUBSET]}
_NUMBERS: dict[str, Sequence[Value]] = {"HR_WRITES": [1], "HR_KINDS": [ALL_KINDS & ~TEXT_KIND, USUAL_KINDS & ~TEXT_KIND, SUBSET]}
_USUAL_NUMBERS: dict[str, Sequence[Value]] = {"HR_WRITES": [1], "HR_KINDS": [USUAL_KINDS & ~TEXT_KIND, SUBSET]}
_NULLS: dict[str, Sequence[Value]] = {"HR_NULLS": [0, ANY]}
_MEASURED = {"HR_THREADS": [128], "HR_RECORDS": [1], "HR_WRITES": [0]}

PROGRAMS: Programs = (
    # The conversion: without quotes and with strings, without both, of a single column or many without both, with quotes,
    # by the DFA. Programs that also have the unusual forms take up to twice as long. Rare ones are compiled at their first use.
    ("convert_rows.cu", {**_STRINGS, "HR_THREADS": [192], "HR_RECORDS": [1], "HR_BLOCKS": [6], **_CONVERTED}),
    ("convert_rows.cu", {**_PLAIN, "HR_THREADS": [128], "HR_RECORDS": [2], "HR_BLOCKS": [8], **_NUMBERS}),
    ("convert_rows.cu", {**_NUMBER, "HR_THREADS": [128], "HR_RECORDS": [2], "HR_BLOCKS": [6], **_USUAL_NUMBERS}),
    ("convert_rows.cu", {**_WIDE, "HR_THREADS": [64], "HR_RECORDS": [1], "HR_BLOCKS": [10], **_USUAL_NUMBERS}),
    ("convert_rows.cu", {**_QUOTED, "HR_THREADS": [160], "HR_RECORDS": [1], "HR_BLOCKS": [7], **_CONVERTED}),
    ("convert_rows.cu", {**_DFA, "HR_THREADS": [192], "HR_RECORDS": [1], "HR_BLOCKS": [6], **_USUAL}),
    # The kernels that measure strings, without quotes, with them and by the DFA: after the search, and during it.
    ("convert_rows.cu", {**_STRINGS, **_MEASURED, **_NULLS, "HR_BLOCKS": [8]}),
    ("convert_rows.cu", {**_QUOTED, **_MEASURED, **_NULLS, "HR_BLOCKS": [8]}),
    ("convert_rows.cu", {**_DFA, **_MEASURED, **_NULLS, "HR_BLOCKS": [8]}),
    ("measure_rows.cu", {**_STRINGS, **_MEASURED, "HR_UNROLL": [3], "HR_BLOCKS": [12]}),
    ("measure_rows.cu", {**_QUOTED, **_MEASURED, "HR_UNROLL": [3], "HR_BLOCKS": [10]}),
)
