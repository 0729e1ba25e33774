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

    @property
    def sample_keys(self) -> int:
        """Return the number of keys in the sample: 32 of a thread of one block."""
        return 32 * self.threads

    @property
    def max_distinct(self) -> int:
        """Largest number of distinct keys, with which half of the slots are empty."""
        return 1 << self.bits - 1

    def tile_keys(self, width: int) -> int:
        """Return the keys of a width that a block takes at a time."""
        return self.threads * self.rows * 16 // width


DISTINCT_TABLES = {4: TableTuning(bits=21), 8: TableTuning()}  # by width of keys; those of 8 bytes are dearer to sort
TABLE_MIN_KEYS = 1 << 25  # fewer keys were not measured

PROGRAMS: Programs = (
    ("search.cu", {"HR_KEY": [KEY_TYPES[4], KEY_TYPES[8], ANY], "HR_THREADS": [SEARCH_THREADS], "HR_TURNS": [TURNS]}),
    ("distinct_runs.cu", {"HR_KEY": [ANY], "HR_THREADS": [RUN_THREADS], "HR_ROWS": [RUN_ROWS]}),
    ("distinct_table.cu", {"HR_KEY": [ANY], "HR_THREADS": [ANY], "HR_ROWS": [ANY]}),
)
