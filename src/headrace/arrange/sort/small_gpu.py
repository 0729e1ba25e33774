"""A sort of few keys in one launch: by one block (sort_local.cu), or by a few that meet (sort_small.cu)."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from headrace.arrange.sort.digits_gpu import tile_bytes
from headrace.arrange.sort.launch_gpu import Keys, Moved, packed_arrays
from headrace.core.gpu.launcher import Entry, Launcher, Room, Shape

SOURCE, TARGET, BETWEEN = 0, 1, 2
"""A ``Place`` of plan.cuh."""


@dataclass(frozen=True, slots=True)
class BlockShape:
    """A block that sorts: bits of a digit, threads, keys of a thread, blocks of a multiprocessor."""

    bits: int
    threads: int
    items: int
    resident: int

    @property
    def keys(self) -> int:
        """Keys it has room for."""
        return self.threads * self.items

    def local(self, keys: Keys, blocks: int, *, has_values: bool) -> Shape:
        """Of sort_local.cu."""
        shared = tile_bytes(self.threads, self.items, keys.width + 2 * has_values, 1 << self.bits)
        return Shape(self._defines(keys, has_values=has_values), blocks, self.threads, shared)

    def _defines(self, keys: Keys, *, has_values: bool) -> Mapping[str, Any]:
        sizes = ("HR_BITS", self.bits), ("HR_THREADS", self.threads), ("HR_ITEMS", self.items), ("HR_BLOCKS", self.resident)
        return keys.defines(*sizes, ("HR_VALUES", int(has_values)))

    def meeting(self, keys: Keys, count: int, *, has_values: bool) -> Shape:
        """Of sort_small.cu."""
        shared = tile_bytes(self.threads, self.items, keys.width + 4 * has_values, 1 << self.bits)
        return Shape(self._defines(keys, has_values=has_values), -(-count // self.keys), self.threads, shared)


@dataclass(frozen=True, slots=True)
class SmallShapes:
    """By bytes of a key: the block that sorts alone; and those that meet, up to how many keys of all."""

    alone: tuple[tuple[int, BlockShape], ...] = (
        (1, BlockShape(8, 512, 16, 1)),
        (2, BlockShape(8, 512, 16, 1)),
        (4, BlockShape(8, 512, 18, 2)),
        (8, BlockShape(8, 512, 10, 2)),
    )
    meeting: BlockShape = BlockShape(8, 512, 8, 1)
    most_meeting: int = 1 << 16


def sort_alone(launcher: Launcher, keys: Keys, shape: BlockShape, arrays: tuple[Moved, Sequence[Moved]], count: int, *,
               writes_keys: bool) -> None:  # fmt: skip
    """One block, up to `BlockShape.keys`. It needs no memory; targets may be sources."""
    moved, columns = arrays
    only = struct.pack("<4Q4I", 0, 0, 0, 0, 0, count, 8 * keys.width, SOURCE)
    args = (only, keys.rule, packed_arrays(moved, columns), int(writes_keys))
    launcher.launch(local_entry(len(keys.rule)), shape.local(keys, 1, has_values=bool(columns)), args)


class Meeting:
    """A few blocks together.

    Its memory: `keys.width` bytes a key, 4 more where something goes with them, and 4 for each block and value of a digit.

    Parameters
    ----------
    counters
        16 bytes that are zero before a launch and behind it.
    """

    def __init__(self, launcher: Launcher, keys: Keys, shape: BlockShape, count: int, counters: Room) -> None:
        self._launcher, self._keys, self._shape, self._count = launcher, keys, shape, count
        blocks = -(-count // shape.keys)
        self._counters = counters
        self._counts = launcher.room(blocks * (4 << shape.bits))
        self._codes = launcher.room(count * keys.width)
        self._rows = launcher.room(count * 4)

    def run(self, moved: Moved, columns: Sequence[Moved], *, writes_keys: bool) -> None:
        """Sort; targets may be sources."""
        rooms = self._counters, self._counts, self._codes, self._rows
        memory = struct.pack("<4Q", *(room.address for room in rooms))
        args = (self._count, self._keys.rule, packed_arrays(moved, columns), int(writes_keys), memory)
        shape = self._shape.meeting(self._keys, self._count, has_values=bool(columns))
        self._launcher.launch(_small_entry(len(self._keys.rule)), shape, args)


@lru_cache(8)
def local_entry(rule: int) -> Entry:
    """Of sort_local.cu, for a ``KeyRule`` of so many bytes."""
    return Entry("arrange/sort/sort_local.cu", "sort_local", f"48s{rule}s296sI")


@lru_cache(8)
def _small_entry(rule: int) -> Entry:
    return Entry("arrange/sort/sort_small.cu", "sort_small", f"I{rule}s296sI32s")
