"""Launches of arrange/multisplit/gpu/split.cu: one digit's pass over keys and what goes with them."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from headrace.gpu.kernels.launcher import Entry, Launcher, Room, Shape

BY_CHUNKS, BY_LOOK_BACK = 0, 1
"""As split_place.cuh has them."""
MOST_BY_U32 = (1 << 32) - (1 << 17)
"""Keys whose places have 32 bits (split_tile.cuh)."""
MOST_COLUMNS = 8
DIGIT_BITS = 8
VALUE_BYTES = 4
LOOK_BACK_KEYS = 1 << 30
MOST_BY_WARPS = 32
"""Buckets: a lane for each."""
KEY_BYTES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8}
DIGIT_BYTES = (16, 32, 48)
"""Of a ``Digit``, by the rules of the keys that are split as they are."""

_COUNT = {size: Entry("arrange/multisplit/gpu/count.cu", "split_count", f"P24s{size}sPPP") for size in DIGIT_BYTES}
_BASES = Entry("arrange/multisplit/gpu/count.cu", "split_bases", "PPIPPPI")
_SPLIT = {size: Entry("arrange/multisplit/gpu/split.cu", "split", f"PPQ{size}s40s168s") for size in DIGIT_BYTES}
_RESERVE = Entry("arrange/multisplit/gpu/reserve.cu", "split_reserve", "PPQ16sP")
_COUNT_WARPS = Entry("arrange/multisplit/paper/warp_level.cu", "count_warps", "PQ16sQPP")
_SPLIT_WARPS = Entry("arrange/multisplit/paper/warp_level.cu", "split_warps", "PPQ16sQP168sI")


@dataclass(frozen=True, slots=True)
class Column:
    """Items that move: where they are, where they go, and bytes of an item."""

    source: Room
    target: Room
    width: int


@dataclass(frozen=True, slots=True)
class Pass:
    """What a pass is done by.

    Parameters
    ----------
    key
        Type of the keys in the sources.
    rule
        Name of the rule there.
    digit
        Bytes of a ``Digit``.
    count
        How many digits there are, 256 at most.
    bucket
        Of rule ``"Computed"`` the expression's text.
    least_bits
        Kernels for fewer bits of a digit are not to be taken.
    """

    key: str
    rule: str
    digit: bytes
    count: int
    bucket: str = ""
    least_bits: int = 1

    @property
    def bits(self) -> int:
        """Bits of a digit that kernels are compiled for."""
        if self.key != "u32":
            return DIGIT_BITS
        least = max((self.count - 1).bit_length(), self.least_bits)
        return next(bits for bits in (1, 5, DIGIT_BITS) if bits >= least)

    @property
    def digits(self) -> int:
        """Digits of those kernels."""
        return 1 << self.bits


def bits_pass(key: str, low: int, high: int) -> Pass:
    """By the bits `low` to below `high`."""
    count = 1 << (high - low)
    return Pass(key, "BitsOf", struct.pack("<4I", low, count - 1, count - 1, 0), count)


@dataclass(frozen=True, slots=True)
class Shapes:
    """Sizes that kernels are compiled for, as programs.py lists them, and how keys are cut; tests have smaller ones."""

    keys: tuple[int, int, int] = (512, 24, 2)
    with_values: tuple[int, int, int] = (384, 16, 2)
    long_keys: tuple[int, int, int] = (512, 12, 2)
    long_keys_with_values: tuple[int, int, int] = (512, 12, 1)
    reserving: tuple[int, int, int] = (512, 30, 2)
    reserving_long: tuple[int, int, int] = (512, 14, 2)
    counting: tuple[int, int] = (256, 4)
    warps: tuple[int, int] = (256, 8)
    multiprocessors: int = 132
    groups_of_multiprocessor: int = 4
    warps_of_multiprocessor: int = 64
    keys_of_chunk: tuple[int, int, int] = (36864, 49152, 1)
    """By bits of a digit: 1, 5, 8; a tile at least. Keys of one digit should go where those of chunks do that are split at the
    same time."""
    together: tuple[int, int, int] = (512, 20, 2)
    """For those by at most 5 bits, with one column of 4 bytes that moves together with them."""
    alone: tuple[int, int, int] = (768, 24, 1)
    """For those by more, or with more columns of 4 bytes."""
    most_by_u32: int = MOST_BY_U32

    def split(self, by: Pass, how: int, widths: Sequence[int] = ()) -> tuple[int, int, int]:
        """Threads of a block, keys of a thread, and blocks of a multiprocessor; `widths` of what goes with keys."""
        if by.key == "u64":
            return self.long_keys_with_values if widths else self.long_keys
        if how == BY_CHUNKS and self.moves_together(by, widths):
            return self.together
        if how == BY_CHUNKS and (by.key, by.rule, set(widths)) == ("u32", "BitsOf", {4}):
            return self.alone
        return self.with_values if widths else self.keys

    def moves_together(self, by: Pass, widths: Sequence[int]) -> bool:
        """Whether values move together with their keys by chunks, and do not follow them."""
        return (by.key, by.rule, list(widths)) == ("u32", "BitsOf", [4]) and by.bits < DIGIT_BITS


class Splitter:
    """Passes over so many keys."""

    def __init__(self, launcher: Launcher, count: int, shapes: Shapes) -> None:
        self.launcher = launcher
        self.count = count
        self.shapes = shapes

    def run(self, by: Pass, columns: Sequence[Column], offsets: Room | None) -> Room:
        """Split by chunks; the first of `columns` are the keys.

        Returns
        -------
        Room
            Of each digit how many there are, and last how many keys are in none, 64 bits each.
        """
        threads, items, _ = self.shapes.split(by, BY_CHUNKS, [column.width for column in columns[1:]])
        tile = threads * items
        length = tile * max(1, self.shapes.keys_of_chunk[(1, 5, 8).index(by.bits)] // tile)
        chunks = -(-self.count // length)
        group = -(-chunks // (self.shapes.multiprocessors * self.shapes.groups_of_multiprocessor))
        groups = -(-chunks // group)
        counts = self.launcher.room(chunks * by.digits * 4)
        of_groups = self.launcher.room(groups * by.digits * 4)
        bases = self.launcher.room(groups * by.digits * 8)
        totals = self._count(by, columns[0].source, (length, group, groups), (counts, of_groups))
        self._bases(by, (of_groups, totals, groups, bases), offsets)
        places = struct.pack("<4Q2I", bases.address, counts.address, length, 0, 0, group)
        self._split(by, BY_CHUNKS, chunks, places, columns)
        return totals

    def run_by_look_back(self, by: Pass, columns: Sequence[Column], offsets: Room | None) -> Room:
        """The same by decoupled look-back, of 2**30 keys at most."""
        starts, totals = self.starts(by, columns[0].source, offsets)
        threads, items, resident = self.shapes.split(by, BY_LOOK_BACK, [column.width for column in columns[1:]])
        tiles = -(-self.count // (threads * items))
        memory = self.launcher.room(16 + tiles * by.digits * 8, fill=0)
        places = struct.pack("<4Q2I", starts.address, 0, 0, memory.address, 1, 1)
        self._split(by, BY_LOOK_BACK, min(tiles, self.shapes.multiprocessors * resident), places, columns)
        return totals

    def run_by_reserving(self, by: Pass, keys: Column, cursors: Room) -> None:
        """In no order within a digit: each tile takes room at `cursors`, where each digit's next key goes."""
        threads, items, resident = self.shapes.reserving_long if by.key == "u64" else self.shapes.reserving
        tiles = -(-self.count // (threads * items))
        to = "u32" if self.count < 1 << 32 else "u64"
        room = bin_keys(threads * items, by.digits)
        sizes = ("HR_THREADS", threads), ("HR_ITEMS", items), ("HR_BLOCKS", resident), ("HR_BIN", room), ("HR_TO", to)
        blocks = min(tiles, self.shapes.multiprocessors * resident)
        shape = Shape(_defines(by, sizes), blocks, threads, bins_bytes(room, by.digits, KEY_BYTES[by.key]))
        self.launcher.launch(_RESERVE, shape, (keys.source, keys.target, self.count, by.digit, cursors))

    def run_by_warps(self, by: Pass, columns: Sequence[Column], offsets: Room | None, *, reorders: bool) -> Room:
        """As `run` with a chunk for each warp, directly or reordered; up to 32 digits."""
        keys, moved = columns[0], columns[1:]
        threads, items = self.shapes.warps
        warps, tile = threads // 32, 32 * items
        most = self.shapes.multiprocessors * self.shapes.warps_of_multiprocessor
        length = -(-max(1, -(-self.count // most)) // tile) * tile
        blocks = -(-self.count // (length * warps))
        counts = self.launcher.room(blocks * warps * by.digits * 4)
        bases = self.launcher.room(blocks * warps * by.digits * 8)
        totals = self.launcher.room((by.digits + 1) * 8, fill=0)
        defines = _defines(by, (("HR_REORDER", int(reorders)), ("HR_THREADS", threads), ("HR_ITEMS", items)))
        counting = Shape(defines, blocks, threads)
        self.launcher.launch(_COUNT_WARPS, counting, (keys.source, self.count, by.digit, length, counts, totals))
        self._bases(by, (counts, totals, blocks * warps, bases), offsets)
        widest = max(8, *(column.width for column in columns))
        splitting = Shape(defines, blocks, threads, warps * tile * (KEY_BYTES[by.key] + widest) * reorders)
        for first in range(0, max(1, len(moved)), MOST_COLUMNS):
            some = packed(moved[first : first + MOST_COLUMNS])
            args = (keys.source, keys.target, self.count, by.digit, length, bases, some, widest)
            self.launcher.launch(_SPLIT_WARPS, splitting, args)
        return totals

    def starts(self, by: Pass, keys: Room, offsets: Room | None = None) -> tuple[Room, Room]:
        """Where each digit begins, 64 bits each, and what `run` returns."""
        most = self.shapes.multiprocessors * self.shapes.groups_of_multiprocessor
        length = -(-self.count // (most * 16384)) * 16384
        groups = -(-self.count // length)
        totals = self._count(by, keys, (length, 1, groups), (None, None))
        return self._bases(by, (None, totals, groups, None), offsets), totals

    def _count(self, by: Pass, keys: Room, chunks: tuple[int, int, int], counts: tuple[Room | None, Room | None]) -> Room:
        length, group, groups = chunks
        totals = self.launcher.room((by.digits + 1) * 8, fill=0)
        described = struct.pack("<QQII", self.count, length, group, 0)
        shape = self._counting(by, groups, self.shapes.counting[0])
        self.launcher.launch(_COUNT[len(by.digit)], shape, (keys, described, by.digit, *counts, totals))
        return totals

    def _bases(self, by: Pass, args: tuple[Any, ...], offsets: Room | None) -> Room:
        starts = self.launcher.room(by.digits * 8)
        shape = self._counting(by, -(-by.digits // 32), 1024)
        self.launcher.launch(_BASES, shape, (*args, starts, offsets, by.count))
        return starts

    def _counting(self, by: Pass, blocks: int, threads: int) -> Shape:
        own, rows = self.shapes.counting
        return Shape(_defines(by, (("HR_THREADS", own), ("HR_ROWS", rows))), blocks, threads)

    def _split(self, by: Pass, how: int, blocks: int, places: bytes, columns: Sequence[Column]) -> None:
        keys, moved = columns[0], columns[1:]
        widths = [column.width for column in moved]
        threads, items, resident = self.shapes.split(by, how, widths)
        sizes: tuple[tuple[str, Any], ...] = ("HR_THREADS", threads), ("HR_ITEMS", items), ("HR_BLOCKS", resident)
        item_bytes, values = KEY_BYTES[by.key], int(bool(moved))
        if moved:
            item_bytes = max(item_bytes, VALUE_BYTES) + 1
        if how == BY_CHUNKS and by.rule == "BitsOf" and by.key in {"u32", "u64"}:
            together = self.shapes.moves_together(by, widths)
            values = widths[0] if len(set(widths)) == 1 and widths[0] in {4, KEY_BYTES[by.key]} else values
            item_bytes = KEY_BYTES[by.key] + values if together else item_bytes
            to = "u32" if self.count <= self.shapes.most_by_u32 else "u64"
            sizes += ("HR_TOGETHER", int(together)), ("HR_TO", to)
        defines = _defines(by, (("HR_VALUES", values), ("HR_PLACES", how), *sizes))
        room = threads * items * item_bytes
        shared = room + by.digits * (16 + threads // 8) + threads // 8 + 136
        shape = Shape(defines, blocks, threads, -(-shared // 16) * 16)
        for first in range(0, max(1, len(moved)), MOST_COLUMNS):
            some = packed(moved[first : first + MOST_COLUMNS])
            self.launcher.launch(_SPLIT[len(by.digit)], shape, (keys.source, keys.target, self.count, by.digit, places, some))


def _defines(by: Pass, sizes: tuple[tuple[str, Any], ...]) -> Mapping[str, Any]:
    return _known_defines(by.key, by.rule, by.bits, by.bucket, sizes)


@lru_cache(512)
def _known_defines(key: str, rule: str, bits: int, bucket: str, sizes: tuple[tuple[str, Any], ...]) -> Mapping[str, Any]:
    """Macros; the same object each time, by which a launcher knows its kernel."""
    found: dict[str, Any] = {"HR_KEY": key, "HR_RULE": rule, "HR_BITS": bits, **dict(sizes)}
    return {**found, "HR_BUCKET": bucket} if bucket else found


def packed(columns: Sequence[Column]) -> bytes:
    """A ``Columns``."""
    empty = [0] * (MOST_COLUMNS - len(columns))
    sources = [*(column.source.address for column in columns), *empty]
    targets = [*(column.target.address for column in columns), *empty]
    widths = [*(column.width for column in columns), *empty]
    return struct.pack("<16Q8I2I", *sources, *targets, *widths, len(columns), 0)


def bin_keys(tile_keys: int, digits: int) -> int:
    """Room of a digit's bin (reserve_tile.cuh), odd: of digits drawn alike 1 in 10,000 has more keys in a tile."""
    mean = tile_keys / digits
    return int(mean + 3.75 * math.sqrt(mean)) | 1


def bins_bytes(room: int, digits: int, width: int) -> int:
    """Shared memory of all bins."""
    return -(-room * digits * width // 16) * 16
