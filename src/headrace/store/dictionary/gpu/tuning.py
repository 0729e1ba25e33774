"""Lists the sizes of the kernels of dictionaries; launches and the program list are computed from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from headrace.gpu.kernels.source import ANY, Programs


@dataclass(frozen=True, slots=True)
class MergeTile:
    """A tile of a merge: threads of its block, and values of a thread."""

    threads: int
    values: int

    @property
    def defines(self) -> dict[str, Any]:
        """Macros of its programs."""
        return {"HR_THREADS": self.threads, "HR_THREAD_VALUES": self.values}

    def blocks(self, values: int) -> int:
        """Return the number of tiles of `values` values."""
        return -(-values // (self.threads * self.values))


@dataclass(frozen=True, slots=True)
class Translation:
    """A block of a translation: its threads, and the groups of 32 codes whose loads a warp has under way at once."""

    threads: int
    groups: int

    def defines(self, on_chip: int) -> dict[str, Any]:
        """Return the macros of its programs."""
        return {"HR_THREADS": self.threads, "HR_ON_CHIP": on_chip, "HR_TURN_GROUPS": self.groups}

    def resident_blocks(self, shared: int) -> int:
        """Return the number of blocks with `shared` bytes of shared memory that a device runs at once."""
        of_threads, of_memory = MULTIPROCESSOR_THREADS // self.threads, MULTIPROCESSOR_BYTES // (shared + 1024)
        return MULTIPROCESSORS * max(min(of_threads, of_memory), 1)


VALUE_TILES = {width: MergeTile(256, 19) for width in (1, 2, 4, 8)}  # tiles by width of the values
TEXT_TILE = MergeTile(256, 8)
TRANSLATION = Translation(1024, 8)
VALUE_TYPES = {1: "u8", 2: "u16", 4: "u32", 8: "u64"}  # types of values that kernels are compiled for, by width
BLOCK_CODES = 32  # old codes per block of counts and bits (rules/codes.hpp)
BLOCK_BYTES = 8  # shared memory of a block of counts and bits
ON_CHIP_BYTES = 128 << 10  # maximum shared memory of counts and bits: one thread block a multiprocessor
MULTIPROCESSORS = 132  # multiprocessors of an H100; blocks that load counts and bits are as many as these run at once
MULTIPROCESSOR_THREADS, MULTIPROCESSOR_BYTES = 2048, 224 << 10  # threads and shared memory of a multiprocessor
TRANSLATE_GROUPS = 16  # groups of 32 codes that a warp translates at least


def _merge_programs() -> Iterator[tuple[str, dict[str, list[int | str]]]]:
    for width, tile in VALUE_TILES.items():
        sizes: dict[str, list[int | str]] = {"HR_THREADS": [tile.threads, ANY], "HR_THREAD_VALUES": [tile.values, ANY]}
        yield "merge_numbers.cu", {"HR_VALUE": [VALUE_TYPES[width] if width >= 4 else ANY], **sizes}


PROGRAMS: Programs = (
    *_merge_programs(),
    ("merge_texts.cu", {"HR_THREADS": [TEXT_TILE.threads], "HR_THREAD_VALUES": [TEXT_TILE.values]}),
    (
        "translate.cu",
        {"HR_THREADS": [TRANSLATION.threads, ANY], "HR_ON_CHIP": [0, 1], "HR_TURN_GROUPS": [TRANSLATION.groups, ANY]},
    ),
)
