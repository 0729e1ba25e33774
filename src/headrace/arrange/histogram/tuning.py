"""Lists the sizes of the histogram kernels; launches and the program list are computed from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headrace.gpu.kernels.source import ANY, Programs

THREADS, ROWS = 1024, 4  # threads per block, and vectors of 16 bytes per thread and tile
ROWS_OF_BYTES = 2  # `ROWS` for keys of 1 byte: the keys of a tile must fit counters of 16 bits
CELLS_GPU = 14_500
"""Cells of an edge table. Not a multiple of a power of two: skewed keys often share their low bits, and would share a bank."""
CELLS_SMALL = 7001  # cells on devices with 99 KiB of shared memory per block, most of which the counters need
KEYS = ("u8", "u16", "u32", "u64", "float", "double")
"""Types of keys. Signed integers are counted by the kernels of unsigned ones."""


def rows_for(width: int) -> int:
    """Return the vectors per thread and tile for keys of `width` bytes."""
    return ROWS_OF_BYTES if width == 1 else ROWS


def histogram_defines(key: str) -> dict[str, Any]:
    """Return the macros for keys of a type."""
    return {"HR_KEY": key, "HR_THREADS": THREADS, "HR_ROWS": rows_for(1 if key == "u8" else 2)}


def programs() -> Iterator[tuple[str, Mapping[str, Sequence[Any]]]]:
    """Yield each program that `histogram` can launch. Those with `ANY` are compiled when they are first used."""
    for key in KEYS:
        defines = {name: [value] for name, value in histogram_defines(key).items()}
        yield "histogram.cu", {**defines, "HR_KEY": [ANY if key == "u16" else key]}
        if key == "u32":
            yield "histogram.cu", {**defines, "HR_BUCKET": [ANY]}


PROGRAMS: Programs = tuple(programs())
