"""Sorts in one launch: rank_sort.cu, block_radix_sort.cu (one block), or cooperative_sort.cu (blocks that meet).

The one block is the hybrid's; it shares its shape with those that sort parts.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from headrace.arrange.sort.gpu.common.launch import Keys, Moved, packed_arrays
from headrace.arrange.sort.gpu.lsd.lsd import tile_bytes
from headrace.gpu.kernels.kernel import LaunchMode
from headrace.gpu.kernels.launcher import Entry, Launcher, Room, Shape

SOURCE, TARGET, BETWEEN = 0, 1, 2
"""A ``Place`` of device_plan.cuh."""


@dataclass(frozen=True, slots=True)
class BlockShape:
    """A block that sorts, alone or where it `meets` others: bits of a digit, threads, keys of a thread, blocks of a
    multiprocessor.
    """

    bits: int
    threads: int
    items: int
    resident: int
    meets: bool = False

    @property
    def keys(self) -> int:
        """Keys it has room for."""
        return self.threads * self.items

    def local(self, keys: Keys, blocks: int, *, has_values: bool) -> Shape:
        """Of block_radix_sort.cu."""
        shared = tile_bytes(self.threads, self.items, keys.width + 2 * has_values, 1 << self.bits)
        return Shape(self._defines(keys, has_values=has_values), blocks, self.threads, shared)

    def _defines(self, keys: Keys, *, has_values: bool) -> Mapping[str, Any]:
        sizes = ("HR_BITS", self.bits), ("HR_THREADS", self.threads), ("HR_ITEMS", self.items), ("HR_BLOCKS", self.resident)
        return keys.defines(*sizes, ("HR_VALUES", int(has_values)))

    def meeting(self, keys: Keys, count: int, *, has_values: bool) -> Shape:
        """Of cooperative_sort.cu."""
        shared = tile_bytes(self.threads, self.items, keys.width + 4 * has_values, 1 << self.bits)
        return Shape(self._defines(keys, has_values=has_values), self.blocks(count), self.threads, shared)

    def blocks(self, count: int) -> int:
        """That have so many keys together."""
        return -(-count // self.keys)


@dataclass(frozen=True, slots=True)
class RankShape:
    """Blocks that rank their own keys among all: threads, and own keys by 32, at most one a thread."""

    threads: int
    own: int

    def blocks(self, count: int) -> int:
        """Of so many keys."""
        return -(-count // (32 * self.own))

    def shape(self, keys: Keys, count: int) -> Shape:
        """Of rank_sort.cu."""
        defines = keys.defines(("HR_THREADS", self.threads), ("HR_OWN", self.own))
        return Shape(defines, self.blocks(count), self.threads)


Way = RankShape | BlockShape


def meeting_block(items: int) -> BlockShape:
    """Of so many keys a thread."""
    return BlockShape(8, 512, items, 1, meets=True)


_RANKS = ((1 << 12, RankShape(512, 1)), (1 << 13, RankShape(512, 2)), (1 << 14, RankShape(512, 4)))
_SHORT = ((1 << 19, meeting_block(8)),)
_MEETING = tuple(meeting_block(items) for items in (2, 4, 8, 16))
_WORDS = ((1 << 16, _MEETING[0]), (1 << 17, _MEETING[1]), (1 << 18, _MEETING[2]), (1 << 20, _MEETING[3]))


@dataclass(frozen=True, slots=True)
class SmallShapes:
    """Which way up to how many keys, by bytes of a key.

    Parameters
    ----------
    ranking
        Blocks that rank their own keys among all; of 8 bytes up to more keys, as eight digits' meetings take longer than four's.
    meeting, meeting_with_values
        Blocks that meet.
    """

    ranking: tuple[tuple[int, tuple[tuple[int, RankShape], ...]], ...] = (
        (1, _RANKS),
        (2, _RANKS),
        (4, _RANKS),
        (8, (*_RANKS, (1 << 15, RankShape(512, 8)))),
    )
    meeting: tuple[tuple[int, tuple[tuple[int, BlockShape], ...]], ...] = (
        (1, _SHORT),
        (2, _SHORT),
        (4, _WORDS),
        (8, _WORDS),
    )
    meeting_with_values: tuple[tuple[int, tuple[tuple[int, BlockShape], ...]], ...] = (
        (1, _SHORT),
        (2, _SHORT),
        (4, _WORDS),
        (8, (*_WORDS[:2], (1 << 19, _MEETING[2]))),
    )

    def way(self, width: int, count: int, multiprocessors: int, *, has_values: bool) -> Way | None:
        """Which it is; nothing: one launch does not do it. Blocks wait for each other, of ranks in place, so they are one a
        multiprocessor at most.
        """
        meeting = dict(self.meeting_with_values if has_values else self.meeting).get(width, ())
        found: list[tuple[int, Way]] = [*dict(self.ranking).get(width, ()), *meeting]
        for most, way in found:
            if count <= most and way.blocks(count) <= multiprocessors:
                return way
        return None


def sort_alone(launcher: Launcher, keys: Keys, shape: BlockShape, arrays: tuple[Moved, Sequence[Moved]], count: int, *,
               writes_keys: bool) -> None:  # fmt: skip
    """One block, up to `BlockShape.keys`. It needs no memory; targets may be sources."""
    moved, columns = arrays
    only = struct.pack("<4Q4I", 0, 0, 0, 0, 0, count, 8 * keys.width, SOURCE)
    args = (only, keys.rule, packed_arrays(moved, columns), int(writes_keys))
    launcher.launch(local_entry(len(keys.rule)), shape.local(keys, 1, has_values=bool(columns)), args)


def sort_by_ranks(launcher: Launcher, keys: Keys, shape: RankShape, arrays: tuple[Moved, Sequence[Moved]], count: int, *,
                  writes_keys: bool, counters: Callable[[], Room]) -> None:  # fmt: skip
    """Each block ranks its own keys among all. It needs no memory, but in place 16 bytes that are zero, and are so again."""
    moved, columns = arrays
    meets = any(one.in_place for one in (moved, *columns))
    args = (count, keys.rule, packed_arrays(moved, columns), int(writes_keys), counters() if meets else None)
    launcher.launch(_rank_entry(len(keys.rule), meets), shape.shape(keys, count), args)


def sort_together(launcher: Launcher, keys: Keys, shape: BlockShape, arrays: tuple[Moved, Sequence[Moved]], count: int, *,
                  writes_keys: bool, counters: Callable[[], Room]) -> None:  # fmt: skip
    """Blocks that meet; targets may be sources.

    It takes twice `keys.width` bytes a key, 8 more where something goes with them, 4 for each block and value of a digit, and 16
    that are zero, and are so again.
    """
    moved, columns = arrays
    sizes = shape.blocks(count) * (4 << shape.bits), 2 * count * keys.width, 8 * count if columns else 0
    rooms = [counters(), *(launcher.room(nbytes) for nbytes in sizes)]  # held until the launch is told
    memory = struct.pack("<4Q", *(room.address for room in rooms))
    args = (count, keys.rule, packed_arrays(moved, columns), int(writes_keys), memory)
    launcher.launch(_small_entry(len(keys.rule)), shape.meeting(keys, count, has_values=bool(columns)), args)


@lru_cache(8)
def local_entry(rule: int) -> Entry:
    """Of block_radix_sort.cu, for a ``KeyRule`` of so many bytes."""
    return Entry("arrange/sort/gpu/msd/block_radix_sort.cu", "sort_local", f"48s{rule}s296sI", mode=LaunchMode.EARLY)


@lru_cache(8)
def _small_entry(rule: int) -> Entry:
    return Entry(
        "arrange/sort/gpu/single_launch/cooperative_sort.cu", "sort_small", f"I{rule}s296sI32s", mode=LaunchMode.COOPERATIVE
    )


@lru_cache(16)
def _rank_entry(rule: int, meets: bool) -> Entry:
    mode = LaunchMode.COOPERATIVE if meets else LaunchMode.ORDERED
    return Entry("arrange/sort/gpu/single_launch/rank_sort.cu", "sort_rank", f"I{rule}s296sIP", mode=mode)
