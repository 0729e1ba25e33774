"""Launches multisplit's variants of a pass: by decoupled look-back, and warp by warp."""

from __future__ import annotations

from collections.abc import Sequence

from headrace.arrange.gather.moved_items import MovedItems
from headrace.arrange.multisplit.gpu.launches import (
    COLUMNS,
    DIGIT_OF_BITS,
    MAX_COLUMNS,
    PLACES,
    Pass,
    Splitter,
    cached_defines,
    packed,
)
from headrace.arrange.multisplit.gpu.tuning import BY_LOOK_BACK, KEY_BYTES
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Shape

MAX_LOOK_BACK_KEYS = 1 << 30
MAX_WARP_BUCKETS = 32  # maximum number of buckets of the warp-level kernels: one for each lane

_FILE = "arrange/multisplit/paper/warp_level.cu"
_COUNT_WARPS = Entry(_FILE, "count_warps", f"PQ{DIGIT_OF_BITS}QPP")
_SPLIT_WARPS = Entry(_FILE, "split_warps", f"PPQ{DIGIT_OF_BITS}QP{COLUMNS.argument}I")


def run_by_look_back(splitter: Splitter, by: Pass, columns: Sequence[MovedItems], offsets: DeviceBuffer | None) -> DeviceBuffer:
    """Split at most 2**30 keys by decoupled look-back; parameters and result as `Splitter.run`."""
    starts, totals = splitter.starts(by, columns[0].source, offsets)
    widths = [column.width for column in columns[1:]]
    threads, items, resident = splitter.tuning.split(by.kind, BY_LOOK_BACK, widths)
    tiles = -(-splitter.count // (threads * items))
    memory = splitter.launcher.allocate(16 + tiles * by.digits * 8, fill=0)
    places = PLACES.pack(starts.address, 0, 0, memory.address, 1, 1)
    splitter.move(by, BY_LOOK_BACK, min(tiles, splitter.tuning.multiprocessors * resident), places, columns)
    return totals


def run_by_warps(
    splitter: Splitter, by: Pass, columns: Sequence[MovedItems], offsets: DeviceBuffer | None, *, reorders: bool
) -> DeviceBuffer:
    """Split into at most 32 digits with one chunk per warp; parameters and result as `Splitter.run`.

    `splitter`, `by`, `columns`, `offsets`: as `Splitter.run` has them.
    `reorders`: whether keys of a digit are brought together in shared memory first ("warp-level"), or written directly
    ("direct").
    """
    launcher, count, tuning = splitter.launcher, splitter.count, splitter.tuning
    keys, moved = columns[0], columns[1:]
    threads, items = tuning.warps
    warps, tile = threads // 32, 32 * items
    max_chunks = tuning.multiprocessors * tuning.warps_per_multiprocessor
    length = -(-max(1, -(-count // max_chunks)) // tile) * tile
    blocks = -(-count // (length * warps))
    counts = launcher.allocate(blocks * warps * by.digits * 4)
    bases = launcher.allocate(blocks * warps * by.digits * 8)
    totals = launcher.allocate((by.digits + 1) * 8, fill=0)
    defines = cached_defines(by.kind, by.bucket, HR_REORDER=int(reorders), HR_THREADS=threads, HR_ITEMS=items)
    launcher.launch(_COUNT_WARPS, Shape(defines, blocks, threads), (keys.source, count, by.digit, length, counts, totals))
    splitter.scan(by, (counts, totals, blocks * warps, bases), offsets)
    widest = max(8, *(column.width for column in columns))
    splitting = Shape(defines, blocks, threads, warps * tile * (KEY_BYTES[by.key] + widest) * reorders)
    for first in range(0, max(1, len(moved)), MAX_COLUMNS):
        described = packed(moved[first : first + MAX_COLUMNS])
        args = keys.source, keys.target, count, by.digit, length, bases, described, widest
        launcher.launch(_SPLIT_WARPS, splitting, args)
    return totals
