"""Sorts from the highest digit down (hybrid radix sort; Stehle and Jacobsen 2017): launches the kernels of this folder.

A pass counts the digits of each large bucket, assigns its sub-buckets and scatters its keys. Local sorts finish the leaf
buckets, which are small enough for one block.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from headrace.arrange.sort.gpu.common.key_type import KeyType
from headrace.arrange.sort.gpu.common.launch import ARRAYS, RESIDENT_THREADS, SortArrays, SortContext
from headrace.arrange.sort.gpu.lsd.lsd import DevicePlan
from headrace.arrange.sort.gpu.lsd.tuning import SPLITTER_KEY_BYTES
from headrace.arrange.sort.gpu.msd.local_sorts import LEAF_LIST, bin_sort_entry, block_radix_sort_entry, local_sort_shape
from headrace.arrange.sort.gpu.msd.local_tuning import BinSortTuning
from headrace.arrange.sort.gpu.msd.tuning import BUCKET_BYTES, RECORD_BYTES, HybridOptions, ListBounds, MsdTuning
from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.kernel import LaunchMode
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Entry, Shape

MAX_KEYS = (1 << 32) - 1  # maximum number of keys: positions have 32 bits
MAX_CLASSES = 6  # maximum number of size classes of leaf buckets: `max_classes` of buckets.hpp
LISTS = 3  # maximum number of lists with two classes each: `part_lists` of buckets.hpp
_LISTS = layout("Lists").argument
_PACKED_LISTS = layout("Lists").packer()
_FIRST_PASS = layout("FirstPass").packer()
_COUNTS_BYTES = layout("ListLengths").size
_LEFTOVER = MAX_CLASSES - 1  # class whose counter holds the number of buckets that bin_sort.cu declined
_BEGIN_BLOCKS = 64
_BARRIER_BYTES = 16


class MsdSort:
    """Passes from the highest digit down.

    Memory besides the plan's: `ListBounds.nbytes`, a tenth of the keys' bytes; if stable, up to a third, including the
    look-back states.

    `zeros`: two buffers of zeros: `states_bytes` for look-back if the sort is stable, and `counts_bytes`. A sort in one launch
    clears states of its own.
    """

    def __init__(
        self,
        context: SortContext,
        keys: KeyType,
        tuning: MsdTuning,
        options: HybridOptions,
        zeros: tuple[DeviceBuffer, DeviceBuffer],
    ) -> None:
        self._context, self._keys, self._tuning, self._options = context, keys, tuning, options
        self._passes = keys.digit_count(tuning.bits)
        if tuning.counts_prefixes and not options.keeps_counts and not options.stable:
            more = 3 if keys.width == SPLITTER_KEY_BYTES else 5
            self._passes = (self._passes + more) // 2 * 2  # as `range_passes` of plan_steps.cuh
        if tuning.has_one_pass:
            self._passes = 1
        self._bounds = bounds = ListBounds(context.capacity, tuning, options, max(2, self._passes))
        allocate = context.launcher.allocate
        digits = 1 << tuning.bits
        states, self._counts = zeros
        self._blocks = [allocate(bounds.blocks * RECORD_BYTES) for _ in range(2)]
        self._buckets = [allocate(bounds.buckets * BUCKET_BYTES) for _ in range(2)]
        self._cursors = [allocate(bounds.buckets * digits * 4) for _ in range(bounds.cursor_tables)]
        keeps_counts = options.keeps_counts and not options.stable
        self._block_counts = allocate(bounds.blocks * digits * 4) if keeps_counts else None
        if tuning.is_one_launch:
            states = allocate(self.states_bytes(context.capacity, tuning, options))
        self._states = states if options.stable else None
        self._leaves = [allocate(bounds.leaves(number) * RECORD_BYTES) for number in range(bounds.lists)]
        self._leftovers = allocate(bounds.leaves(0) * RECORD_BYTES) if tuning.leftover is not None else None

    @staticmethod
    def counts_bytes(keys: KeyType, tuning: MsdTuning) -> int:
        """Return the bytes of the list lengths of each pass, and of a grid barrier."""
        return (keys.digit_count(tuning.bits) + 5) * _COUNTS_BYTES + _BARRIER_BYTES

    @staticmethod
    def states_bytes(count: int, tuning: MsdTuning, options: HybridOptions) -> int:
        """Return the bytes of one state for each block of a pass and digit value, and of two counters."""
        return 16 + ListBounds(count, tuning, options, 1).blocks * (8 << tuning.bits)

    def run(self, plan: DevicePlan, arrays: SortArrays, *, writes_keys: bool = True) -> None:
        """Launch all passes and local sorts; they do nothing unless the plan chose MSD."""
        columns, lists, packed = arrays.columns, self._lists(plan), arrays.packed
        stage_bytes = max([self._keys.width, *(min(8, column.width) for column in columns)])
        scatter_shape = self._scatter_shape(bool(columns), stage_bytes) if self._block_counts is not None else None
        separate = self._passes
        if self._tuning.tail_from is not None:
            separate = min(separate, self._tuning.tail_from)
        if self._block_counts is not None:
            self._context.launcher.launch(_BEGIN, self._begin_shape, (lists, self._context.count))
        elif separate > 0:
            self._begin_and_assign(lists, plan)
        for number in range(separate):
            if self._block_counts is not None or number > 0:
                self._count(lists, number, packed)
                self._assign(lists, number)
            if self._states is not None:
                self._scatter_stably(lists, number, packed, self._states)
            else:
                self._scatter(lists, number, packed, scatter_shape)
        if separate < self._passes:
            self._run_tail(lists, separate, packed, plan)
        for size_class in range(len(self._tuning.local)):
            self._sort_leaves(size_class, packed, writes=(bool(columns), writes_keys))
        if self._leftovers is not None:
            self._sort_leftovers(packed, writes=(bool(columns), writes_keys))

    def _lists(self, plan: DevicePlan) -> bytes:
        """Return the bytes of a ``Lists`` of buckets.hpp."""
        tuning, options, bounds = self._tuning, self._options, self._bounds
        odd = self._cursors[1] if len(self._cursors) > 1 else None
        cursors = self._cursors[0], odd, self._block_counts, plan.prefix_counts, plan.splitters, plan.rank_map
        buffers = plan.plan, self._counts, *self._blocks, *self._buckets, *cursors
        unused = [None] * (LISTS - len(self._leaves))
        addresses = [0 if buffer is None else buffer.address for buffer in (*buffers, *self._leaves, *unused)]
        lengths = [bounds.leaves(number) for number in range(bounds.lists)] + [0] * len(unused)
        below = tuning.merge_below if options.merges else 0
        class_keys = [local.keys if options.by_size else 0 for local in tuning.local] + [0] * (MAX_CLASSES - len(tuning.local))
        flags = int(options.reduces), int(options.looks_ahead)
        sizes = *lengths, *class_keys, len(tuning.local), tuning.scatter.keys, tuning.max_leaf_keys, below, *flags
        return _PACKED_LISTS.pack(*addresses, *sizes)

    def _begin_and_assign(self, lists: bytes, plan: DevicePlan) -> None:
        totals = plan.totals if plan.top_counts is None else plan.top_counts
        args = (lists, self._context.count, totals, 8 * self._keys.width)
        self._context.launcher.launch(_BEGIN_AND_ASSIGN, self._begin_shape, args)

    @property
    def _begin_shape(self) -> Shape:
        return Shape(_bits(self._tuning.bits), min(_BEGIN_BLOCKS, self._bounds.blocks), self._threads)

    @property
    def _threads(self) -> int:
        return max(32, 1 << self._tuning.bits)

    def _grid(self, max_blocks: int, resident: int) -> int:
        return max(1, min(max_blocks, self._context.multiprocessors * resident))

    def _count(self, lists: bytes, number: int, arrays: bytes) -> None:
        if number > 0 and len(self._cursors) == 1:
            shape = Shape(_bits(self._tuning.bits), self._grid(self._bounds.buckets, 8), self._threads)
            self._context.launcher.launch(_CLEAR, shape, (lists, number))
        threads, defines = self._tuning.count_threads, self._tuning.count_defines(self._keys)
        shape = Shape(defines, self._grid(self._bounds.blocks, RESIDENT_THREADS // threads), threads)
        self._launch("bucket_count", shape, (lists, number, self._keys.rule, arrays))

    def _assign(self, lists: bytes, number: int) -> None:
        """Assign sub-buckets. A pass has no more buckets than the preceding digits have values, and the grid no more blocks."""
        max_buckets = min(self._bounds.buckets, 1 << self._tuning.bits * number)
        shape = Shape(_bits(self._tuning.bits), self._grid(max_buckets, 8), self._threads)
        self._context.launcher.launch(_ASSIGN, shape, (lists, number, 8 * self._keys.width))

    def _scatter(self, lists: bytes, number: int, arrays: bytes, shape: Shape | None) -> None:
        """Scatter by the blocks' counts with the launch configuration `shape`, or without counts if it is None."""
        args = (lists, number, self._keys.rule, arrays)
        if shape is not None:
            self._launch("paper/scatter", shape, args)
        else:
            self._launch("scatter_reserve", self._reserve_shape(), args)

    def _scatter_shape(self, has_values: bool, stage_bytes: int) -> Shape:
        tile, defines = self._tuning.scatter, self._tuning.scatter_defines(self._keys, has_values=has_values)
        return Shape(defines, self._grid(self._bounds.blocks, tile.blocks), tile.threads, -(-tile.keys * stage_bytes // 16) * 16)

    def _reserve_shape(self) -> Shape:
        tile, tuning = self._tuning.scatter, self._tuning
        blocks = self._grid(self._bounds.blocks, tile.blocks)
        return Shape(tuning.reserve_defines(self._keys), blocks, tile.threads, tuning.reserve_shared(self._keys))

    def _scatter_stably(self, lists: bytes, number: int, arrays: bytes, states: DeviceBuffer) -> None:
        entry = _scatter_stable_entry(len(self._keys.rule))
        self._context.launcher.launch(entry, self._stable_shape(), (lists, number, self._keys.rule, arrays, states))

    def _stable_shape(self) -> Shape:
        keys, tile, bits = self._keys, self._tuning.scatter, self._tuning.bits
        blocks = self._grid(self._bounds.blocks, tile.blocks)
        return Shape(tile.defines(keys, bits, is_large=False), blocks, tile.threads, tile.shared_bytes(keys.width, bits))

    def _run_tail(self, lists: bytes, number: int, arrays: bytes, plan: DevicePlan) -> None:
        """Launch all passes from `number` on as one grid with a block a multiprocessor.

        More blocks need not be resident at the same time, even if they would fit.
        """
        assert len(self._cursors) == 2 and (number > 0 or self._states is not None)
        shape = self._reserve_shape() if self._states is None else self._stable_shape()
        shape = replace(shape, blocks=self._grid(self._bounds.blocks, 1))
        barrier = BufferSlice(self._counts, (self._passes + 1) * _COUNTS_BYTES)
        args = (lists, number, self._keys.rule, arrays, barrier)
        launch, rule = self._context.launcher.launch, len(self._keys.rule)
        if self._states is None:
            launch(_tail_keys_entry(rule), shape, args)
        else:
            first = _FIRST_PASS.pack(plan.totals.address, self._context.count, self._states.nbytes)
            launch(_tail_entry(rule), shape, (*args, self._states, first))

    def _length_address(self, size_class: int) -> int:
        return self._counts.address + 8 + 4 * size_class

    def _sort_leaves(self, size_class: int, arrays: bytes, *, writes: tuple[bool, bool]) -> None:
        """Sort the leaf buckets of one size class. A list has one class at each end."""
        has_values, writes_keys = writes
        local, number = self._tuning.local[size_class], size_class // 2
        leaves, length = self._leaves[number], self._bounds.leaves(number)
        first, stride = (length - 1, -1) if size_class % 2 else (0, 1)
        packed_list = LEAF_LIST.pack(leaves.address, self._length_address(size_class), first, stride, b"")
        args = (packed_list, self._keys.rule, arrays, int(writes_keys))
        uses_bins = isinstance(local, BinSortTuning)
        resident = local.blocks if uses_bins else max(1, RESIDENT_THREADS // local.threads)
        shape = local_sort_shape(local, self._keys, self._grid(length, resident), has_values=has_values)
        launch, rule = self._context.launcher.launch, len(self._keys.rule)
        if uses_bins:
            assert self._leftovers is not None
            launch(bin_sort_entry(rule), shape, (*args, self._leftovers, BufferSlice(self._counts, 8 + 4 * _LEFTOVER)))
        else:
            launch(block_radix_sort_entry(rule), shape, args)

    def _sort_leftovers(self, arrays: bytes, *, writes: tuple[bool, bool]) -> None:
        """Sort the leaf buckets that bin_sort.cu declined."""
        has_values, writes_keys = writes
        local, leftovers = self._tuning.leftover, self._leftovers
        assert local is not None and leftovers is not None
        packed_list = LEAF_LIST.pack(leftovers.address, self._length_address(_LEFTOVER), 0, 1, b"")
        blocks = self._grid(self._bounds.leaves(0), max(1, RESIDENT_THREADS // local.threads))
        args = (packed_list, self._keys.rule, arrays, int(writes_keys))
        shape = local_sort_shape(local, self._keys, blocks, has_values=has_values)
        self._context.launcher.launch(block_radix_sort_entry(len(self._keys.rule)), shape, args)

    def _launch(self, name: str, shape: Shape, args: tuple[bytes | int, ...]) -> None:
        self._context.launcher.launch(_entry(name, len(self._keys.rule)), shape, args)


_BEGIN = Entry("arrange/sort/gpu/msd/assign.cu", "msd_begin", f"{_LISTS}I", mode=LaunchMode.EARLY)
_BEGIN_AND_ASSIGN = Entry("arrange/sort/gpu/msd/assign.cu", "msd_begin_and_assign", f"{_LISTS}IPI", mode=LaunchMode.EARLY)
_CLEAR = Entry("arrange/sort/gpu/msd/assign.cu", "msd_clear_cursors", f"{_LISTS}I", mode=LaunchMode.EARLY)
_ASSIGN = Entry("arrange/sort/gpu/msd/assign.cu", "msd_assign", f"{_LISTS}II", mode=LaunchMode.EARLY)


@lru_cache(8)
def _bits(bits: int) -> dict[str, int]:
    return {"HR_BITS": bits}


@lru_cache(16)
def _entry(name: str, rule: int) -> Entry:
    kernel = name.rpartition("/")[2]
    return Entry(f"arrange/sort/gpu/msd/{name}.cu", kernel, f"{_LISTS}I{rule}s{ARRAYS}", mode=LaunchMode.EARLY)


@lru_cache(8)
def _scatter_stable_entry(rule: int) -> Entry:
    return Entry("arrange/sort/gpu/msd/scatter_stable.cu", "scatter_stable", f"{_LISTS}I{rule}s{ARRAYS}P", mode=LaunchMode.EARLY)


@lru_cache(8)
def _tail_entry(rule: int) -> Entry:
    signature = f"{_LISTS}I{rule}s{ARRAYS}PP{_FIRST_PASS.size}s"
    return Entry("arrange/sort/gpu/msd/scatter_stable.cu", "tail_passes", signature, mode=LaunchMode.COOPERATIVE)


@lru_cache(8)
def _tail_keys_entry(rule: int) -> Entry:
    signature = f"{_LISTS}I{rule}s{ARRAYS}P"
    return Entry("arrange/sort/gpu/msd/scatter_reserve.cu", "tail_passes_keys", signature, mode=LaunchMode.COOPERATIVE)
