"""Lists the sizes of the kernels that find a pattern; launches and the program list are computed from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from headrace.gpu.kernels.source import ANY, Programs

FORMS = (1, 2, 4, 5, 8, 15, 19)  # methods of the filter (filter.cuh)
TILES_PER_BLOCK = 8  # tiles whose positions a block writes (positions.cu)
THREADS = 256  # threads of a block of the other kernels
ROWS_OF_WORDS = 2  # vectors of 16 bytes of a thread that has a word of marks: the tiles of the published methods (paper/)


@dataclass(frozen=True, slots=True)
class FindTuning:
    """Sizes of a search: threads of a block, and vectors of 16 bytes per thread."""

    threads: int = 256
    rows: int = 8

    @property
    def tile_marks(self) -> int:
        """Positions of a tile."""
        return self.threads * self.rows * 16

    def search(self, form: int) -> dict[str, Any]:
        """Return the macros of search.cu, the same object each time: launches know their kernels by it."""
        return _search_defines(self, form)

    def positions(self) -> dict[str, Any]:
        """Return the macros of positions.cu, the same object each time."""
        return _position_defines(self)


@lru_cache(maxsize=16)
def _search_defines(tuning: FindTuning, form: int) -> dict[str, Any]:
    return {"HR_FORM": form, "HR_THREADS": tuning.threads, "HR_ROWS": tuning.rows}


@lru_cache(maxsize=16)
def _position_defines(tuning: FindTuning) -> dict[str, Any]:
    return {"HR_THREADS": tuning.threads, "HR_TILES": TILES_PER_BLOCK, "HR_TILE_WORDS": tuning.tile_marks // 32}


def _listed(sizes: Mapping[str, int]) -> dict[str, Sequence[Any]]:
    """Return sizes as a row of a program list, in which each value is a list."""
    return {name: [value] for name, value in sizes.items()}


TUNING = FindTuning()

PROGRAMS: Programs = (
    ("search.cu", {**_listed(TUNING.search(0)), "HR_FORM": FORMS}),
    ("positions.cu", {**_listed(TUNING.positions()), "HR_TILE_WORDS": [TUNING.tile_marks // 32, ANY]}),
    ("linear.cu", {"HR_THREADS": [THREADS]}),
    ("spaced.cu", {"HR_THREADS": [THREADS]}),
    ("replace.cu", {"HR_THREADS": [THREADS]}),
)
