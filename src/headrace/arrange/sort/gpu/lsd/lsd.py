"""Sorts from the lowest digit up, one pass over the data a digit: launches the kernels of this folder."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from headrace.arrange.sort.gpu.common.key_type import THREADS, KeyType
from headrace.arrange.sort.gpu.common.launch import ARRAYS, RESIDENT_THREADS, SortArrays, SortContext
from headrace.arrange.sort.gpu.lsd.tuning import (
    RANKED_KEY_BYTES,
    LsdTuning,
    PrefixHistogramTuning,
    TileTuning,
    needs_u64_positions,
)
from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.kernel import LaunchMode
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Entry, Shape

_PLAN = layout("DevicePlan")
REMAINDER_OFFSET = _PLAN.offset("remainder")
PLAN_BYTES = _PLAN.size
_DISORDER_BYTES = layout("Disorder").size
_RANK_MAP_BYTES = layout("RankMap").size
_PORTION = layout("Portion")
PORTION = _PORTION.packer()  # a `Portion`: begin, count, digit starts, the next portion's starts, states; epoch, writes_keys
_INPUTS = layout("PlanInputs")
_PACKED_INPUTS = _INPUTS.packer()
_PLAN_ARGUMENTS = f"PP{_INPUTS.argument}PP"
_COPY_OR_REVERSE = Entry("arrange/sort/gpu/lsd/copy_or_reverse.cu", "copy_or_reverse", f"P{ARRAYS}QI", mode=LaunchMode.EARLY)
_NO_DEFINES: dict[str, int] = {}
SPLITTER_SAMPLES = 16  # keys of the sample for each splitter: `part_samples` of splitters.cu
WARP_KEYS = 32
_MANY_KEYS, _MANY_KEYS_THREADS = 1 << 20, 1024
"""Number of keys from which `copy_or_reverse` has blocks of 1,024 threads: fewer blocks end sooner if there is nothing to do."""


class MsdUse(IntEnum):
    """Condition under which the device's plan chooses the MSD sort: the values of ``MsdUse`` of sort_task.hpp."""

    NEVER = 0
    IF_CHEAPER = 1
    ALWAYS = 2
    IF_ONE_PASS = 3  # if it is cheaper, and one pass leaves no bucket larger than a leaf bucket


@dataclass(frozen=True, slots=True)
class PlanInputs:
    """Facts about a sort that the device's plan depends on, besides the counts of digits."""

    in_place: bool  # True if an array is written where it is read
    keeps_equals: bool  # True if equal keys must keep their order
    msd: MsdUse = MsdUse.NEVER  # True if the plan may choose the MSD sort
    max_block_keys: int = 1  # maximum number of keys of a bucket that one block sorts
    value_bytes: int = 0  # bytes of values that move with each key

    def packed(self, count: int) -> bytes:
        """Return the bytes of a ``PlanInputs`` of sort_task.hpp."""
        return _PACKED_INPUTS.pack(count, self.in_place, self.msd, self.max_block_keys, self.value_bytes)


class DevicePlan:
    """The plan of a sort in device memory, with the counts of all digits and the first position of each digit value.

    Memory for keys of `width` bytes: 16 bytes for each digit and value, and 304; 256 KiB more for a prefix histogram.

    `zeros`: a buffer of `nbytes` bytes that are zero.
    `samples`: whether a sample of the keys is taken, which may exclude an MSD sort.
    `counts_prefixes`: whether sampled keys may be counted by their 16-bit prefixes.
    `has_splitters`: whether MSD's first pass may be by splitters of a sample.
    `counts_top_bits`: whether the highest bits are counted, one more than a digit has, for an MSD sort of one pass.
    """

    def __init__(
        self,
        context: SortContext,
        keys: KeyType,
        tuning: LsdTuning,
        zeros: DeviceBuffer,
        *,
        samples: bool = False,
        counts_prefixes: bool = False,
        has_splitters: bool = False,
        counts_top_bits: bool = False,
    ) -> None:
        self._context, self._keys, self._tuning = context, keys, tuning
        self.table_bytes = keys.digit_count(tuning.bits) * (8 << tuning.bits)
        self.totals = zeros
        self.starts = context.launcher.allocate(self.table_bytes * tuning.portions(context.capacity))
        self._disorder = BufferSlice(self.totals, self.table_bytes)
        self._differ = BufferSlice(self.totals, self.table_bytes + _DISORDER_BYTES)
        self.plan = BufferSlice(self.totals, self.table_bytes + 2 * _DISORDER_BYTES)
        before_prefixes = self.nbytes(keys, tuning, counts_prefixes=False)
        self._samples = samples or counts_prefixes
        has_prefixes = counts_prefixes and tuning.prefix_histogram is not None
        self.prefix_counts = BufferSlice(self.totals, before_prefixes) if has_prefixes else None
        has_ranks = has_prefixes and keys.width == RANKED_KEY_BYTES
        self.rank_map = context.launcher.allocate(_RANK_MAP_BYTES + (4 << 2 * tuning.bits - 4)) if has_ranks else None
        self.top_counts = BufferSlice(self.totals, before_prefixes) if counts_top_bits else None
        digits = 1 << tuning.bits
        self.splitters = context.launcher.allocate((digits + 1) * 8) if has_splitters else None

    @property
    def bits(self) -> int:
        """Return the bits of a digit."""
        return self._tuning.bits

    @staticmethod
    def nbytes(keys: KeyType, tuning: LsdTuning, *, counts_prefixes: bool, counts_top_bits: bool = False) -> int:
        """Return the bytes of zeros that a plan needs."""
        digits = keys.digit_count(tuning.bits) * (8 << tuning.bits)
        prefixes = 4 << 2 * tuning.bits if counts_prefixes and tuning.prefix_histogram is not None else 0
        return digits + 2 * _DISORDER_BYTES + PLAN_BYTES + prefixes + (16 << tuning.bits if counts_top_bits else 0)

    def make(self, source: DeviceBuffer, inputs: PlanInputs, remainder: DeviceBuffer | None = None) -> None:
        """Count digits and choose the passes. `remainder`: buffer of the keys that are left if heavy hitters are extracted."""
        packed = inputs.packed(self._context.count)
        sizes = self._tuning.prefix_histogram
        if self._samples and sizes is not None:
            self._sample(source, packed, sizes)
        if self.prefix_counts is not None and sizes is not None:
            self._count_prefixes(source, packed, self.prefix_counts, sizes)
        if self.splitters is not None:
            self._choose_splitters(source, packed, self.splitters)
        self._count_digits(source, remainder, packed, keeps_equals=inputs.keeps_equals)

    def _sample(self, source: DeviceBuffer, inputs: bytes, sizes: PrefixHistogramTuning) -> None:
        """Decide by a sample whether prefixes of keys or of ranks are counted."""
        keys, context, bits = self._keys, self._context, self._tuning.bits
        context.launcher.launch(
            _prefix_entry("sample_prefixes", f"PQ{len(keys.rule)}s24sPP"),
            Shape(sizes.defines(keys, bits), 1, sizes.threads, 1 << 2 * bits),
            (source, context.count, keys.rule, inputs, self.rank_map, self.plan),
        )

    def _count_prefixes(self, source: DeviceBuffer, inputs: bytes, counts: BufferSlice, sizes: PrefixHistogramTuning) -> None:
        """Count prefixes if the sample shows that the MSD sort is likely to be cheaper."""
        keys, context = self._keys, self._context
        launch, rule = context.launcher.launch, len(keys.rule)
        defines, counter_bytes = sizes.defines(keys, self._tuning.bits), 4 << 2 * self._tuning.bits
        blocks = max(1, min(-(-context.capacity * keys.width // (sizes.threads * sizes.rows * 16)), context.multiprocessors))
        launch(
            _prefix_entry("count_prefixes", f"PQ{rule}sPPPP"),
            Shape(defines, blocks, sizes.threads, counter_bytes // 2),
            (source, context.count, keys.rule, counts, self._differ, self.rank_map, self.plan),
        )
        launch(
            _prefix_entry("plan_by_prefixes", _PLAN_ARGUMENTS),
            Shape(defines, 1, sizes.threads),
            (counts, self._differ, inputs, self.totals, self.plan),
        )

    def _choose_splitters(self, source: DeviceBuffer, inputs: bytes, splitters: DeviceBuffer) -> None:
        """Choose splitters from a sample, and count the keys between them if MSD is likely to be cheaper."""
        keys, context, sizes, bits = self._keys, self._context, self._tuning.splitters, self._tuning.bits
        launch, rule, defines, count = context.launcher.launch, len(keys.rule), sizes.defines(keys, bits), context.count
        sampled = SPLITTER_SAMPLES << bits
        ranked = context.launcher.allocate(sampled * 8)
        launch(
            _splitter_entry("rank_sample", f"PQ{rule}sPP"),
            Shape(defines, sampled // WARP_KEYS, sizes.threads, sampled * keys.width),
            (source, count, keys.rule, ranked, self.plan),
        )
        launch(
            _splitter_entry("choose_splitters", f"P{_INPUTS.argument}PP"),
            Shape(defines, 1, sizes.threads),
            (ranked, inputs, splitters, self.plan),
        )
        tile = sizes.threads * sizes.rows * 16 // keys.width
        launch(
            _splitter_entry("count_by_splitters", f"PQ{rule}sPPP"),
            Shape(defines, max(1, min(-(-context.capacity // tile), context.multiprocessors * sizes.blocks)), sizes.threads),
            (source, count, keys.rule, splitters, self.totals, self.plan),
        )

    def _count_digits(self, source: DeviceBuffer, remainder: DeviceBuffer | None, inputs: bytes, *, keeps_equals: bool) -> None:
        keys, bits, context = self._keys, self._tuning.bits, self._context
        sizes = self._tuning.histogram
        tile = sizes.threads * sizes.rows * 16 // keys.width
        blocks = max(1, min(-(-context.capacity // tile), context.multiprocessors * sizes.blocks))
        defines = sizes.defines(keys, bits)
        shape = Shape(defines, blocks, sizes.threads, _counter_bytes(keys.digit_count(bits) << bits, sizes.threads))
        top = self.top_counts
        args = (source, context.count, keys.rule, int(keeps_equals), self.totals, self._disorder, remainder, top, self.plan)
        context.launcher.launch(_count_entry(len(keys.rule)), shape, args)
        shape = Shape(defines, 1, sizes.plan_threads)
        context.launcher.launch(
            _CHOOSE_PLAN, shape, (self.totals, self._disorder, inputs, self.starts, self.top_counts, self.plan)
        )

    def copy_or_reverse(self, arrays: SortArrays, *, writes_keys: bool = True) -> None:
        """Copy or reverse the arrays if the plan found the keys in ascending or descending order."""
        context = self._context
        threads = THREADS if context.capacity < _MANY_KEYS else _MANY_KEYS_THREADS
        blocks = min(context.blocks(context.capacity, 4 * threads), context.multiprocessors * (RESIDENT_THREADS // threads))
        args = (self.plan, arrays.packed, context.count, int(writes_keys))
        context.launcher.launch(_COPY_OR_REVERSE, Shape(_NO_DEFINES, blocks, threads), args)


def tile_shape(tile: TileTuning, context: SortContext, keys: KeyType, bits: int, count: int) -> Shape:
    """Return the launch configuration for `count` of the keys of a sort, by digits of `bits` bits."""
    blocks = min(-(-count // tile.keys), context.multiprocessors * tile.blocks)
    defines = tile.defines(keys, bits, is_large=needs_u64_positions(context.capacity))
    return Shape(defines, blocks, tile.threads, tile.shared_bytes(keys.width, bits))


class LsdSort:
    """Passes from the lowest digit up.

    `states`: look-back states: `states_bytes` zeros, at most a third of a byte a key.
    """

    def __init__(self, context: SortContext, keys: KeyType, tuning: LsdTuning, tile: TileTuning, states: DeviceBuffer) -> None:
        self._context, self._keys, self._tuning, self._tile, self._states = context, keys, tuning, tile, states
        self._portions = tuning.portions(context.capacity)

    @staticmethod
    def states_bytes(count: int, tuning: LsdTuning, tile: TileTuning) -> int:
        """Return the bytes of one state for each tile of a portion and digit value, and of two counters."""
        return 16 + -(-min(count, tuning.portion) // tile.keys) * (8 << tuning.bits)

    def run(self, plan: DevicePlan, arrays: SortArrays, *, writes_keys: bool = True, is_remainder: bool = False) -> None:
        """Launch all passes; they do nothing unless the plan chose LSD.

        `writes_keys`: whether the last pass writes keys.
        `is_remainder`: whether heavy hitters are extracted. Then the passes sort the remaining keys and always write them.
        """
        name = "remainder_pass" if is_remainder else "onesweep_pass"
        packed, entry = arrays.packed, _pass_entry(name, len(self._keys.rule))
        for number in range(self._keys.digit_count(self._tuning.bits)):
            for portion in range(self._portions):
                description = self._portion(plan, number, portion, writes_keys=writes_keys or is_remainder)
                count = min(self._tuning.portion, self._context.capacity - portion * self._tuning.portion)
                shape = tile_shape(self._tile, self._context, self._keys, self._tuning.bits, count)
                self._context.launcher.launch(entry, shape, (plan.plan, number, self._keys.rule, packed, description))

    def _portion(self, plan: DevicePlan, number: int, portion: int, *, writes_keys: bool) -> bytes:
        begin = portion * self._tuning.portion
        count = min(self._tuning.portion, self._context.count - begin)
        starts = plan.starts.address + portion * plan.table_bytes
        next_starts = starts + plan.table_bytes if portion + 1 < self._portions else 0
        epoch = number * self._portions + portion + 1
        return PORTION.pack(begin, count, starts, next_starts, self._states.address, epoch, int(writes_keys))


def _counter_bytes(counters: int, threads: int) -> int:
    """Return the shared memory of digit_histogram.cu: replicas of each counter, a power of two up to 32, 128 bytes a thread."""
    max_replicas = max(1, threads * 32 // counters)
    return min(1 << max_replicas.bit_length() - 1, 32) * counters * 4


_CHOOSE_PLAN = Entry("arrange/sort/gpu/lsd/digit_histogram.cu", "choose_plan", f"{_PLAN_ARGUMENTS}P", mode=LaunchMode.EARLY)


@lru_cache(8)
def _count_entry(rule: int) -> Entry:
    return Entry("arrange/sort/gpu/lsd/digit_histogram.cu", "count_digits", f"PQ{rule}sIPPPPP", mode=LaunchMode.EARLY)


@lru_cache(16)
def _prefix_entry(name: str, signature: str) -> Entry:
    return Entry("arrange/sort/gpu/lsd/prefix_histogram.cu", name, signature, mode=LaunchMode.EARLY)


@lru_cache(16)
def _splitter_entry(name: str, signature: str) -> Entry:
    return Entry("arrange/sort/gpu/lsd/splitters.cu", name, signature, mode=LaunchMode.EARLY)


@lru_cache(16)
def _pass_entry(name: str, rule: int) -> Entry:
    return Entry("arrange/sort/gpu/lsd/onesweep_pass.cu", name, f"PI{rule}s{ARRAYS}{_PORTION.argument}", mode=LaunchMode.EARLY)
