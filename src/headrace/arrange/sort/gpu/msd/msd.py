"""A sort by parts, from the highest digit down (Stehle and Jacobsen 2017): launches of parts_*.cu, bin_sort.cu and
block_radix_sort.cu.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from headrace.arrange.multisplit.gpu.launches import bin_keys, bins_bytes
from headrace.arrange.sort.gpu.common.launch import RESIDENT_THREADS, Common, Keys, Moved, packed_arrays
from headrace.arrange.sort.gpu.lsd.lsd import Plan
from headrace.arrange.sort.gpu.msd.bin_sort import SpreadShape, spread_entry
from headrace.arrange.sort.gpu.msd.tuning import BUCKET_BYTES, RECORD_BYTES, Bounds, PartOptions, PartShapes
from headrace.arrange.sort.gpu.single_launch.single_launch import local_entry
from headrace.gpu.kernels.kernel import LaunchMode
from headrace.gpu.kernels.launcher import Entry, Part, Room, Shape

MOST_KEYS = (1 << 32) - 1
"""Positions have 32 bits."""
MOST_CLASSES, LISTS = 6, 3
"""Of sizes of parts, and lists of two classes each; as buckets.cuh has them."""
_COUNTS_BYTES = 32
_LEFT = MOST_CLASSES - 1
"""Whose count is of parts that bin_sort.cu leaves to others."""
_BEGIN_BLOCKS = 64
_MEETING_BYTES = 16


class PartSort:
    """Steps from the highest digit down.

    Its memory, besides the plan's: `Bounds.nbytes`, a tenth of the keys' own; where it is stable up to a third, states of
    look-back among it.

    Parameters
    ----------
    zeros
        `states_bytes` for look-back where it is stable, and `counts_bytes`, cleared. A sort in one launch clears states of its
        own.
    """

    def __init__(self, common: Common, keys: Keys, shapes: PartShapes, options: PartOptions, zeros: tuple[Room, Room]) -> None:
        self._common, self._keys, self._shapes, self._options = common, keys, shapes, options
        self._steps = keys.digits(shapes.bits)
        self._bounds = bounds = Bounds(common.count, shapes, options, self._steps)
        room = common.launcher.room
        digits = 1 << shapes.bits
        states, self._counts = zeros
        self._blocks = [room(bounds.blocks * RECORD_BYTES) for _ in range(2)]
        self._buckets = [room(bounds.buckets * BUCKET_BYTES) for _ in range(2)]
        self._cursors = [room(bounds.buckets * digits * 4) for _ in range(bounds.cursors)]
        keeps = options.keeps_counts and not options.stable
        self._block_counts = room(bounds.blocks * digits * 4) if keeps else None
        if shapes.in_one:
            states = room(self.states_bytes(common.count, shapes, options))
        self._states = states if options.stable else None
        self._parts = [room(bounds.parts(number) * RECORD_BYTES) for number in range(bounds.lists)]
        self._left = room(bounds.parts(0) * RECORD_BYTES) if shapes.left is not None else None

    @staticmethod
    def counts_bytes(keys: Keys, shapes: PartShapes) -> int:
        """Of each step's lists, and of blocks that meet."""
        return (keys.digits(shapes.bits) + 1) * _COUNTS_BYTES + _MEETING_BYTES

    @staticmethod
    def states_bytes(count: int, shapes: PartShapes, options: PartOptions) -> int:
        """A state for each block of a step and digit, and two counters."""
        return 16 + Bounds(count, shapes, options, 1).blocks * (8 << shapes.bits)

    def run(self, plan: Plan, arrays: tuple[Moved, Sequence[Moved]], *, writes_keys: bool = True) -> None:
        """Sort, if the plan is to go by parts."""
        moved, columns = arrays
        has_values = bool(columns)
        lists, packed = self._lists(plan), packed_arrays(moved, columns)
        width = max([self._keys.width, *(min(8, column.width) for column in columns)])
        counts_first, apart = self._block_counts is not None, self._steps
        if self._shapes.rest_from is not None:
            apart = min(apart, self._shapes.rest_from)
        if counts_first:
            self._begin(lists)
        elif apart > 0:
            self._first(lists, plan)
        for step in range(apart):
            if counts_first or step > 0:
                self._count(lists, step, packed)
                self._assign(lists, step)
            if self._states is None:
                self._scatter(lists, step, packed, (has_values, width))
            else:
                self._split_stably(lists, step, packed, self._states)
        if apart < self._steps:
            self._rest(lists, apart, packed, plan)
        for size_class in range(len(self._shapes.local)):
            self._local(size_class, packed, writes=(has_values, writes_keys))
        if self._left is not None:
            self._sort_left(packed, writes=(has_values, writes_keys))

    def _lists(self, plan: Plan) -> bytes:
        shapes, options, bounds = self._shapes, self._options, self._bounds
        odd = self._cursors[1] if len(self._cursors) > 1 else None
        rooms = plan.plan, self._counts, *self._blocks, *self._buckets, self._cursors[0], odd, self._block_counts, plan.heads
        none = [None] * (LISTS - len(self._parts))
        places = [0 if room is None else room.address for room in (*rooms, *self._parts, *none)]
        most = [bounds.parts(number) for number in range(bounds.lists)] + [0] * len(none)
        below = shapes.merged_below if options.merges else 0
        keys = [shape.keys if options.by_size else 0 for shape in shapes.local] + [0] * (MOST_CLASSES - len(shapes.local))
        flags = int(options.reduces), int(options.looks_ahead)
        sizes = *most, *keys, len(shapes.local), shapes.block_keys, shapes.most_in_one, below, *flags
        return struct.pack("<13Q15I4x", *places, *sizes)

    def _begin(self, lists: bytes) -> None:
        self._common.launcher.launch(_BEGIN, self._begin_shape, (lists, self._common.count))

    def _first(self, lists: bytes, plan: Plan) -> None:
        args = (lists, self._common.count, plan.totals, 8 * self._keys.width)
        self._common.launcher.launch(_FIRST, self._begin_shape, args)

    @property
    def _begin_shape(self) -> Shape:
        return Shape(_bits(self._shapes.bits), min(_BEGIN_BLOCKS, self._bounds.blocks), self._threads)

    @property
    def _threads(self) -> int:
        return max(32, 1 << self._shapes.bits)

    def _resident(self, most: int, each: int) -> int:
        return max(1, min(most, self._common.multiprocessors * each))

    def _count(self, lists: bytes, step: int, arrays: bytes) -> None:
        if step > 0 and len(self._cursors) == 1:
            shape = Shape(_bits(self._shapes.bits), self._resident(self._bounds.buckets, 8), self._threads)
            self._common.launcher.launch(_CLEAR, shape, (lists, step))
        threads, items = self._shapes.counting
        defines = self._keys.defines(("HR_BITS", self._shapes.bits), ("HR_THREADS", threads), ("HR_ITEMS", items))
        shape = Shape(defines, self._resident(self._bounds.blocks, RESIDENT_THREADS // threads), threads)
        args = (lists, step, self._keys.rule, arrays)
        self._common.launcher.launch(_entry("parts_count", len(self._keys.rule)), shape, args)

    def _assign(self, lists: bytes, step: int) -> None:
        """No step has more buckets than digits before it have values, and blocks beyond that would come in vain."""
        most = min(self._bounds.buckets, 1 << self._shapes.bits * step)
        shape = Shape(_bits(self._shapes.bits), self._resident(most, 8), self._threads)
        self._common.launcher.launch(_ASSIGN, shape, (lists, step, 8 * self._keys.width))

    def _scatter(self, lists: bytes, step: int, arrays: bytes, widths: tuple[bool, int]) -> None:
        reserves = not self._options.keeps_counts
        shape = self._reserve_shape() if reserves else self._scatter_shape(*widths)
        args = (lists, step, self._keys.rule, arrays)
        name = "parts_reserve" if reserves else "parts_scatter"
        self._common.launcher.launch(_entry(name, len(self._keys.rule)), shape, args)

    def _scatter_shape(self, has_values: bool, width: int) -> Shape:
        threads, items, resident = self._shapes.splitting
        sizes = ("HR_THREADS", threads), ("HR_ITEMS", items), ("HR_BLOCKS", resident), ("HR_VALUES", int(has_values))
        defines = self._keys.defines(("HR_BITS", self._shapes.bits), *sizes)
        shared = -(-threads * items * width // 16) * 16
        return Shape(defines, self._resident(self._bounds.blocks, resident), threads, shared)

    def _reserve_shape(self) -> Shape:
        threads, items, resident = self._shapes.splitting
        digits = 1 << self._shapes.bits
        room = bin_keys(threads * items, digits)
        sizes = ("HR_THREADS", threads), ("HR_ITEMS", items), ("HR_BLOCKS", resident), ("HR_BIN", room)
        defines = self._keys.defines(("HR_BITS", self._shapes.bits), *sizes)
        shared = bins_bytes(room, digits, self._keys.width)
        return Shape(defines, self._resident(self._bounds.blocks, resident), threads, shared)

    def _split_stably(self, lists: bytes, step: int, arrays: bytes, states: Room) -> None:
        args = (lists, step, self._keys.rule, arrays, states)
        self._common.launcher.launch(_stable_entry(len(self._keys.rule)), self._stable_shape(), args)

    def _stable_shape(self) -> Shape:
        keys, tiles, bits = self._keys, self._shapes.tiles, self._shapes.bits
        assert tiles is not None
        threads, _, resident = tiles.shape
        blocks = self._resident(self._bounds.blocks, resident)
        return Shape(tiles.defines(keys, bits, self._common.count), blocks, threads, tiles.shared(keys.width, bits))

    def _rest(self, lists: bytes, step: int, arrays: bytes, plan: Plan) -> None:
        """All steps from this one on, by a block a multiprocessor: more need not be resident together, whatever fits."""
        assert len(self._cursors) == 2 and (step > 0 or self._states is not None)
        shape = self._reserve_shape() if self._states is None else self._stable_shape()
        shape = replace(shape, blocks=self._resident(self._bounds.blocks, 1))
        meeting = Part(self._counts, (self._steps + 1) * _COUNTS_BYTES)
        args = (lists, step, self._keys.rule, arrays, meeting)
        launch, rule = self._common.launcher.launch, len(self._keys.rule)
        if self._states is None:
            launch(_rest_alone_entry(rule), shape, args)
        else:
            first = struct.pack("<3Q", plan.totals.address, self._common.count, self._states.nbytes)
            launch(_rest_entry(rule), shape, (*args, self._states, first))

    def _number(self, size_class: int) -> int:
        return self._counts.address + 8 + 4 * size_class

    def _local(self, size_class: int, arrays: bytes, *, writes: tuple[bool, bool]) -> None:
        has_values, writes_keys = writes
        block, parts, most = self._shapes.local[size_class], self._parts[size_class // 2], self._bounds.parts(size_class // 2)
        first, stride = (most - 1, -1) if size_class % 2 else (0, 1)
        part = struct.pack("<2Q2q4I", parts.address, self._number(size_class), first, stride, 0, 0, 0, 0)
        args = (part, self._keys.rule, arrays, int(writes_keys))
        resident = block.resident if isinstance(block, SpreadShape) else max(1, RESIDENT_THREADS // block.threads)
        shape = block.local(self._keys, self._resident(most, resident), has_values=has_values)
        launch, rule = self._common.launcher.launch, len(self._keys.rule)
        if isinstance(block, SpreadShape):
            assert self._left is not None
            launch(spread_entry(rule), shape, (*args, self._left, Part(self._counts, 8 + 4 * _LEFT)))
        else:
            launch(local_entry(rule), shape, args)

    def _sort_left(self, arrays: bytes, *, writes: tuple[bool, bool]) -> None:
        has_values, writes_keys = writes
        block, parts = self._shapes.left, self._left
        assert block is not None and parts is not None
        part = struct.pack("<2Q2q4I", parts.address, self._number(_LEFT), 0, 1, 0, 0, 0, 0)
        blocks = self._resident(self._bounds.parts(0), max(1, RESIDENT_THREADS // block.threads))
        shape = block.local(self._keys, blocks, has_values=has_values)
        args = (part, self._keys.rule, arrays, int(writes_keys))
        self._common.launcher.launch(local_entry(len(self._keys.rule)), shape, args)


_BEGIN = Entry("arrange/sort/gpu/msd/assign.cu", "parts_begin", "168sI", mode=LaunchMode.EARLY)
_FIRST = Entry("arrange/sort/gpu/msd/assign.cu", "parts_first", "168sIPI", mode=LaunchMode.EARLY)
_CLEAR = Entry("arrange/sort/gpu/msd/assign.cu", "parts_clear", "168sI", mode=LaunchMode.EARLY)
_ASSIGN = Entry("arrange/sort/gpu/msd/assign.cu", "parts_assign", "168sII", mode=LaunchMode.EARLY)


@lru_cache(8)
def _bits(bits: int) -> dict[str, int]:
    return {"HR_BITS": bits}


@lru_cache(16)
def _entry(name: str, rule: int) -> Entry:
    file = {"parts_count": "bucket_count", "parts_reserve": "scatter_reserve", "parts_scatter": "scatter"}[name]
    return Entry(f"arrange/sort/gpu/msd/{file}.cu", name, f"168sI{rule}s296s", mode=LaunchMode.EARLY)


@lru_cache(8)
def _stable_entry(rule: int) -> Entry:
    return Entry("arrange/sort/gpu/msd/scatter_stable.cu", "parts_stable", f"168sI{rule}s296sP", mode=LaunchMode.EARLY)


@lru_cache(8)
def _rest_entry(rule: int) -> Entry:
    return Entry("arrange/sort/gpu/msd/tail_passes.cu", "parts_rest", f"168sI{rule}s296sPP24s", mode=LaunchMode.COOPERATIVE)


@lru_cache(8)
def _rest_alone_entry(rule: int) -> Entry:
    return Entry(
        "arrange/sort/gpu/msd/tail_passes_keys.cu", "parts_rest_alone", f"168sI{rule}s296sP", mode=LaunchMode.COOPERATIVE
    )
