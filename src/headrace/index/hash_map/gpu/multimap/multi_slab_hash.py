"""Runs the operations of a slab hash with several values for a key: the launches of multi_map.cu."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np  # a dependency of cuda-core

from headrace.arrange.gather.moved_items import MovedItems
from headrace.arrange.sort.gpu.planner import SortRequest
from headrace.arrange.sort.gpu.sort import Sorters
from headrace.arrange.sort.key_order import KeyOrder
from headrace.core.errors import MemoryLimitError
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Launcher
from headrace.gpu.memory.scratch import COUNTERS
from headrace.index.hash_map.gpu.slab_kernels import COUNTS_BYTES, GROUP_LANES, LOCATED, Rows
from headrace.index.hash_map.gpu.tables.mixed_slab_hash import MixedRows
from headrace.index.hash_map.gpu.tables.slab_hash import Contest, Insertion, Located, SlabHash
from headrace.index.hash_map.gpu.tuning import MULTI_TUNING, SlabTuning

_UNLIMITED = 0xFFFFFFFF
"""Numbers of looks and of rows after which no insertion is postponed, and of slabs after which no walk ends."""
_PAIRS_PER_LOOK = 4096  # pairs of a table that are sorted in about the time of a look at the next slab of a list: an estimate


@dataclass(frozen=True, slots=True)
class SortedValues:
    """The values of a table in the order of their keys."""

    values: DeviceBuffer
    begins: DeviceBuffer  # position of the first value of each row of a batch, 8 bytes


@dataclass(frozen=True, slots=True)
class _Replay:
    """Mixed operations, and the results of `replay_lists`: see there."""

    mixed: MixedRows
    by_key: Any
    counts: Any
    numbers: DeviceBuffer
    heap: DeviceBuffer
    slots: DeviceBuffer
    erasures: DeviceBuffer


@dataclass(frozen=True, slots=True)
class _Slots:
    """Slots of some keys. `rows`: the first row of each slot's key, ascending; None if the slots have no order."""

    rows: DeviceBuffer | None
    slots: DeviceBuffer | None
    count: int

    @property
    def args(self) -> tuple[Any, ...]:
        """Arguments of kernels."""
        return self.rows, self.slots, self.count


class MultiSlabHash(SlabHash):
    """A hash multimap in device memory."""

    _insertion = "append_pairs"
    _grows_in_steps = False

    def __init__(
        self,
        launcher: Launcher,
        widths: tuple[int, int],
        capacity: int = 0,
        *,
        tuning: SlabTuning = MULTI_TUNING,
        seed: int = 0,
    ) -> None:
        super().__init__(launcher, widths, capacity, tuning=tuning, seed=seed)

    def insert(self, launcher: Launcher, rows: Rows) -> None:
        """Insert pairs. The host waits.

        Raise MemoryLimitError if the map does not fit; it is as before.
        """
        self.upsert(launcher, rows, "last", "u")

    def count(self, launcher: Launcher, keys: Rows, counts: Any) -> SortedValues | None:
        """Write the number of values of each key, 8 bytes each, and return what `copy_values` needs. The host waits.

        If a list is long, the keys of the table are sorted instead, unless memory for that is refused.
        """
        is_long = launcher.allocate(4, fill=0)
        self._launch(launcher, "count_values", keys.count, (keys.keys, keys.count, self._max_slabs, is_long, counts))
        if not launcher.fetch(is_long).any():
            return None
        try:
            return self._count_sorted(launcher, keys, counts)
        except MemoryLimitError:
            launcher.fill(is_long, 0)
            self._launch(launcher, "count_values", keys.count, (keys.keys, keys.count, _UNLIMITED, is_long, counts))
            return None

    def _count_sorted(self, launcher: Launcher, keys: Rows, counts: Any) -> SortedValues:
        """Count by all keys of the table in order. Memory for n pairs: twice their keys and values, and that of the sort."""
        sizes = [self.size * width for width in self._widths]
        items, ordered = launcher.allocate_group([], sizes), launcher.allocate_group([], sizes)
        begins = launcher.allocate(keys.count * 8)
        self.items(launcher, *items)
        self._sort(launcher, (items[0], ordered[0]), self._widths[0], MovedItems(items[1], ordered[1], self._widths[1]))
        self._launch(launcher, "count_sorted", keys.count, (ordered[0], self.size, keys.keys, keys.count, begins, counts))
        return SortedValues(ordered[1], begins)

    def copy_values(
        self, launcher: Launcher, keys: Rows, offsets: Any, values: Any, ordered: SortedValues | None = None
    ) -> DeviceBuffer:
        """Write the values of each key from its offset on, in no order, and return the row of each value as uint32.

        `ordered`: the result of `count`.
        """
        total = values.nbytes // self._widths[1]
        rows = launcher.allocate(total * 4)
        if not total:
            return rows
        if ordered is None:
            self._launch(launcher, "copy_values", keys.count, (keys.keys, keys.count, offsets, values, rows))
        else:
            args = (ordered.values, ordered.begins, keys.count, offsets, total, values, rows)
            self._launch(launcher, "copy_sorted", total, args)
        return rows

    def erase_all(self, launcher: Launcher, keys: Rows, counts: Any) -> None:
        """Erase all values of keys, and write for each key the number that its row has erased. The host waits.

        If a list is long, all slabs are looked at, unless memory for an order of the keys is refused.
        """
        located, results = self._locate(launcher, keys), launcher.allocate(16, fill=0)
        total, is_long = BufferSlice(results, 0, 8), BufferSlice(results, 8, 4)
        given = keys.keys, keys.count, located.slots
        with launcher.together():
            launcher.fill(counts, 0)
            self._contest(launcher, located, keys.count, Contest())
            self._launch(launcher, "erase_values", keys.count, (*given, self._max_slabs, is_long, counts, total))
        erased, has_left = launcher.fetch(results).view(np.uint64)
        if has_left:
            try:
                self._erase_sorted(launcher, keys, located, counts, total)
            except MemoryLimitError:
                launcher.fill(is_long, 0)
                self._launch(launcher, "erase_values", keys.count, (*given, _UNLIMITED, is_long, counts, total))
            erased = launcher.fetch(total).view(np.uint64)[0]
        self.size -= int(erased)

    def _erase_sorted(self, launcher: Launcher, keys: Rows, located: Located, counts: Any, total: DeviceBuffer) -> None:
        """Erase the values that are left of the keys of rows with slots, by a look at all slabs.

        Memory and errors are those of `_append_slabs`. Numbers of values are added to `counts` and `total`.
        """
        count, slabs = int(launcher.fetch(located.won).view(np.uint64)[0]), self._memory.slab_count
        listed, rows = self._ordered_rows(launcher, keys, located.slots, count, has_slots=True)
        self._launch(launcher, "erase_sorted", slabs * GROUP_LANES, (slabs, listed, rows, count, counts, total))

    @property
    def _max_slabs(self) -> int:
        """Number of slabs of a list from which it is not walked."""
        return _UNLIMITED if self._tuning.sort is None else max(self._tuning.max_walk, self.size // _PAIRS_PER_LOOK)

    def run_in_order(self, launcher: Launcher, mixed: MixedRows, counts: Any, by_key: Any) -> None:
        """Run operations in their order. The host waits twice, and once more if single values are erased.

        New pairs are inserted while the erased ones are still there, so that nothing has changed if slabs run out.

        `launcher`, `mixed`, `by_key`: As for `MixedSlabHash.run_in_order`. `mixed` has values of `find` and `erase`, or marks of
        found keys.
        `counts`: result: number of values of each key before its operation, 8 bytes each.
        Raise MemoryLimitError if the map does not fit; it is as before.
        """
        self._change(launcher, mixed.rows, lambda: self._run_in_order(launcher, mixed, counts, by_key))

    def _run_in_order(self, launcher: Launcher, mixed: MixedRows, counts: Any, by_key: Any) -> None:
        rows, count = mixed.rows, mixed.rows.count
        sizes = [COUNTS_BYTES, 4 * count, self._slot_bytes * count, 4 * count]
        replay = _Replay(mixed, by_key, counts, *(launcher.allocate(size) for size in sizes))
        self._load(launcher)
        is_reserved, buckets = False, 0
        while True:
            added, erased, erasing = self._replay(launcher, replay, _Slots(None, None, 0))
            if not is_reserved and self._reserve(launcher, added):
                is_reserved = True
            listed = self._list_slots(launcher, replay, erased, is_sorted=erasing > 0)
            if erasing:
                added, erased, _ = self._replay(launcher, replay, listed)
            if not added or self._append(launcher, rows, replay.slots):
                break
            self._make_room(launcher, max(buckets, self._memory.buckets, self._buckets_for(self.size + added)), added)
            buckets = 2 * self._memory.buckets
        if erased and erasing:
            self._launch(launcher, "clear_first", listed.count, (*listed.args, replay.erasures))
        elif erased:
            self._launch(launcher, "clear_slots", erased, (listed.slots, erased, 0))
        self.size += added - erased

    def _replay(self, launcher: Launcher, replay: _Replay, ordered: _Slots) -> list[int]:
        """Compute all results, and return the numbers of pairs to be inserted and to be erased, and of operations `erase`."""
        launcher.fill(replay.numbers, 0)
        args = (replay.mixed.packed, replay.by_key, *ordered.args, replay.heap, replay.counts, replay.slots, replay.erasures)
        self._launch(launcher, "replay_lists", replay.mixed.rows.count, (*args, replay.numbers))
        found: list[int] = launcher.fetch(replay.numbers).view(np.uint64)[:3].tolist()
        return found

    def _list_slots(self, launcher: Launcher, replay: _Replay, count: int, *, is_sorted: bool) -> _Slots:
        """Return the `count` slots of the keys that have erasures. `is_sorted`: by key and then by value."""
        slots, rows, codes = launcher.allocate(self._slot_bytes * count or 8), None, None
        if is_sorted:
            rows, codes = launcher.allocate(4 * count or 4), launcher.allocate(self._widths[1] * count)
        listed = _Slots(rows, slots, count)
        if not count:
            return listed
        given, counter = replay.mixed.rows, BufferSlice(replay.numbers, 24, 8)
        args = given.keys, given.count, replay.erasures, replay.counts, ord(replay.mixed.kind)
        self._launch(launcher, "list_slots", given.count, (*args, slots, rows, codes, counter))
        if rows is not None and codes is not None:
            other_rows, other_slots, other_codes = (launcher.allocate(part.nbytes) for part in (rows, slots, codes))
            moved = MovedItems(rows, other_rows, 4), MovedItems(slots, other_slots, self._slot_bytes)
            self._sort(launcher, (codes, other_codes), self._widths[1], *moved)
            self._sort(
                launcher, (other_rows, rows), 4, MovedItems(other_slots, slots, self._slot_bytes)
            )  # rows of a key keep their order
        return listed

    def _insert(self, launcher: Launcher, batch: Insertion) -> None:
        tuning, is_all = self._tuning, self._tuning.sort is None
        limits = (_UNLIMITED, _UNLIMITED) if is_all else (tuning.max_looks, tuning.many_postponed)
        self._launch(launcher, "append_pairs", batch.rows.count, (*batch.args, *limits))

    def _inserted(self, launcher: Launcher, batch: Insertion) -> list[int]:
        """Insert the rows that were postponed, and return three counts: 0, rows without memory, and 0.

        If they are many, frequent keys fill whole slabs first, unless memory for their order is refused. The host waits twice.
        """
        postponed, failed = launcher.fetch(batch.counts).view(np.uint64)[:2].tolist()
        if postponed and not failed:
            with suppress(MemoryLimitError):
                if postponed > self._tuning.max_unsorted:
                    self._append_slabs(launcher, batch, postponed)
            rest = replace(batch, form=batch.form | LOCATED)
            self._launch(launcher, "append_pairs", batch.rows.count, (*rest.args, _UNLIMITED, _UNLIMITED))
            failed = int(launcher.fetch(batch.counts).view(np.uint64)[1])
        return [0, failed, 0]

    def _append_slabs(self, launcher: Launcher, batch: Insertion, count: int) -> None:
        """Sort the postponed rows by key, and fill slabs with those of one key.

        Memory for n rows: 2 n keys, 8 n bytes, and that of the sort. Raise MemoryLimitError if it is refused.
        """
        listed, numbers = self._ordered_rows(launcher, batch.rows, batch.slots, count, has_slots=False)
        args = (listed, numbers, count, batch.rows.values, batch.form, batch.slots)
        self._launch(launcher, "append_slabs", ceil(count / self._slots) * GROUP_LANES, args)

    def _ordered_rows(
        self, launcher: Launcher, rows: Rows, slots: DeviceBuffer, count: int, *, has_slots: bool
    ) -> tuple[DeviceBuffer, DeviceBuffer]:
        """Return keys and numbers of the `count` rows with slots, or without, by key."""
        width = self._widths[0]
        counter, *listed = launcher.allocate_group([8], [count * width, count * 4])
        self._launch(launcher, "list_rows", rows.count, (rows.keys, rows.count, slots, int(has_slots), *listed, counter))
        keys, numbers = launcher.allocate_group([], [count * width, count * 4])
        self._sort(launcher, (listed[0], keys), width, MovedItems(listed[1], numbers, 4))
        return keys, numbers

    def _sort(self, launcher: Launcher, keys: tuple[DeviceBuffer, DeviceBuffer], width: int, *moved: MovedItems) -> None:
        """Sort keys by their bits to another buffer, and columns with them. Equal keys keep their order."""
        assert self._tuning.sort is not None
        sorters = Sorters(launcher, self._tuning.sort, lambda: launcher.allocate(COUNTERS, fill=0))
        sorters.of(keys[0].nbytes // width).sort(SortRequest(KeyOrder.of(f"<u{width}"), *keys, moved))

    def _append(self, launcher: Launcher, rows: Rows, slots: DeviceBuffer) -> bool:
        """Insert the rows that have no slot. Return False if memory was missing for one; then none is inserted."""
        batch = Insertion(rows, LOCATED, slots, launcher.allocate(COUNTS_BYTES, fill=0))
        self._insert(launcher, batch)
        is_complete = False
        try:
            is_complete = not self._inserted(launcher, batch)[1]
        finally:  # also after an interrupt
            if not is_complete:
                self._launch(launcher, "clear_slots", rows.count, (slots, rows.count, 1))
        return is_complete
