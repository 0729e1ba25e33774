"""Launches of arrange/multisplit/split.cu: one digit's pass over keys and what goes with them."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from headrace.core.gpu.launcher import Entry, Launcher, Room, Shape

BY_CHUNKS, BY_LOOK_BACK, BY_RESERVING = 0, 1, 2
"""As split_place.cuh has them."""
KEPT_IN_BYTES, TOGETHER = 1, 4
"""As split_tile.cuh has it."""
MOST_COLUMNS = 8
DIGIT_BITS = 8
VALUE_BYTES = 4
LOOK_BACK_KEYS = 1 << 30
MOST_BY_WARPS = 32
"""Buckets: a lane for each."""
KEY_BYTES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8}
DIGIT_BYTES = (16, 32, 48)
"""Of a ``Digit``, by the rules of the keys that are split as they are."""

_COUNT = {size: Entry("arrange/multisplit/split_count.cu", "split_count", f"P24s{size}sPPP") for size in DIGIT_BYTES}
_BASES = Entry("arrange/multisplit/split_count.cu", "split_bases", "PPIPPPI")
_SPLIT = {size: Entry("arrange/multisplit/split.cu", "split", f"PPQ{size}s40s168s") for size in DIGIT_BYTES}
_COUNT_WARPS = Entry("arrange/multisplit/split_warps.cu", "count_warps", "PQ16sQPP")
_SPLIT_WARPS = Entry("arrange/multisplit/split_warps.cu", "split_warps", "PPQ16sQP168sI")


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
class Ways:
    """How a tile is split, as split_tile.cuh has it: what `bench.tune_multisplit` measures.

    Parameters
    ----------
    rank
        1: digits are counted while they are ranked. And 2: counters move by additions; and 4: lanes are compared apart.
    keep
        What is known of a place when values come: 0 its key, 1 a byte in shared memory, 2 a byte in a register, 3 its target.
        But for 0 values take the room of keys. 4: values move together with keys.
    ahead
        1: the next tile's keys are loaded before values; and 2: the second cache lets go of what is read; and 4: it keeps
        what is written.
    to
        ``"u32"`` for up to 2**32 - 2**17 keys, or ``"u64"``.
    alone
        Whether columns of one width, 4 or 8 bytes, have kernels of their own.
    stays
        Whether blocks stay and take chunk after chunk.
    """

    rank: int = 0
    keep: int = 0
    ahead: int = 0
    to: str = "u64"
    alone: bool = False
    stays: bool = False

    def defines(self, how: int, *, has_values: bool) -> tuple[tuple[str, Any], ...]:
        """Macros, as far as they have a meaning for what is done."""
        keep, ahead = (self.keep, self.ahead) if has_values else (0, self.ahead & 6)
        rank = self.rank if how == BY_CHUNKS else self.rank & 6 if how == BY_LOOK_BACK else 0
        return ("HR_RANK", rank), ("HR_KEEP", keep), ("HR_AHEAD", ahead), ("HR_TO", self.to)


@dataclass(frozen=True, slots=True)
class Shapes:
    """Sizes that kernels are compiled for, as core/variants.toml lists them, and how keys are cut; tests have smaller ones."""

    keys: tuple[int, int, int] = (512, 24, 2)
    with_values: tuple[int, int, int] = (384, 16, 2)
    long_keys: tuple[int, int, int] = (512, 12, 2)
    long_keys_with_values: tuple[int, int, int] = (512, 12, 1)
    reserving: tuple[int, int, int] = (512, 20, 2)
    reserving_long: tuple[int, int, int] = (512, 12, 2)
    counting: tuple[int, int] = (256, 4)
    warps: tuple[int, int] = (256, 8)
    multiprocessors: int = 132
    groups_of_multiprocessor: int = 4
    warps_of_multiprocessor: int = 64
    tiles_of_chunk: tuple[int, int, int] = (3, 4, 1)
    """By bits of a digit: 1, 5, 8. Keys of one digit should go where those of chunks do that are split at the same time."""
    ways: Ways | None = None
    """How tiles are split by chunks and by reserving; None for the programs that are listed."""

    def split(self, by: Pass, how: int, *, has_values: bool) -> tuple[int, int, int]:
        """Threads of a block, keys of a thread, and blocks of a multiprocessor."""
        if how == BY_RESERVING:
            return self.reserving_long if by.key == "u64" else self.reserving
        if by.key == "u64":
            return self.long_keys_with_values if has_values else self.long_keys
        return self.with_values if has_values else self.keys


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
        threads, items, _ = self.shapes.split(by, BY_CHUNKS, has_values=len(columns) > 1)
        length = threads * items * self.shapes.tiles_of_chunk[(1, 5, 8).index(by.bits)]
        chunks = -(-self.count // length)
        group = -(-chunks // (self.shapes.multiprocessors * self.shapes.groups_of_multiprocessor))
        groups = -(-chunks // group)
        counts = self.launcher.room(chunks * by.digits * 4)
        of_groups = self.launcher.room(groups * by.digits * 4)
        bases = self.launcher.room(groups * by.digits * 8)
        totals = self._count(by, columns[0].source, (length, group, groups), (counts, of_groups))
        self._bases(by, (of_groups, totals, groups, bases), offsets)
        resident = self.shapes.split(by, BY_CHUNKS, has_values=len(columns) > 1)[2]
        stays = self.shapes.ways is not None and self.shapes.ways.stays
        tickets = self.launcher.room(16, fill=0) if stays else None
        memory = 0 if tickets is None else tickets.address
        places = struct.pack("<4Q2I", bases.address, counts.address, length, memory, 0, group)
        blocks = min(chunks, self.shapes.multiprocessors * resident) if stays else chunks
        self._split(by, BY_CHUNKS, blocks, places, columns)
        return totals

    def run_by_look_back(self, by: Pass, columns: Sequence[Column], offsets: Room | None) -> Room:
        """The same by decoupled look-back, of 2**30 keys at most."""
        starts, totals = self.starts(by, columns[0].source, offsets)
        threads, items, resident = self.shapes.split(by, BY_LOOK_BACK, has_values=len(columns) > 1)
        tiles = -(-self.count // (threads * items))
        memory = self.launcher.room(16 + tiles * by.digits * 8, fill=0)
        places = struct.pack("<4Q2I", starts.address, 0, 0, memory.address, 1, 1)
        self._split(by, BY_LOOK_BACK, min(tiles, self.shapes.multiprocessors * resident), places, columns)
        return totals

    def run_by_reserving(self, by: Pass, keys: Column, cursors: Room) -> None:
        """In no order within a digit: each tile takes room at `cursors`, where each digit's next key goes."""
        threads, items, resident = self.shapes.split(by, BY_RESERVING, has_values=False)
        tiles = -(-self.count // (threads * items))
        memory = self.launcher.room(16, fill=0)
        places = struct.pack("<4Q2I", cursors.address, 0, 0, memory.address, 1, 1)
        self._split(by, BY_RESERVING, min(tiles, self.shapes.multiprocessors * resident), places, [keys])

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
        threads, items, resident = self.shapes.split(by, how, has_values=bool(moved))
        sizes: tuple[tuple[str, Any], ...] = ("HR_THREADS", threads), ("HR_ITEMS", items), ("HR_BLOCKS", resident)
        item_bytes, values = KEY_BYTES[by.key] + VALUE_BYTES * bool(moved), int(bool(moved))
        ways = self.shapes.ways
        if ways is not None:
            widths = {column.width for column in moved}
            if ways.alone and widths in ({4}, {8}):
                values = widths.pop()
            if ways.keep == TOGETHER and (len(moved) != 1 or values not in {4, 8}):
                ways = replace(ways, keep=0)
            sizes += ways.defines(how, has_values=bool(moved))
            if moved and ways.keep == TOGETHER:
                item_bytes = KEY_BYTES[by.key] + values
            elif moved and ways.keep:
                item_bytes = max(KEY_BYTES[by.key], VALUE_BYTES) + (ways.keep == KEPT_IN_BYTES)
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
