"""A sort from the lowest digit up, each digit in one reading: launches of digit_histogram.cu, plan.cu and onesweep_pass.cu."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from headrace.arrange.multisplit.gpu.launches import MOST_BY_U32
from headrace.arrange.sort.gpu.common.launch import RESIDENT_THREADS, THREADS, Common, Keys, Moved, packed_arrays
from headrace.gpu.kernels.kernel import LaunchMode
from headrace.gpu.kernels.launcher import Entry, Part, Room, Shape

LIGHTS_AT = 16 + 16 * 16 + 8
PLAN_BYTES = LIGHTS_AT + 8
"""Of a ``Plan``; and the byte where it tells how many keys are light."""
_DISORDER_BYTES = 8
PORTION = struct.Struct("<5Q2I")
"""Of a step: begin, count, where digits start and where the next portion's do, states; epoch, and whether keys are written."""
MAY, MUST = 1, 2
"""Of a `Case`, whether to go by parts; 0: not."""
_STRAIGHT = Entry("arrange/sort/gpu/lsd/copy_or_reverse.cu", "sort_straight", "P296sQI", mode=LaunchMode.EARLY)
_STRAIGHT_DEFINES: dict[str, int] = {}
_STRAIGHT_THREADS, _MANY = 1024, 1 << 20
"""Of a block, from so many keys on: few blocks of many, since a launch that has nothing to do ends the sooner."""


@dataclass(frozen=True, slots=True)
class Tiles:
    """How tiles of a stable step are compiled (split_tile.cuh), and their shape.

    Parameters
    ----------
    shape
        Threads of a block, keys of a thread, blocks of a multiprocessor.
    values
        0: without; 4 or 8: bytes of a value, of which a key has one; 1: whatever moves follows the keys.
    follows
        Whether the one value follows its key, loaded while keys go out; else both move together.
    """

    shape: tuple[int, int, int]
    values: int = 0
    follows: bool = False

    def defines(self, keys: Keys, bits: int, count: int) -> Mapping[str, Any]:
        """Macros for `count` keys."""
        threads, items, resident = self.shape
        sizes = ("HR_BITS", bits), ("HR_THREADS", threads), ("HR_ITEMS", items), ("HR_BLOCKS", resident)
        together = ("HR_VALUES", self.values), ("HR_TOGETHER", int(self.values > 1 and not self.follows))
        return keys.defines(*sizes, *together, ("HR_TO", "u32" if count <= MOST_BY_U32 else "u64"))

    def launch(self, common: Common, keys: Keys, bits: int, count: int) -> Shape:
        """Over `count` keys of all that there are."""
        threads, items, resident = self.shape
        blocks = min(-(-count // (threads * items)), common.multiprocessors * resident)
        return Shape(self.defines(keys, bits, common.count), blocks, threads, self.shared(keys.width, bits))

    def shared(self, width: int, bits: int) -> int:
        """Bytes of shared memory for keys of `width`."""
        threads, items, _ = self.shape
        return tile_bytes(threads, items, width + (1 if self.follows else self.values), 1 << bits)


@dataclass(frozen=True, slots=True)
class DigitShapes:
    """Sizes that the kernels are compiled for, as programs.py lists them, by bytes of a key; tests have smaller ones.

    Parameters
    ----------
    bits
        Of a digit.
    keys, with_values
        Threads of a block, keys of a thread, blocks of a multiprocessor.
    one_value
        Tiles by bytes of a key and of the one value that it has.
    counting
        Threads, and vectors of 16 bytes of a thread.
    planning
        Threads.
    counting_blocks
        Of a multiprocessor.
    heads
        Of what counts heads of keys: threads, vectors of 16 bytes of a thread, and what no counter comes to; None where a block
        has no room for so many counters.
    portion
        Keys of a launch at most.
    few
        In place of `one_value` up to so many keys, where large tiles leave blocks idle in the last round.
    """

    bits: int = 8
    keys: tuple[tuple[int, tuple[int, int, int]], ...] = (
        (1, (512, 24, 2)),
        (2, (512, 24, 2)),
        (4, (384, 32, 2)),
        (8, (256, 32, 2)),
    )
    with_values: tuple[tuple[int, tuple[int, int, int]], ...] = (
        (1, (384, 16, 2)),
        (2, (384, 16, 2)),
        (4, (384, 16, 2)),
        (8, (512, 12, 1)),
    )
    counting: tuple[int, int] = (1024, 4)
    planning: int = 256
    counting_blocks: int = 1
    heads: tuple[int, int, int] | None = (1024, 4, 1 << 16)
    portion: int = 1 << 30
    one_value: tuple[tuple[tuple[int, int], Tiles], ...] = (
        ((4, 4), Tiles((256, 32, 2), 4)),
        ((8, 8), Tiles((256, 24, 2), 8, follows=True)),
    )
    few: tuple[tuple[tuple[int, int], tuple[int, Tiles]], ...] = (((8, 8), (1 << 21, Tiles((256, 16, 2), 8, follows=True))),)

    def of(self, width: int, widths: Sequence[int], count: int) -> Tiles:
        """Of `count` keys of so many bytes, and arrays of items of `widths` that go with them."""
        if not widths:
            return Tiles(dict(self.keys)[width])
        both = (width, widths[0]) if len(widths) == 1 else (0, 0)
        most, few = dict(self.few).get(both, (0, None))
        if few is not None and count <= most:
            return few
        return dict(self.one_value).get(both) or Tiles(dict(self.with_values)[width], 1)

    def portions(self, count: int) -> int:
        """Launches of a step."""
        return -(-count // self.portion)


@dataclass(frozen=True, slots=True)
class Case:
    """What a plan is made of besides counts.

    Parameters
    ----------
    in_place
        Whether an array is written where it is read.
    keeps_equals
        Whether equal keys must keep their order.
    parts
        Whether to go by parts: 0 no, `MAY` where that moves less, `MUST`.
    most_in_one
        Keys that one block sorts.
    value_bytes
        Of what goes with a key.
    """

    in_place: bool
    keeps_equals: bool
    parts: int = 0
    most_in_one: int = 1
    value_bytes: int = 0

    def packed(self, count: int) -> bytes:
        """A ``Case``."""
        return struct.pack("<Q4I", count, self.in_place, self.parts, self.most_in_one, self.value_bytes)


class Plan:
    """Counts of all digits, where each begins, and what is done, all on the device.

    Its memory for keys of `width` bytes: 16 bytes for each digit and value, and 304; 256 KiB where heads of keys may be counted.

    Parameters
    ----------
    zeros
        `nbytes`, cleared.
    """

    def __init__(self, common: Common, keys: Keys, shapes: DigitShapes, zeros: Room, *, takes_heads: bool = False) -> None:
        self._common, self._keys, self._shapes = common, keys, shapes
        self.table_bytes = keys.digits(shapes.bits) * (8 << shapes.bits)
        self.totals = zeros
        self.starts = common.launcher.room(self.table_bytes * shapes.portions(common.count))
        self._disorder = Part(self.totals, self.table_bytes)
        self._differ = Part(self.totals, self.table_bytes + _DISORDER_BYTES)
        self.plan = Part(self.totals, self.table_bytes + 2 * _DISORDER_BYTES)
        own_bytes = self.nbytes(keys, shapes, takes_heads=False)
        self.heads = Part(self.totals, own_bytes) if takes_heads and shapes.heads is not None else None

    @property
    def bits(self) -> int:
        """Of a digit."""
        return self._shapes.bits

    @staticmethod
    def nbytes(keys: Keys, shapes: DigitShapes, *, takes_heads: bool) -> int:
        """Of zeros: counts of digits and heads, and what is decided."""
        digits = keys.digits(shapes.bits) * (8 << shapes.bits)
        heads = 4 << 2 * shapes.bits if takes_heads and shapes.heads is not None else 0
        return digits + 2 * _DISORDER_BYTES + PLAN_BYTES + heads

    def make(self, source: Room, case: Case, lights: Room | None = None) -> None:
        """Count, and decide. `lights`: where those are whose heavy ones were set aside."""
        packed = case.packed(self._common.count)
        if self.heads is not None and self._shapes.heads is not None:
            self._count_heads(source, packed, self.heads, self._shapes.heads)
        self._count_all((source, lights), packed, keeps_equals=case.keeps_equals)

    def _count_heads(self, source: Room, case: bytes, heads: Part, shape: tuple[int, int, int]) -> None:
        """If a sample tells that it is worth it."""
        keys, shapes, common = self._keys, self._shapes, self._common
        threads, rows, full = shape
        sizes = ("HR_BITS", shapes.bits), ("HR_THREADS", threads), ("HR_ROWS", rows), ("HR_FULL", full)
        defines, rule = keys.defines(*sizes), len(keys.rule)
        words = 4 << 2 * shapes.bits
        common.launcher.launch(
            _heads_entry("sort_sample", f"PQ{rule}s24sP"),
            Shape(defines, 1, threads, words // 4),
            (source, common.count, keys.rule, case, self.plan),
        )
        blocks = max(1, min(-(-common.count * keys.width // (threads * rows * 16)), common.multiprocessors))
        common.launcher.launch(
            _heads_entry("sort_count_heads", f"PQ{rule}sPPP"),
            Shape(defines, blocks, threads, words // 2),
            (source, common.count, keys.rule, heads, self._differ, self.plan),
        )
        common.launcher.launch(
            _heads_entry("sort_plan_heads", "PP24sPP"),
            Shape(defines, 1, threads),
            (heads, self._differ, case, self.totals, self.plan),
        )

    def _count_all(self, sources: tuple[Room, Room | None], case: bytes, *, keeps_equals: bool) -> None:
        keys, shapes, common = self._keys, self._shapes, self._common
        threads, rows = shapes.counting
        tile = threads * rows * 16 // keys.width
        blocks = max(1, min(-(-common.count // tile), common.multiprocessors * shapes.counting_blocks))
        sizes = ("HR_BITS", shapes.bits), ("HR_THREADS", threads), ("HR_ROWS", rows)
        shape = Shape(keys.defines(*sizes), blocks, threads, _counter_bytes(keys.digits(shapes.bits) << shapes.bits, threads))
        source, lights = sources
        args = (source, common.count, keys.rule, int(keeps_equals), self.totals, self._disorder, lights, self.plan)
        common.launcher.launch(_count_entry(len(keys.rule)), shape, args)
        alike = Keys(keys.width, keys.rule)
        shape = Shape(alike.defines(("HR_BITS", shapes.bits), ("HR_THREADS", shapes.planning)), 1, shapes.planning)
        common.launcher.launch(_PLAN, shape, (self.totals, self._disorder, case, self.starts, self.plan))

    def run_straight(self, arrays: tuple[Moved, Sequence[Moved]], *, writes_keys: bool = True) -> None:
        """Keys that were in order, or in the reverse one."""
        common = self._common
        threads = THREADS if common.count < _MANY else _STRAIGHT_THREADS
        blocks = min(common.blocks(common.count, 4 * threads), common.multiprocessors * (RESIDENT_THREADS // threads))
        shape = Shape(_STRAIGHT_DEFINES, blocks, threads)
        common.launcher.launch(_STRAIGHT, shape, (self.plan, packed_arrays(*arrays), common.count, int(writes_keys)))


class DigitSort:
    """Steps from the lowest digit up.

    Parameters
    ----------
    states
        Of look-back, `states_bytes` of zeros, at most a third of a byte a key.
    """

    def __init__(self, common: Common, keys: Keys, shapes: DigitShapes, tiles: Tiles, states: Room) -> None:
        self._common, self._keys, self._shapes, self._tiles, self._states = common, keys, shapes, tiles, states
        self._portions = shapes.portions(common.count)

    @staticmethod
    def states_bytes(count: int, shapes: DigitShapes, tiles: Tiles) -> int:
        """A state for each tile of a portion and value of a digit, and two counters."""
        threads, items, _ = tiles.shape
        return 16 + -(-min(count, shapes.portion) // (threads * items)) * (8 << shapes.bits)

    def run(
        self, plan: Plan, arrays: tuple[Moved, Sequence[Moved]], *, writes_keys: bool = True, are_light: bool = False
    ) -> None:
        """Sort, if the plan is to go by digits; there are 8 columns at most. Light keys, where heavy ones are set aside, are all
        written.
        """
        packed, entry = packed_arrays(*arrays), (_light_entry if are_light else _pass_entry)(len(self._keys.rule))
        for number in range(self._keys.digits(self._shapes.bits)):
            for portion in range(self._portions):
                self._step(plan, (number, portion), packed, (entry, writes_keys or are_light))

    def _step(self, plan: Plan, which: tuple[int, int], arrays: bytes, how: tuple[Entry, bool]) -> None:
        (number, portion), (entry, writes_keys) = which, how
        common, shapes, keys = self._common, self._shapes, self._keys
        begin = portion * shapes.portion
        count = min(shapes.portion, common.count - begin)
        table = plan.table_bytes
        starts = plan.starts.address + portion * table
        follows = starts + table if portion + 1 < self._portions else 0
        epoch = number * self._portions + portion + 1
        packed = PORTION.pack(begin, count, starts, follows, self._states.address, epoch, int(writes_keys))
        args = (plan.plan, number, keys.rule, arrays, packed)
        common.launcher.launch(entry, self._tiles.launch(common, keys, shapes.bits, count), args)


def tile_bytes(threads: int, items: int, width: int, digits: int) -> int:
    """Shared memory of a tile's keys, `width` bytes for each, and of a ``Shared`` of arrange/multisplit/gpu/split_tile.cuh."""
    shared = threads * items * width + digits * (16 + threads // 8) + threads // 8 + 136
    return -(-shared // 16) * 16


def _counter_bytes(counters: int, threads: int) -> int:
    """Of digit_histogram.cu: 128 a thread at most, of each value a power of two of counters and no more than lanes."""
    most = max(1, threads * 32 // counters)
    return min(1 << most.bit_length() - 1, 32) * counters * 4


_PLAN = Entry("arrange/sort/gpu/lsd/plan.cu", "sort_plan", "PP24sPP", mode=LaunchMode.EARLY)


@lru_cache(8)
def _count_entry(rule: int) -> Entry:
    return Entry("arrange/sort/gpu/lsd/digit_histogram.cu", "sort_count", f"PQ{rule}sIPPPP", mode=LaunchMode.EARLY)


@lru_cache(16)
def _heads_entry(name: str, signature: str) -> Entry:
    return Entry("arrange/sort/gpu/lsd/prefix_histogram.cu", name, signature, mode=LaunchMode.EARLY)


@lru_cache(8)
def _light_entry(rule: int) -> Entry:
    return Entry("arrange/sort/gpu/heavy_hitters/remainder_pass.cu", "light_pass", f"PI{rule}s296s48s", mode=LaunchMode.EARLY)


@lru_cache(8)
def _pass_entry(rule: int) -> Entry:
    return Entry("arrange/sort/gpu/lsd/onesweep_pass.cu", "sort_pass", f"PI{rule}s296s48s", mode=LaunchMode.EARLY)
