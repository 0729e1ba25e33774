"""Launches the multisplit kernels: count, split and unordered partition of one digit's pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np  # a dependency of cuda-core

from headrace.arrange.bucket.layouts import rule_layout
from headrace.arrange.gather.moved_items import MovedItems
from headrace.arrange.multisplit.gpu.tuning import (
    BY_CHUNKS,
    KERNEL_BITS,
    KEY_BYTES,
    PassKind,
    SplitTuning,
    bins_bytes,
    count_defines,
    kernel_bits,
    moves_together,
    reserve_defines,
    rule_defines,
    split_defines,
)
from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Launcher, Shape

COLUMNS = layout("Columns")
MAX_COLUMNS = COLUMNS.length("width")  # columns of values that one launch moves
VALUE_BYTES = 4  # shared memory for a value of each key (split_tile.cuh)
PLACES = layout("SplitPlaces").packer()
_CHUNKS, _PACKED_COLUMNS = layout("ChunkLayout"), COLUMNS.packer()
_BITS, _HASH_BITS = (rule_layout(rule, np.dtype("u4")) for rule in ("BitsOf", "HashBitsOf"))
BUCKET_LIMIT = layout("BucketLimit").packer()  # end of a `Digit` (split_rule.cuh), after the rule
DIGIT_OF_BITS = f"{_BITS.size + BUCKET_LIMIT.size}s"  # a ``Digit`` of bits, in signatures

_BASES = Entry("arrange/multisplit/gpu/count.cu", "split_bases", "PPIPPPI")
_RESERVE = Entry("arrange/multisplit/gpu/reserve.cu", "split_reserve", f"PPQ{DIGIT_OF_BITS}P")
_COUNT_TILE_KEYS = 16384  # chunk lengths of `Splitter.starts` are multiples of this
_BASES_THREADS, _BASES_DIGITS = 1024, 32  # threads and digits per block of ``split_bases``


@dataclass(frozen=True, slots=True)
class Pass:
    """The digits of one pass."""

    key: str  # type of the keys, as the kernels name it
    rule: str  # rule of the digits, as the kernels name it (rules.hpp)
    digit: bytes
    count: int  # number of digits, at most 256
    bucket: str = ""  # c expression of the rule `"Computed"`
    min_bits: int = 1  # minimum digit width of the kernels to use

    @property
    def bits(self) -> int:
        """Digit width that the kernels are compiled for."""
        return kernel_bits(self.key, self.count, self.min_bits)

    @property
    def kind(self) -> PassKind:
        """Properties that the kernels are compiled for."""
        return PassKind(self.key, self.rule, self.bits)

    @property
    def digits(self) -> int:
        """Number of digits of those kernels."""
        return 1 << self.bits


def digit_bytes(rule: bytes, count: int) -> bytes:
    """Return the bytes of a ``Digit``: a rule, and the highest of `count` buckets."""
    return rule + BUCKET_LIMIT.pack(count - 1, 0)


def bits_pass(key: str, low: int, high: int) -> Pass:
    """Return the pass over the bits from `low` up to, and without, `high`."""
    count = 1 << (high - low)
    return Pass(key, "BitsOf", digit_bytes(_BITS.pack(low, count - 1), count), count)


def hash_pass(key: str, low: int, high: int, seed: int) -> Pass:
    """Return the pass that replaces keys by their seeded hashes, of unsigned words, and splits by bits of the hash."""
    count = 1 << (high - low)
    digit = digit_bytes(_HASH_BITS.pack(low, count - 1, seed), count)
    return Pass(key, "HashBitsOf", digit, count, min_bits=KERNEL_BITS[1])


class Splitter:
    """Runs passes over a fixed number of keys.

    `capacity`: number of keys for which grids and memory are chosen, not less than `count`; 0 for `count`.
    """

    def __init__(self, launcher: Launcher, count: int, tuning: SplitTuning, capacity: int = 0) -> None:
        self.launcher = launcher
        self.count = count
        self.capacity = capacity or count
        self.tuning = tuning

    def run(self, by: Pass, columns: Sequence[MovedItems], offsets: DeviceBuffer | None) -> DeviceBuffer:
        """Split by chunks: count the digits of each chunk, scan the counts, then move the items.

        `by`, `columns`: the digits; and the keys, followed by the columns of values.
        `offsets`: buffer for the start of each digit and the end, or None.
        Result: number of keys of each digit, then the number of keys in no bucket; 64 bits each.
        """
        threads, items, _ = self.tuning.split(by.kind, BY_CHUNKS, [column.width for column in columns[1:]])
        tile = threads * items
        length = tile * max(1, self.tuning.chunk_keys[KERNEL_BITS.index(by.bits)] // tile)
        chunks = -(-self.capacity // length)
        group = -(-chunks // (self.tuning.multiprocessors * self.tuning.groups_per_multiprocessor))
        groups = -(-chunks // group)
        counts = self.launcher.allocate(chunks * by.digits * 4)
        group_counts = self.launcher.allocate(groups * by.digits * 4)
        bases = self.launcher.allocate(groups * by.digits * 8)
        totals = self._count(by, columns[0].source, (length, group, groups), (counts, group_counts))
        self.scan(by, (group_counts, totals, groups, bases), offsets)
        places = PLACES.pack(bases.address, counts.address, length, 0, 0, group)
        self.move(by, BY_CHUNKS, chunks, places, columns)
        return totals

    def run_by_reserving(self, by: Pass, keys: MovedItems, cursors: DeviceBuffer) -> None:
        """Partition keys without an order inside a digit: each tile reserves its output range by an atomic addition.

        `cursors`: position of the next key of each digit, 64 bits each; the kernel advances them.
        """
        sizes = reserve_defines(self.tuning, by.key, by.digits, self.capacity)
        threads = sizes["HR_THREADS"]
        tiles = -(-self.capacity // (threads * sizes["HR_ITEMS"]))
        blocks = min(tiles, self.tuning.multiprocessors * sizes["HR_BLOCKS"])
        shape = Shape(_defines(by, sizes), blocks, threads, bins_bytes(sizes["HR_BIN"], by.digits, KEY_BYTES[by.key]))
        self.launcher.launch(_RESERVE, shape, (keys.source, keys.target, self.count, by.digit, cursors))

    def starts(self, by: Pass, keys: DeviceBuffer, offsets: DeviceBuffer | None = None) -> tuple[DeviceBuffer, DeviceBuffer]:
        """Return the start of each digit, 64 bits each, and the counts that `run` returns."""
        max_groups = self.tuning.multiprocessors * self.tuning.groups_per_multiprocessor
        length = -(-self.capacity // (max_groups * _COUNT_TILE_KEYS)) * _COUNT_TILE_KEYS
        groups = -(-self.capacity // length)
        totals = self._count(by, keys, (length, 1, groups), (None, None))
        return self.scan(by, (None, totals, groups, None), offsets), totals

    def _count(
        self, by: Pass, keys: DeviceBuffer, chunks: tuple[int, int, int], counts: tuple[DeviceBuffer | None, DeviceBuffer | None]
    ) -> DeviceBuffer:
        length, group, groups = chunks
        totals = self.launcher.allocate((by.digits + 1) * 8, fill=0)
        described = _CHUNKS.packer().pack(self.count, length, group, 0)
        shape = Shape(_defines(by, count_defines(self.tuning)), groups, self.tuning.counting[0])
        self.launcher.launch(_count_entry(len(by.digit)), shape, (keys, described, by.digit, *counts, totals))
        return totals

    def scan(self, by: Pass, args: tuple[Any, ...], offsets: DeviceBuffer | None) -> DeviceBuffer:
        """Scan counts into output positions; return the start of each digit.

        `by`, `args`: the digits; and counts of each group, totals, number of groups, and the buffer for their positions.
        `offsets`: as in `run`.
        """
        starts = self.launcher.allocate(by.digits * 8)
        shape = Shape(_defines(by, count_defines(self.tuning)), -(-by.digits // _BASES_DIGITS), _BASES_THREADS)
        self.launcher.launch(_BASES, shape, (*args, starts, offsets, by.count))
        return starts

    def move(self, by: Pass, placement: int, blocks: int, places: bytes, columns: Sequence[MovedItems]) -> None:
        """Launch the split kernel.

        `by`, `placement`, `blocks`: the digits, `BY_CHUNKS` or `BY_LOOK_BACK`, and the number of blocks.
        `places`: bytes of a ``SplitPlaces``.
        `columns`: as in `run`.
        """
        keys, moved = columns[0], columns[1:]
        widths = [column.width for column in moved]
        sizes = split_defines(self.tuning, by.kind, placement, widths, self.capacity)
        threads, items, values = sizes["HR_THREADS"], sizes["HR_ITEMS"], sizes["HR_VALUES"]
        item_bytes = KEY_BYTES[by.key]
        if placement == BY_CHUNKS and moves_together(by.kind, widths):
            item_bytes += values
        elif moved:
            item_bytes = max(item_bytes, VALUE_BYTES) + 1
        shared = threads * items * item_bytes + by.digits * (16 + threads // 8) + threads // 8 + 136
        shape = Shape(_defines(by, sizes), blocks, threads, -(-shared // 16) * 16)
        for first in range(0, max(1, len(moved)), MAX_COLUMNS):
            described = packed(moved[first : first + MAX_COLUMNS])
            args = keys.source, keys.target, self.count, by.digit, places, described
            self.launcher.launch(_split_entry(len(by.digit)), shape, args)


@cache
def _count_entry(digit: int) -> Entry:
    return Entry("arrange/multisplit/gpu/count.cu", "split_count", f"P{_CHUNKS.argument}{digit}sPPP")


@cache
def _split_entry(digit: int) -> Entry:
    return Entry("arrange/multisplit/gpu/split.cu", "split", f"PPQ{digit}s{PLACES.size}s{COLUMNS.argument}")


def _defines(by: Pass, sizes: Mapping[str, Any]) -> Mapping[str, Any]:
    return cached_defines(by.kind, by.bucket, **sizes)


@lru_cache(512)
def cached_defines(kind: PassKind, bucket: str, **sizes: int | str) -> Mapping[str, Any]:
    """Return macros, the same object for equal arguments: launchers cache kernels by its identity."""
    return {**rule_defines(kind, bucket), **sizes}


def packed(columns: Sequence[MovedItems]) -> bytes:
    """Return the bytes of a ``Columns``."""
    empty = [0] * (MAX_COLUMNS - len(columns))
    sources = [*(column.source.address for column in columns), *empty]
    targets = [*(column.target.address for column in columns), *empty]
    widths = [*(column.width for column in columns), *empty]
    return _PACKED_COLUMNS.pack(*sources, *targets, *widths, len(columns), 0)
