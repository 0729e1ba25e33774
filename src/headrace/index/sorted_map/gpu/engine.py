"""Updates and searches levels in the memory of a GPU, in the stream of the levels, ordered with the streams of callers' arrays.

The stream of the levels is that of the first batch if it is a default stream, which is never destroyed. So arrays of libraries
that use the default stream need no events. Else it is the GPU's own stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, lru_cache
from operator import is_
from typing import Any

import numpy as np  # a dependency of cuda-core

from headrace import _native
from headrace.arrays.arrays import Array, fast_array, take
from headrace.arrays.device_array import DeviceArray
from headrace.arrays.placement import empty_like, in_stream_of
from headrace.core.budget import Budget
from headrace.core.layouts.layout import layout
from headrace.core.transfers import Crossings
from headrace.gpu.device.device import Gpu, gpu
from headrace.gpu.kernels.launcher import BufferSlice, GpuLauncher
from headrace.index.sorted_map.engine import Batch, Call, CopiedRanges, FoundItems, KeyRanges
from headrace.index.sorted_map.gathered import GatheredBatches
from headrace.index.sorted_map.gpu.gathered import RepeatedBatches
from headrace.index.sorted_map.gpu.launches import MapKernels, MergeTarget, sample_count
from headrace.index.sorted_map.gpu.tuning import (
    FENCES_FROM,
    FILTERED_PER_KEY,
    GATHERED_SHARE,
    GUIDE_SAMPLES,
    GUIDE_STRIDE,
    LONGEST_WALK,
    MERGED_LEVELS,
    MERGED_PER_SEARCH,
    SHORT_CODES,
    THREADS,
    WALKED_SHARE,
)
from headrace.index.sorted_map.gpu.update import launch_codes, new_update
from headrace.index.sorted_map.levels import Level, Levels
from headrace.primitives.copy import copy
from headrace.primitives.scan import scan_line

_OPTIONS = layout("NeighbourOptions").packer()


@lru_cache(256)
def _kernels_in(card: Gpu, stream: int | None, width: int) -> MapKernels:
    """Return launches without allocations in a stream. They are kept, because a launcher takes microseconds.

    Threads share them: a single launch changes nothing in a launcher.
    """
    return MapKernels(GpuLauncher(card, stream=stream, budget=Budget(), crossings=Crossings()), width)


def _first_items(array: Array, count: int) -> Array:
    """Return the first items of an array of this package, which keeps its memory."""
    owner = array.owner
    return replace(array, length=count, owner=DeviceArray(owner.buffer, owner.typestr, count, owner.first))


class GpuEngine:
    """Implements `headrace.index.sorted_map.engine.Engine`."""

    merged_per_search = MERGED_PER_SEARCH

    def __init__(self, call: Call) -> None:
        self._call = call
        self._card = gpu(call.device)
        self._own = fast_array(0, 0, "|u1", call.device, "headrace", call.stream or self._card.stream, True, None)

    @cached_property
    def _rule(self) -> bytes:
        return self._call.types.order.packed

    def added(self, batch: Batch, older: tuple[Level, ...]) -> Level:
        call = self._call
        if len(older) >= MERGED_LEVELS:
            older = (self.merged(Levels(call.types, older)),)
        count, has_tombstones = batch.keys.length, batch.has_tombstones
        for level in older:
            count += level.count
            has_tombstones = has_tombstones or level.tombstones is not None
        target = call.new_level(count, has_tombstones=has_tombstones)
        with in_stream_of(self._own, *batch.arrays):
            new_update(call.types, batch, older, target).run(call, self._card, self._own)
        return target

    @property
    def gathered_bytes(self) -> int:
        return self._card.total_memory // GATHERED_SHARE

    def gathered(self, capacity: int) -> GatheredBatches:
        return RepeatedBatches(self._call, capacity)

    def no_tombstones(self, count: int) -> Array:
        result = self._call.new(count, "|u1")
        with self._kernels() as (_, launcher):
            launcher.fill(result, 0)
        return result

    def write_codes(self, batch: Batch, to: Level, mixed: int = 1) -> None:
        card, own, types = self._card, self._own, self._call.types
        with card.current(), in_stream_of(own, *batch.arrays):
            launch_codes(_kernels_in(card, own.stream, types.key_width), types, batch, to, mixed)

    def merged(self, levels: Levels) -> Level:
        levels = self._few(levels)
        level = self._call.new_level(levels.count, has_tombstones=levels.has_tombstones)
        with self._kernels() as (kernels, _):
            kernels.merge(levels.packed, levels.sizes, MergeTarget(level.codes, level.values, level.tombstones))
        return level

    def cleaned(self, levels: Levels) -> Level | None:
        """See `Engine.cleaned`. The host waits for the number of pairs."""
        levels = self._few(levels)
        level = self._call.new_level(levels.count, has_tombstones=False)
        with self._kernels() as (kernels, launcher):
            found = kernels.merge_visible(levels.packed, levels.sizes, MergeTarget(level.codes, level.values, None))
            count = int(launcher.fetch(found).view(np.int64)[0])
        if count == 0:
            return None
        values = None if level.values is None else _first_items(level.values, count)
        clean = Level(_first_items(level.codes, count), values, is_clean=True)
        return self._of_its_size(clean) if count <= levels.count // 2 else clean

    def _of_its_size(self, level: Level) -> Level:
        """Return a clean level in memory of its size."""
        result = self._call.new_level(level.count, has_tombstones=False)
        for source, target in zip(level.arrays, result.arrays, strict=True):
            copy(source, target)
        return replace(result, is_clean=True)

    def _few(self, levels: Levels) -> Levels:
        """Return the levels with the newest merged to one, until all can be merged at once."""
        while len(levels.levels) > MERGED_LEVELS:
            newest = self.merged(Levels(levels.types, levels.levels[:MERGED_LEVELS]))
            levels = Levels(levels.types, (newest, *levels.levels[MERGED_LEVELS:]))
        return levels

    def prepared(self, levels: Levels, searches: int = 0, ranges: int = 0) -> Levels:
        """See `Engine.prepared`. Many ranges get a guide of all levels, other searches fences, and filters of newer levels.

        Fences take a seventh of the memory of codes. A filter takes a byte for each item, a guide 2.25 for up to eight levels.
        """
        if ranges:
            if levels.guide is not None:
                return levels
            counts = [level.count for level in levels.levels]
            samples = sample_count(counts, GUIDE_STRIDE)
            if 2 <= len(counts) <= MERGED_LEVELS and max(counts) < 1 << 32 and FENCES_FROM <= samples <= ranges * GUIDE_SAMPLES:
                return replace(levels, guide=self._guide(levels, samples))
        found = [self._with_fences(level) for level in levels.levels]
        for number in range(len(found) - 1):  # the oldest level has most keys that are found
            found[number] = self._with_filter(found[number], searches * FILTERED_PER_KEY)
        if all(map(is_, found, levels.levels)):
            return levels
        return replace(levels, levels=tuple(found))

    def _guide(self, levels: Levels, samples: int) -> Level:
        codes = self._call.new(samples, self._call.types.code)
        positions = self._call.new(samples * _native.map_guide_row(len(levels.levels)), "<u4")
        with self._kernels() as (kernels, _):
            counts = [level.count for level in levels.levels]
            kernels.write_guide(levels.packed, counts, GUIDE_STRIDE, (codes, positions))
        return self._with_fences(Level(codes, positions))

    def _with_fences(self, level: Level) -> Level:
        if level.fences is not None or level.count < FENCES_FROM:
            return level
        count = _native.map_fence_rows(level.count)[1]
        fences = self._call.new(count, level.codes.typestr)
        result = replace(level, fences=fences)
        with self._kernels() as (kernels, _):
            kernels.launch("write_fences", count, (result.packed, count, fences))
        return result

    def _with_filter(self, level: Level, most: int) -> Level:
        if level.filter is not None or not FENCES_FROM <= level.count <= most:
            return level
        words = self._call.new(_native.map_filter_words(level.count), "<u8")
        result = replace(level, filter=words)
        with self._kernels() as (kernels, launcher):
            launcher.fill(words, 0)
            kernels.launch("write_filter", level.count, (result.packed,))
        return result

    def find(self, levels: Levels, keys: Array) -> FoundItems:
        found = self._call.results(keys, has_keys=False)
        args = (levels.packed, keys, keys.length, self._rule, found.values, found.is_present)
        self._launch("find_keys", keys.length, args, (keys, found.values, found.is_present))
        return found

    def neighbours(self, levels: Levels, keys: Array, options: tuple[bool, bool]) -> FoundItems:
        found = self._call.results(keys, has_keys=True)
        given = (levels.packed, keys, keys.length, self._rule, _OPTIONS.pack(*options), *found)
        self._launch("find_neighbours", keys.length, given, (keys, *found))
        return found

    def counts(self, levels: Levels, ranges: KeyRanges) -> Array | None:
        """See `Engine.counts`. For levels that are not clean, the host waits for a flag of long ranges."""
        count = ranges.lows.length
        result = empty_like(ranges.lows, count, "<i8", self._call.budget)
        with self._kernels(ranges.lows, ranges.highs, result) as (kernels, launcher):
            is_long = launcher.allocate(4, fill=0)
            given = (levels.packed, ranges.lows, ranges.highs, count, self._rule)
            kernels.launch("count_ranges", count, (*given, LONGEST_WALK, result, is_long))
            if not levels.is_clean and count and launcher.fetch(is_long).any():
                return None
        return result

    def short_ranges(self, levels: Levels, ranges: KeyRanges) -> CopiedRanges | None:
        """See `Engine.short_ranges`. The host waits for the number of items."""
        call, count, types = self._call, ranges.lows.length, self._call.types
        places = -(-count // THREADS) * THREADS * SHORT_CODES[types.key_width]
        is_large = places * (types.key_width + types.value_width) > self._card.total_memory // WALKED_SHARE
        if levels.guide is None or is_large or call.budget.limit is not None:
            return None
        counts = empty_like(ranges.lows, count, "<i8")
        with self._kernels(ranges.lows, ranges.highs, counts) as (kernels, launcher):
            left = launcher.allocate(places * types.key_width), launcher.allocate(places * types.value_width)
            given = (levels.packed, ranges.lows, ranges.highs, count, self._rule)
            kernels.launch("gather_ranges", count, (*given, LONGEST_WALK, counts, *left))
        offsets = take(scan_line(counts.owner, "sum", has_initial=True, context=call.context))
        total = self._last(offsets)
        if total < 0:
            return None
        keys = empty_like(ranges.lows, total)
        values = None if types.value is None else empty_like(ranges.lows, total, types.value)
        with self._kernels(offsets, keys, values) as (kernels, _):
            kernels.launch("copy_gathered", count, (count, offsets, *left, types.value_width, keys, values))
        return CopiedRanges(offsets, keys, values)

    def _last(self, offsets: Array) -> int:
        """Return the last offset; the host waits."""
        with self._kernels(offsets) as (_, launcher):
            return int(launcher.fetch(BufferSlice(offsets, 8 * (offsets.length - 1), 8)).view(np.int64)[0])

    def copied(self, levels: Levels, ranges: KeyRanges, offsets: Array) -> tuple[Array, Array | None]:
        """See `Engine.copied`. The host waits for the number of items."""
        call, count = self._call, ranges.lows.length
        total = self._last(offsets)
        keys = empty_like(ranges.lows, total, budget=call.budget)
        values = None if call.types.value is None else empty_like(ranges.lows, total, call.types.value, call.budget)
        with self._kernels(ranges.lows, ranges.highs, offsets, keys, values) as (kernels, launcher):
            if levels.is_clean and levels.levels:
                begins = launcher.allocate(8 * count)
                kernels.launch("begin_ranges", count, (levels.packed, ranges.lows, count, self._rule, begins))
                args = (levels.packed, total, self._rule, begins, count, offsets, keys, values)
                kernels.launch("copy_clean_ranges", total, args)
            else:
                given = (levels.packed, ranges.lows, ranges.highs, count, self._rule)
                kernels.launch("copy_ranges", count, (*given, offsets, keys, values))
        return keys, values

    def keys_of(self, codes: Array, key_type: str) -> Array:
        result = self._call.new(codes.length, key_type)
        with self._kernels() as (kernels, _):
            kernels.launch("keys_of_codes", codes.length, (codes, codes.length, self._rule, result))
        return result

    def on_device(self, items: Any) -> Array:
        context = self._call.context
        return take(DeviceArray.from_host(items, self._card, counted=context.crossings, budget=self._call.budget))

    def _launch(self, name: str, count: int, args: tuple[Any, ...], given: Iterable[Array | None]) -> None:
        """Launch a kernel for independent items, ordered with the streams of arrays. It takes no scratch memory."""
        own = self._own
        with self._card.current(), in_stream_of(own, *[array for array in given if array is not None]):
            _kernels_in(self._card, own.stream, self._call.types.key_width).launch(name, count, args)

    @contextmanager
    def _kernels(self, *given: Array | None) -> Iterator[tuple[MapKernels, GpuLauncher]]:
        """Yield launches in the GPU's stream, ordered with the streams of arrays."""
        call, card = self._call, self._card
        with card.current(), in_stream_of(self._own, *(array for array in given if array is not None)):
            launcher = GpuLauncher(card, stream=self._own.stream, budget=call.budget, crossings=call.context.crossings)
            yield MapKernels(launcher, call.types.key_width), launcher
