"""A sort by parts, from the highest digit down (Stehle and Jacobsen 2017): launches of parts_*.cu and sort_local.cu."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from headrace.arrange.multisplit.split_gpu import bin_keys, bins_bytes
from headrace.arrange.sort.digits_gpu import Plan, Tiles
from headrace.arrange.sort.launch_gpu import Common, Keys, Moved, packed_arrays
from headrace.arrange.sort.small_gpu import BlockShape, local_entry
from headrace.core.gpu.launcher import Entry, Room, Shape

MOST_KEYS = (1 << 32) - 1
"""Positions have 32 bits."""
CLASSES = 3
_COUNTS_BYTES, _RECORD_BYTES, _BUCKET_BYTES = 32, 16, 8
_BEGIN_BLOCKS = 64


@dataclass(frozen=True, slots=True)
class PartShapes:
    """Sizes that the kernels are compiled for, of keys of one width.

    Parameters
    ----------
    bits
        Of a digit.
    counting
        Threads, and keys of a thread at a time.
    splitting
        Threads of a block, keys of a thread, blocks of a multiprocessor.
    local
        Blocks that sort parts, the smallest first; the last one's keys are the most that a part may have.
    merged_below
        Neighbours are put together below this, at most half of that; 0: never.
    tiles
        Of a stable step, `splitting` among them.
    """

    bits: int
    counting: tuple[int, int]
    splitting: tuple[int, int, int]
    local: tuple[BlockShape, BlockShape, BlockShape]
    merged_below: int
    tiles: Tiles | None = None

    def stably(self, tiles: Tiles) -> PartShapes:
        """With tiles of a stable step."""
        return replace(self, splitting=tiles.shape, tiles=tiles)

    @property
    def block_keys(self) -> int:
        """Keys of a block that splits."""
        threads, items, _ = self.splitting
        return threads * items

    @property
    def most_in_one(self) -> int:
        """Keys of a part."""
        return self.local[-1].keys


@dataclass(frozen=True, slots=True)
class PartOptions:
    """What the paper's ablation switches off, all on as it has them.

    Parameters
    ----------
    keeps_counts
        Whether blocks' counts are kept for the scatter; otherwise, of keys alone, one addition a key counts and ranks.
    reduces, looks_ahead
        A thread adds equal digits at once; it takes up to three places at once in skewed blocks.
    merges
        Small neighbours become one part.
    by_size
        Parts of different sizes are sorted by different blocks.
    stable
        Equal keys keep their order (parts_stable.cu), in place of all but the last two of these.
    """

    keeps_counts: bool = True
    reduces: bool = True
    looks_ahead: bool = True
    merges: bool = True
    by_size: bool = True
    stable: bool = False


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long lists can get for `count` keys: the paper's I1, I4 and I3, the last with windows of positions."""

    count: int
    shapes: PartShapes
    options: PartOptions

    @property
    def buckets(self) -> int:
        """Of one step, each with more keys than a part may have (I1)."""
        return max(1, self.count // self.shapes.most_in_one)

    @property
    def blocks(self) -> int:
        """Of one step (I4)."""
        return self.count // self.shapes.block_keys + self.buckets + 1

    @property
    def parts(self) -> int:
        """Of one step (I3): a group begins at a sub-bucket that is not small, behind one, or at a multiple of the threshold."""
        most = self.buckets << self.shapes.bits
        below = self.shapes.merged_below if self.options.merges else 0
        return min(most, 2 * self.count // below + 2 * self.buckets) if below else most

    @property
    def large_parts(self) -> int:
        """Of one step, of the last size class."""
        if not self.options.by_size:
            return self.parts
        return min(self.parts, self.count // self.shapes.local[1].keys + 1)

    @property
    def nbytes(self) -> int:
        """Of all lists: M2 to M5 of the paper, and a few counters."""
        digits = 1 << self.shapes.bits
        kept = 4 * digits * self.blocks if self.options.keeps_counts else 0
        if self.options.stable:
            kept = 16 + 8 * digits * self.blocks  # states of look-back
        records = 2 * self.blocks + self.parts + self.large_parts
        return 4 * digits * self.buckets + kept + _RECORD_BYTES * records + 2 * _BUCKET_BYTES * self.buckets


class PartSort:
    """Steps from the highest digit down.

    Its memory, besides the plan's: `Bounds.nbytes`, up to a twentieth of the keys' own.
    """

    def __init__(self, common: Common, keys: Keys, shapes: PartShapes, options: PartOptions) -> None:
        self._common, self._keys, self._shapes, self._options = common, keys, shapes, options
        self._bounds = bounds = Bounds(common.count, shapes, options)
        self._steps = keys.digits(shapes.bits)
        room = common.launcher.room
        digits = 1 << shapes.bits
        self._counts = room((self._steps + 1) * _COUNTS_BYTES, fill=0)
        self._blocks = [room(bounds.blocks * _RECORD_BYTES) for _ in range(2)]
        self._buckets = [room(bounds.buckets * _BUCKET_BYTES) for _ in range(2)]
        self._cursors = room(bounds.buckets * digits * 4)
        keeps = options.keeps_counts and not options.stable
        self._block_counts = room(bounds.blocks * digits * 4) if keeps else None
        self._states = room(16 + bounds.blocks * digits * 8, fill=0) if options.stable else None
        self._parts = room(bounds.parts * _RECORD_BYTES)
        self._large_parts = room(bounds.large_parts * _RECORD_BYTES)

    def run(self, plan: Plan, arrays: tuple[Moved, Sequence[Moved]], *, writes_keys: bool = True) -> None:
        """Sort, if the plan is to go by parts."""
        moved, columns = arrays
        has_values = bool(columns)
        lists, packed = self._lists(plan), packed_arrays(moved, columns)
        self._begin(lists, plan)
        width = max([self._keys.width, *(min(8, column.width) for column in columns)])
        for step in range(self._steps):
            if self._block_counts is not None or step > 0:
                self._count(lists, step, packed)
            self._assign(lists, step)
            if self._states is None:
                self._scatter(lists, step, packed, (has_values, width))
            else:
                self._split_stably(lists, step, packed, self._states)
            for size_class in range(CLASSES):
                self._local(step, size_class, packed, writes=(has_values, writes_keys))

    def _lists(self, plan: Plan) -> bytes:
        shapes, options, bounds = self._shapes, self._options, self._bounds
        rooms = (plan.plan, self._counts, *self._blocks, *self._buckets, self._cursors, self._block_counts, self._parts)
        places = [0 if room is None else room.address for room in (*rooms, self._large_parts, plan.heads)]
        below = shapes.merged_below if options.merges else 0
        classes = [shape.keys if options.by_size else 0 for shape in shapes.local[:2]]
        flags = int(options.reduces), int(options.looks_ahead)
        sizes = bounds.parts, shapes.block_keys, shapes.most_in_one, below, *classes, *flags
        return struct.pack("<11Q8I", *places, *sizes)

    def _begin(self, lists: bytes, plan: Plan) -> None:
        totals = plan.totals if self._block_counts is None else None
        shape = Shape(_bits(self._shapes.bits), min(_BEGIN_BLOCKS, self._bounds.blocks), self._threads)
        self._common.launcher.launch(_BEGIN, shape, (lists, self._common.count, totals))

    @property
    def _threads(self) -> int:
        return max(32, 1 << self._shapes.bits)

    def _resident(self, most: int, each: int) -> int:
        return max(1, min(most, self._common.multiprocessors * each))

    def _count(self, lists: bytes, step: int, arrays: bytes) -> None:
        if step > 0:
            shape = Shape(_bits(self._shapes.bits), self._resident(self._bounds.buckets, 8), self._threads)
            self._common.launcher.launch(_CLEAR, shape, (lists, step))
        threads, items = self._shapes.counting
        defines = self._keys.defines(("HR_BITS", self._shapes.bits), ("HR_THREADS", threads), ("HR_ITEMS", items))
        shape = Shape(defines, self._resident(self._bounds.blocks, 2048 // threads), threads)
        args = (lists, step, self._keys.rule, arrays)
        self._common.launcher.launch(_entry("parts_count", len(self._keys.rule)), shape, args)

    def _assign(self, lists: bytes, step: int) -> None:
        shape = Shape(_bits(self._shapes.bits), self._resident(self._bounds.buckets, 8), self._threads)
        self._common.launcher.launch(_ASSIGN, shape, (lists, step, 8 * self._keys.width))

    def _scatter(self, lists: bytes, step: int, arrays: bytes, widths: tuple[bool, int]) -> None:
        has_values, width = widths
        threads, items, resident = self._shapes.splitting
        sizes = [("HR_BITS", self._shapes.bits), ("HR_THREADS", threads), ("HR_ITEMS", items), ("HR_BLOCKS", resident)]
        digits, reserves = 1 << self._shapes.bits, not self._options.keeps_counts
        if reserves:
            room = bin_keys(threads * items, digits)
            sizes.append(("HR_BIN", room))
            shared = bins_bytes(room, digits, width)
        else:
            sizes.append(("HR_VALUES", int(has_values)))
            shared = -(-threads * items * width // 16) * 16
        blocks = self._resident(self._bounds.blocks, resident)
        shape = Shape(self._keys.defines(*sizes), blocks, threads, shared)
        args = (lists, step, self._keys.rule, arrays)
        name = "parts_reserve" if reserves else "parts_scatter"
        self._common.launcher.launch(_entry(name, len(self._keys.rule)), shape, args)

    def _split_stably(self, lists: bytes, step: int, arrays: bytes, states: Room) -> None:
        keys, tiles, bits = self._keys, self._shapes.tiles, self._shapes.bits
        assert tiles is not None
        threads, _, resident = tiles.shape
        blocks = self._resident(self._bounds.blocks, resident)
        shape = Shape(tiles.defines(keys, bits, self._common.count), blocks, threads, tiles.shared(keys.width, bits))
        args = (lists, step, keys.rule, arrays, states, step + 1)
        self._common.launcher.launch(_stable_entry(len(keys.rule)), shape, args)

    def _local(self, step: int, size_class: int, arrays: bytes, *, writes: tuple[bool, bool]) -> None:
        has_values, writes_keys = writes
        block = self._shapes.local[size_class]
        most = self._bounds.large_parts if size_class == CLASSES - 1 else self._bounds.parts
        number = self._counts.address + step * _COUNTS_BYTES + 8 + 4 * size_class
        parts, first, stride = [
            (self._parts, 0, 1), (self._parts, self._bounds.parts - 1, -1), (self._large_parts, 0, 1)
        ][size_class]  # fmt: skip
        part = struct.pack("<2Q2q4I", parts.address, number, first, stride, 0, 0, 0, 0)
        shape = block.local(self._keys, self._resident(most, max(1, 2048 // block.threads)), has_values=has_values)
        args = (part, self._keys.rule, arrays, int(writes_keys))
        self._common.launcher.launch(local_entry(block.kernel, len(self._keys.rule)), shape, args)


_BEGIN = Entry("arrange/sort/parts_assign.cu", "parts_begin", "120sIP")
_CLEAR = Entry("arrange/sort/parts_assign.cu", "parts_clear", "120sI")
_ASSIGN = Entry("arrange/sort/parts_assign.cu", "parts_assign", "120sII")


@lru_cache(8)
def _bits(bits: int) -> dict[str, int]:
    return {"HR_BITS": bits}


@lru_cache(16)
def _entry(name: str, rule: int) -> Entry:
    return Entry(f"arrange/sort/{name}.cu", name, f"120sI{rule}s296s")


@lru_cache(8)
def _stable_entry(rule: int) -> Entry:
    return Entry("arrange/sort/parts_stable.cu", "parts_stable", f"120sI{rule}s296sPI")
