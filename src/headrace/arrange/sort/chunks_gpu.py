"""A sort of some million keys in one launch: blocks that stay, each with a chunk of the keys (sort_chunks.cu)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from headrace.arrange.sort.digits_gpu import tile_bytes
from headrace.arrange.sort.launch_gpu import Keys, Moved, packed_arrays
from headrace.core.gpu.launcher import Entry, Launcher, Room, Shape

MOST_OF_CHUNK = (1 << 15) - 1
"""As all_counts.cuh packs counts."""
_ROUND = 32


@dataclass(frozen=True, slots=True)
class ChunkShape:
    """Bits of a digit, threads of a block, keys of a thread in a tile."""

    bits: int
    threads: int
    items: int

    def chunk(self, count: int, multiprocessors: int) -> int:
        """Keys of a block, of which there is one a multiprocessor."""
        return -(-count // (multiprocessors * _ROUND)) * _ROUND

    def fits(self, count: int, multiprocessors: int) -> bool:
        """Whether so many keys can be sorted."""
        return self.chunk(count, multiprocessors) <= MOST_OF_CHUNK


def sort_in_chunks(launcher: Launcher, keys: Keys, shape: ChunkShape, arrays: tuple[Moved, Sequence[Moved]], count: int, *,
                   writes_keys: bool, counters: Callable[[], Room], multiprocessors: int) -> None:  # fmt: skip
    """Targets may be sources.

    It takes twice `keys.width` bytes a key, 8 more where something goes with them, what goes with them once where it is sorted in
    place, 4 bytes for each block and value of a digit, and 16 that are zero, and are so again.
    """
    moved, columns = arrays
    chunk = shape.chunk(count, multiprocessors)
    blocks, has_values = -(-count // chunk), bool(columns)
    spare = max((column.width for column in columns if column.in_place), default=0)
    sizes = blocks * (4 << shape.bits), 2 * count * keys.width, 8 * count * has_values, spare * count
    rooms = [counters(), *(launcher.room(nbytes) for nbytes in sizes)]  # held until the launch is told
    memory = struct.pack("<5Q2I", *(room.address for room in rooms), spare, chunk)
    sizes_of_code = ("HR_BITS", shape.bits), ("HR_THREADS", shape.threads), ("HR_ITEMS", shape.items), ("HR_BLOCKS", 1)
    defines = keys.defines(*sizes_of_code, ("HR_VALUES", int(has_values)))
    shared = tile_bytes(shape.threads, shape.items, keys.width + 4 * has_values, 1 << shape.bits)
    args = (count, keys.rule, packed_arrays(moved, columns), int(writes_keys), memory)
    launcher.launch(_entry(len(keys.rule)), Shape(defines, blocks, shape.threads, shared), args)


@lru_cache(8)
def _entry(rule: int) -> Entry:
    return Entry("arrange/sort/sort_chunks.cu", "sort_chunks", f"I{rule}s296sI48s")
