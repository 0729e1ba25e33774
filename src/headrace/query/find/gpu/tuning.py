"""Lists the sizes of the kernels that find a pattern; launches and the program list are computed from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headrace.gpu.kernels.source import Programs

FORMS = (1, 2, 3, 4, 8, 15, 19)
"""Methods of the filter, by the least length of a pattern (filter.cuh)."""
TILES_PER_BLOCK = 16
"""Tiles whose positions a block writes (positions.cu)."""
THREADS = 256
"""Threads of a block of the other kernels."""


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
        """Return the macros of search.cu."""
        return {"HR_FORM": form, "HR_THREADS": self.threads, "HR_ROWS": self.rows}

    def positions(self) -> dict[str, Any]:
        """Return the macros of positions.cu."""
        return {"HR_THREADS": self.threads, "HR_TILES": TILES_PER_BLOCK, "HR_TILE_WORDS": self.tile_marks // 32}


TUNING = FindTuning()

PROGRAMS: Programs = (
    ("search.cu", {**{name: [value] for name, value in TUNING.search(0).items()}, "HR_FORM": FORMS}),
    ("positions.cu", {name: [value] for name, value in TUNING.positions().items()}),
    ("linear.cu", {"HR_THREADS": [THREADS]}),
    ("spaced.cu", {"HR_THREADS": [THREADS]}),
)
