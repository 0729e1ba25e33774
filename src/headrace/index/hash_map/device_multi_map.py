"""Connects a slab hash with several values for a key with callers' arrays on a GPU."""

from __future__ import annotations

from typing import cast

from headrace.arrange.search.unique import unique
from headrace.arrange.sort.sort import sort_pairs
from headrace.arrays.arrays import Array, take
from headrace.arrays.device_array import DeviceArray
from headrace.arrays.placement import empty_like
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.gpu.kernels.launcher import BufferSlice
from headrace.gpu.memory.pool import PoolBuffer
from headrace.index.hash_map.device_map import MapOnDevice
from headrace.index.hash_map.gpu.multimap.multi_slab_hash import MultiSlabHash, SortedValues
from headrace.index.hash_map.gpu.slab_kernels import Rows
from headrace.index.hash_map.gpu.tables.mixed_slab_hash import MixedRows
from headrace.index.hash_map.gpu.tuning import MULTI_TUNING
from headrace.index.hash_map.operations import MULTI_KINDS, ListBatch, MapOperation, check_numbers
from headrace.index.hash_map.pair_types import PairTypes
from headrace.primitives.scan import scan_line


class DeviceMultiMap(MapOnDevice):
    """A multimap in the memory of a GPU.

    `types`, `context`, `capacity`, `seed`, `budget`: as for `headrace.index.hash_map.device_map.DeviceMap`.
    """

    _map: MultiSlabHash

    def __init__(self, types: PairTypes, context: Context, capacity: int, *, seed: int = 0, budget: Budget | None = None) -> None:
        super().__init__(types, context, budget)
        with self._launches() as launcher:
            self._map = MultiSlabHash(launcher, types.widths, capacity, tuning=self._tuned(MULTI_TUNING), seed=seed)

    @property
    def key_count(self) -> int:
        """Number of distinct keys. All pairs are copied and sorted."""
        keys = self.items()[0]
        bits = DeviceArray(keys.owner.buffer, f"<u{keys.width}", keys.length)
        found: DeviceArray = unique(bits, context=self._context)
        return found.length

    def insert(self, keys: Array, values: Array) -> None:
        """Insert pairs. Raise MemoryLimitError if the map does not fit; it is as before."""
        if keys.length:
            with self._launches(keys, values) as launcher:
                self._map.insert(launcher, Rows(keys, values, keys.length))

    def count(self, keys: Array) -> Array:
        """Return the number of pairs of each key. The host waits."""
        return self._counted(keys)[0]

    def _counted(self, keys: Array) -> tuple[Array, SortedValues | None]:
        """Return the number of pairs of each key, and what a copy of the values needs."""
        counts = empty_like(keys, keys.length, "<i8")
        if not keys.length:
            return counts, None
        with self._launches(keys, counts) as launcher:
            return counts, self._map.count(launcher, Rows(keys, None, keys.length), counts)

    def find_all(self, keys: Array, budget: Budget) -> tuple[Array, Array]:
        """Return the offset at which the values of each key begin, the end of all, and the values. The host waits.

        The values are copied in the order of the lists, and sorted by value and then by row.
        """
        with self._lock:  # the map does not change between the count and the copy
            counts, ordered = self._counted(keys)
            offsets = take(scan_line(counts.owner, "sum", has_initial=True, context=self._context))
            with self._launches(offsets) as launcher:
                total = int(launcher.fetch(BufferSlice(offsets, keys.length * 8, 8)).view("<i8")[0])
            values = empty_like(keys, total, self._types.value, budget)
            if not total:
                return offsets, values
            with self._launches(keys, offsets, values) as launcher:
                rows = self._map.copy_values(launcher, Rows(keys, None, keys.length), offsets, values, ordered)
        numbers = DeviceArray(cast(PoolBuffer, rows), "<u4", total)
        by_value = sort_pairs(values.owner, numbers, total_order=True, context=self._context)
        by_row = sort_pairs(by_value.values, by_value.keys, context=self._context)
        return offsets, take(by_row.values)

    def erase(self, keys: Array) -> Array:
        """Erase the smallest value of each key, and return a flag for each: whether there was one. The host waits."""
        found = empty_like(keys, keys.length, "|b1")
        if keys.length:
            by_key, rows = self._order(keys), Rows(keys, None, keys.length)
            with self._launches(keys, found, by_key) as launcher:
                operations = launcher.allocate(rows.count, fill=MapOperation.ERASE)
                mixed = MixedRows(operations, rows, None, found, self._types.value_kind, MULTI_KINDS.known)
                self._map.run_in_order(launcher, mixed, launcher.allocate(8 * rows.count), by_key)
        return found

    def erase_all(self, keys: Array) -> Array:
        """Erase all pairs of keys, and return the number for each. The host waits."""
        return self._answers(keys, "<i8", self._map.erase_all)

    def apply(self, batch: ListBatch) -> None:
        """Run mixed operations in their order, and write their results. The host waits.

        Raise OptionError if one is unknown, MemoryLimitError if the map does not fit; it is as before.
        """
        keys = batch.keys
        if not keys.length:
            return
        check_numbers(batch.operations, batch.kinds, self._context)
        rows, kind = Rows(keys, batch.values, keys.length), self._types.value_kind
        mixed = MixedRows(batch.operations, rows, batch.firsts, None, kind, batch.kinds.known)
        by_key = self._order(keys)
        with self._launches(keys, batch.operations, batch.values, batch.firsts, batch.counts, by_key) as launcher:
            self._map.run_in_order(launcher, mixed, batch.counts, by_key)
