"""Updates and searches levels in host memory by native code."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headrace import _native
from headrace.arrange.sort.arguments import run
from headrace.arrange.sort.key_order import KeyOrder
from headrace.arrange.sort.request import ColumnMove, sort_task
from headrace.arrays.arrays import Array, take
from headrace.arrays.placement import empty_like
from headrace.index.sorted_map.engine import Batch, Call, CopiedRanges, FoundItems, KeyRanges, address_of
from headrace.index.sorted_map.gathered import GatheredBatches
from headrace.index.sorted_map.levels import Level, Levels

_GATHERED_BYTES = 1 << 21  # maximum size of batches that are sorted at once by one thread: that of a cache
_SMALL_BATCH = 256  # maximum number of pairs that are sorted and merged by one call: a radix sort pays for more
_ITEMS_OF_VISIT = 4  # number of items that are merged in the time in which a walk visits a code of a range
_MERGED_PER_SEARCH = 1.0
"""Number of items that are merged in the time of a search of a key in one level: 0.1 to 1 for sorted keys, 1 to 7 for others."""
_FEW_VISITS = 1 << 16  # number of codes of all ranges up to which levels are not merged
_NO_LIMIT = 2**64 - 1


class CpuEngine:
    """Implements `headrace.index.sorted_map.engine.Engine`."""

    merged_per_search = _MERGED_PER_SEARCH

    def __init__(self, call: Call) -> None:
        self._call = call
        self._threads = call.context.thread_count

    @property
    def gathered_bytes(self) -> int:
        return _GATHERED_BYTES * self._threads

    def added(self, batch: Batch, older: tuple[Level, ...]) -> Level:
        if batch.keys.length <= _SMALL_BATCH and not batch.has_tombstones and not batch.is_coded:
            return self._with_small_batch(batch, Levels(self._call.types, older))
        newest = self._level_of(batch)
        return self.merged(Levels(self._call.types, (newest, *older))) if older else newest

    def gathered(self, capacity: int) -> GatheredBatches:
        return GatheredBatches(self._call, capacity)

    def no_tombstones(self, count: int) -> Array:
        result = self._call.new(count, "|u1")
        result.as_numpy()[:] = 0
        return result

    def write_codes(self, batch: Batch, to: Level, mixed: int = 1) -> None:
        _native.reverse_batch(self._given(batch, mixed), to.addresses, self._threads)

    def _with_small_batch(self, batch: Batch, older: Levels) -> Level:
        """Return a level of a batch of pairs and of older levels."""
        level = self._call.new_level(batch.keys.length + older.count, has_tombstones=older.has_tombstones)
        _native.merge_small_batch(self._given(batch), older.packed, level.addresses, self._threads)
        return level

    def _level_of(self, batch: Batch) -> Level:
        call, count = self._call, batch.keys.length
        if batch.is_coded:
            level = Level(batch.keys, batch.values, batch.deletes)
        else:
            level = call.new_level(count, has_tombstones=batch.has_tombstones)
            self.write_codes(batch, level)
        if level.tombstones is None:
            return self._sorted(level)
        if batch.is_delete:  # all statuses are equal
            return replace(self._sorted(replace(level, tombstones=None)), tombstones=level.tombstones)
        found, tombstones = self._sorted(level), self.no_tombstones(count)
        _native.mark_deleted(found.packed, found.codes.width, tombstones.address, self._threads)
        return replace(found, tombstones=tombstones)

    def _sorted(self, level: Level) -> Level:
        """Return the items of a level in the order of their codes, stably."""
        call = self._call
        to = call.new_level(level.count, has_tombstones=level.tombstones is not None)
        pairs = (level.values, to.values), (level.tombstones, to.tombstones)
        moves = tuple(ColumnMove(a, b) for a, b in pairs if a is not None and b is not None)
        order = KeyOrder.of(to.codes.typestr)
        task = sort_task(level.codes, order, to.codes, moves, None, True, None, call.context, call.budget)
        run("sort_pairs" if moves else "sort_keys", task)
        return to

    def merged(self, levels: Levels) -> Level:
        level = self._call.new_level(levels.count, has_tombstones=levels.has_tombstones)
        _native.merge_levels(levels.packed, self._call.types.key_width, level.addresses, self._threads)
        return level

    def cleaned(self, levels: Levels) -> Level | None:
        level = levels.levels[0] if len(levels.levels) == 1 else self.merged(levels)
        call, found = self._call, [level]

        def allocated(count: int) -> tuple[int, int, int]:
            found[0] = call.new_level(count, has_tombstones=False)
            return found[0].addresses

        widths = call.types.key_width, call.types.value_width
        _native.compact_level(level.packed, *widths, allocated, self._threads)
        return replace(found[0], is_clean=True) if found[0].count else None

    def prepared(self, levels: Levels, searches: int = 0, ranges: int = 0) -> Levels:
        return levels

    def find(self, levels: Levels, keys: Array) -> FoundItems:
        found = self._call.results(keys, has_keys=False)
        to = address_of(found.values), found.is_present.address
        _native.find_in_levels(levels.packed, self._keys(keys), *to, self._threads)
        return found

    def neighbours(self, levels: Levels, keys: Array, options: tuple[bool, bool]) -> FoundItems:
        found = self._call.results(keys, has_keys=True)
        to = address_of(found.keys), address_of(found.values), 0
        _native.find_neighbours(levels.packed, self._keys(keys), options, to, found.is_present.address, self._threads)
        return found

    def counts(self, levels: Levels, ranges: KeyRanges) -> Array | None:
        """See `Engine.counts`. With a memory limit there is always a result, since merged levels may exceed it."""
        result = empty_like(ranges.lows, ranges.lows.length, "<i8", self._call.budget)
        given = self._keys(ranges.lows), ranges.highs.address
        is_limited = self._call.context.memory_limit is not None
        limit = _NO_LIMIT if is_limited else max(levels.count // _ITEMS_OF_VISIT, _FEW_VISITS)
        return result if _native.count_ranges(levels.packed, given, result.address, limit, self._threads) else None

    def short_ranges(self, levels: Levels, ranges: KeyRanges) -> CopiedRanges | None:
        """See `Engine.short_ranges`. Ranges of one clean level are found without a walk."""
        call, lows = self._call, ranges.lows
        if levels.is_clean or call.budget.limit is not None:
            return None
        offsets, found = empty_like(lows, lows.length + 1, "<i8"), [empty_like(lows, 0)]

        def allocated(count: int) -> tuple[int, int, int]:
            value = call.types.value
            found[:] = empty_like(lows, count), *([] if value is None else [empty_like(lows, count, value)])
            return found[0].address, found[1].address if value is not None else 0, 0

        given = self._keys(lows), ranges.highs.address
        are_short = _native.copy_short_ranges(levels.packed, given, offsets.address, allocated, self._threads)
        return CopiedRanges(offsets, found[0], found[1] if len(found) > 1 else None) if are_short else None

    def copied(self, levels: Levels, ranges: KeyRanges, offsets: Array) -> tuple[Array, Array | None]:
        call, total = self._call, int(offsets.as_numpy()[-1])
        keys = empty_like(ranges.lows, total, budget=call.budget)
        values = None if call.types.value is None else empty_like(ranges.lows, total, call.types.value, call.budget)
        to = keys.address, address_of(values), 0
        given = self._keys(ranges.lows), ranges.highs.address
        _native.copy_ranges(levels.packed, given, offsets.address, to, self._threads)
        return keys, values

    def keys_of(self, codes: Array, key_type: str) -> Array:
        result = self._call.new(codes.length, key_type)
        _native.keys_of_codes(self._keys(codes), result.address, self._threads)
        return result

    def on_device(self, items: Any) -> Array:
        return take(items)

    def _given(self, batch: Batch, mixed: int = 1) -> Any:
        """Return the fields of a ``MapBatch``."""
        addresses = address_of(batch.values), address_of(batch.deletes)
        return self._keys(batch.keys), *addresses, self._call.types.value_width, mixed

    def _keys(self, keys: Array) -> tuple[int, int, int, bytes]:
        return keys.address, keys.length, keys.width, self._call.types.order.packed
