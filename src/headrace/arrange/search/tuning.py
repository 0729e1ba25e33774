"""Lists the sizes of the search kernels; launches and the program list are computed from it."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.gpu.kernels.source import ANY, Programs

SEARCH_THREADS = 256
TURNS = 4  # keys per thread
RUN_THREADS = 512
RUN_ROWS = 4  # vectors of 16 bytes per thread
KEY_TYPES = {1: "u8", 2: "u16", 4: "u32", 8: "u64"}  # types of keys that kernels are compiled for, by width


@dataclass(frozen=True, slots=True)
class TableTuning:
    """Sizes of a hash table of distinct keys, and the shares of them that it is for."""

    threads: int = 512
    rows: int = 2  # vectors of 16 bytes per thread
    blocks: int = 4  # of a multiprocessor
    bits: int = 22  # logarithm of the slots
    sample_keys: int = 1 << 17
    max_share: float = 0.968  # of distinct keys in the sample; of an even spread over `max_distinct` keys
    min_keys: int = 1 << 25  # fewer keys were not measured

    @property
    def max_distinct(self) -> int:
        """Largest number of distinct keys, with which half of the slots are empty."""
        return 1 << self.bits - 1

    def tile_keys(self, width: int) -> int:
        """Return the keys of a width that a block takes at a time."""
        return self.threads * self.rows * 16 // width


DISTINCT_TABLE = TableTuning()
TABLE_WIDTHS = (4, 8)  # of keys that are compared and exchanged in one access

PROGRAMS: Programs = (
    ("search.cu", {"HR_KEY": [KEY_TYPES[4], KEY_TYPES[8], ANY], "HR_THREADS": [SEARCH_THREADS], "HR_TURNS": [TURNS]}),
    ("distinct_runs.cu", {"HR_KEY": [ANY], "HR_THREADS": [RUN_THREADS], "HR_ROWS": [RUN_ROWS]}),
    ("distinct_table.cu", {"HR_KEY": [ANY], "HR_THREADS": [DISTINCT_TABLE.threads], "HR_ROWS": [DISTINCT_TABLE.rows]}),
)
