"""Lists the sizes of the kernels that run automata; launches and the program list are computed from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from headrace.gpu.kernels.source import Programs
from headrace.query.find.gpu.tuning import FindTuning

_MIN_CHUNK_BITS = 5
_MIN_CHUNKS = 16  # `chunks_per_group` of state_maps.cuh


@dataclass(frozen=True, slots=True)
class MatchTuning:
    """Sizes of a search: threads of a block, states in the maps of a tile's chunks, bytes of a window, and sizes of marks.

    A tile has the bytes of a tile of marks.
    """

    threads: int = 256
    map_states: int = 4096
    window: int = 8
    marks: FindTuning = field(default_factory=FindTuning)

    def defines(self, form: int) -> dict[str, int]:
        """Return the macros of match.cu. `form`: that of symbols (``SymbolForm``)."""
        sizes = {"HR_THREADS": self.threads, "HR_TILE": self.marks.tile_marks, "HR_WINDOW": self.window}
        return {**sizes, "HR_SYMBOLS": int(form)}

    def run_defines(self) -> dict[str, int]:
        """Return the macros of runs.cu."""
        return {"HR_THREADS": self.marks.threads, "HR_ROWS": self.marks.rows}

    def chunk_bits(self, states: int) -> int:
        """Return the logarithm of the bytes of a chunk, of which a tile has at most one for each thread."""
        chunks = max(min(self.map_states // states, self.threads), _MIN_CHUNKS)
        return max((self.marks.tile_marks // chunks - 1).bit_length(), _MIN_CHUNK_BITS)

    def shared_bytes(self, states: int, texts: int, tables: Sequence[int]) -> int:
        """Return the dynamic shared memory of a block: symbols of one or two texts, maps, and tables (match.cu)."""
        chunks = self.marks.tile_marks >> self.chunk_bits(states)
        maps = [chunks * states, chunks * states, (chunks // _MIN_CHUNKS + 1) * states, 2 * chunks * states]
        parts = [self.marks.tile_marks + 4 * chunks] * texts + maps + [256, *tables]
        return sum(-(-part // 16) * 16 for part in parts)


TUNING = MatchTuning()

PROGRAMS: Programs = (
    ("match.cu", {**{name: [value] for name, value in TUNING.defines(0).items()}, "HR_SYMBOLS": [1, 0, 2]}),
    ("runs.cu", {name: [value] for name, value in TUNING.run_defines().items()}),
)
