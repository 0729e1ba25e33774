"""Lists the sizes of the kernels that run automata; launches and the program list are computed from it."""

from __future__ import annotations

from dataclasses import dataclass, field

from headrace.gpu.kernels.source import Programs
from headrace.query.find.gpu.tuning import FindTuning

_MANY_STATES = 64


@dataclass(frozen=True, slots=True)
class MatchTuning:
    """Sizes of a search: threads of a block, bytes of a chunk for few and many states, maps of a group, sizes of marks."""

    threads: int = 256
    chunk: int = 256
    large_chunk: int = 1024
    group: int = 32
    marks: FindTuning = field(default_factory=FindTuning)

    def defines(self) -> dict[str, int]:
        """Return the macros of match.cu."""
        return {"HR_THREADS": self.threads}

    def chunk_for(self, states: int) -> int:
        """Return the bytes of a chunk, whose map has a byte a state."""
        return self.chunk if states <= _MANY_STATES else self.large_chunk


TUNING = MatchTuning()

PROGRAMS: Programs = (("match.cu", {"HR_THREADS": [TUNING.threads]}),)
