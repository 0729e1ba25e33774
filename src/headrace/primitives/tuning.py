"""Lists the sizes of the kernels for scan, reduce, select and copy; launches and the program list are computed from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headrace.gpu.kernels.source import ANY, Programs

WIDTHS = (1, 2, 4, 8, 16)  # bytes of an item that copies and selections take
_COPIED_WIDTHS, _SELECTED_WIDTHS = (1, ANY), (4, 8, ANY)
"""Others are rare: their programs are compiled at their first use. A scan copies bytes."""
ITEMS = ("u32", "i32", "u64", "i64", "float", "double")
SUMMED_ITEMS = ("u32", "u64")  # types whose sums are scanned: sums of signed items have the bits of unsigned ones

SCAN_LARGE = {"HR_THREADS": 192, "HR_ROWS": 9, "HR_STAGES": 8, "HR_REDUCERS": 6, "HR_LOOK": 5}
"""For blocks with 227 KiB of shared memory (bench/results/h200/2026-11-21-scan-and-selection.md)."""
SCAN_SMALL = {"HR_THREADS": 128, "HR_ROWS": 9, "HR_STAGES": 4, "HR_REDUCERS": 4, "HR_LOOK": 5}
"""A ring of 72 KiB, which every device has."""
SELECT_LARGE = {"HR_THREADS": 768, "HR_ROWS": 3, "HR_STAGES": 3, "HR_COUNTERS": 6, "HR_LOOK": 5, "HR_BATCH": 8, "HR_BLOCKS": 1}
"""For blocks with 227 KiB of shared memory: of the sizes tried, the best for the worst share of selected items."""
SELECT_SMALL = {"HR_THREADS": 256, "HR_ROWS": 3, "HR_STAGES": 3, "HR_COUNTERS": 2, "HR_LOOK": 5, "HR_BATCH": 8, "HR_BLOCKS": 1}
REDUCE = {"HR_THREADS": 256, "HR_ROWS": 4}
FLOAT_SCAN = {"HR_THREADS": 64}
FLOAT_SUM = {"HR_THREADS": 256, "HR_ROWS": 16}


def has_large_ring(capability: tuple[int, int]) -> bool:
    """Return whether blocks of a compute capability have 227 KiB of shared memory: data centre devices since 9.0."""
    return capability[0] in {9, 10}


def programs() -> Iterator[tuple[str, Mapping[str, Sequence[Any]]]]:
    """Yield each program that the primitives can launch."""
    yield "copy.cu", {"HR_WIDTH": _COPIED_WIDTHS}
    # Minima and maxima are scanned seldom: these programs are compiled when a call asks for them.
    for scan in (SCAN_SMALL, SCAN_LARGE):
        yield "scan.cu", {"HR_OPERATOR": ["Sum"], "HR_ITEM": SUMMED_ITEMS, **_listed(scan)}
        yield "scan.cu", {"HR_OPERATOR": [ANY], "HR_ITEM": ITEMS, **_listed(scan)}
    yield "reduce.cu", {"HR_OPERATOR": ["Sum"], "HR_ITEM": ["u64"], **_listed(REDUCE)}
    yield "reduce.cu", {"HR_OPERATOR": ["Sum"], "HR_ITEM": ["u64"], "HR_SOURCE": ["i32", ANY], **_listed(REDUCE)}
    yield "reduce.cu", {"HR_OPERATOR": ["Min", "Max"], "HR_ITEM": ["i32", "i64", "float", "double", ANY], **_listed(REDUCE)}
    # Tests combine affine maps, which do not commute; that operator is compiled when a test asks for it.
    yield "reduce.cu", {"HR_OPERATOR": [ANY], "HR_ITEM": ["u32"], **_listed(REDUCE)}
    yield "float_sum.cu", {"HR_ITEM": ["float", "double"], **_listed(FLOAT_SUM)}
    yield "float_scan.cu", {"HR_ITEM": ["float", "double"], **_listed(FLOAT_SCAN)}
    for select in (SELECT_SMALL, SELECT_LARGE):
        yield "select.cu", {"HR_WIDTH": _SELECTED_WIDTHS, **_listed(select)}


def _listed(sizes: Mapping[str, int]) -> dict[str, Sequence[Any]]:
    """Return sizes as a row of a program list, in which each value is a list."""
    return {name: [value] for name, value in sizes.items()}


PROGRAMS: Programs = tuple(programs())
