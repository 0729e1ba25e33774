"""Calls the multimaps in host memory."""

from __future__ import annotations

from headrace import _native
from headrace.arrays.arrays import Array
from headrace.arrays.placement import empty_like
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.index.hash_map.host_map import HostTable, batch_of, pairs_of
from headrace.index.hash_map.operations import ListBatch
from headrace.index.hash_map.pair_types import PairTypes


class HostMultiMap(HostTable[_native.HostMultiMap]):
    """A multimap in host memory.

    `types`, `context`: as for `headrace.index.hash_map.host_map.HostTable`. `seed`: seed of the hash. `memory`: what it may have.
    """

    def __init__(self, types: PairTypes, context: Context, seed: int, memory: _native.MapBudget) -> None:
        super().__init__(types, context, _native.HostMultiMap(*types.widths, memory, seed))

    @property
    def key_count(self) -> int:
        """Number of distinct keys."""
        return self._map.key_count

    def insert(self, keys: Array, values: Array) -> None:
        """Insert pairs."""
        self._map.insert(pairs_of(keys, values), self._threads)

    def erase(self, keys: Array) -> Array:
        """Erase the pair of each key whose value is first, and return a flag for each: whether there was one."""
        found = empty_like(keys, keys.length, "|b1")
        self._map.erase(batch_of(keys), self._types.value_rule, found.address, self._threads)
        return found

    def erase_all(self, keys: Array) -> Array:
        """Erase all pairs of keys, and return the number for each."""
        counts = empty_like(keys, keys.length, "<i8")
        self._map.erase_all(batch_of(keys), counts.address, self._threads)
        return counts

    def apply(self, batch: ListBatch) -> None:
        """Run mixed operations in their order, and write their results."""
        given = batch.operations.address, pairs_of(batch.keys, batch.values), "u"  # values are not computed with
        results = batch.firsts.address, batch.counts.address
        self._map.apply(given, self._types.value_rule, results, self._threads)

    def contains(self, keys: Array, budget: Budget) -> Array:
        """Return whether each key has a value."""
        found = empty_like(keys, keys.length, "|b1", budget)
        found.as_numpy()[:] = self.count(keys).as_numpy() > 0
        return found

    def count(self, keys: Array) -> Array:
        """Return the number of pairs of each key."""
        counts = empty_like(keys, keys.length, "<i8")
        self._map.count(batch_of(keys), counts.address, self._threads)
        return counts

    def find_all(self, keys: Array, budget: Budget) -> tuple[Array, Array]:
        """Return the offset at which the values of each key begin, the end of all, and the values."""
        offsets = empty_like(keys, keys.length + 1, "<i8")
        values = empty_like(keys, 0, self._types.value)

        def allocate(count: int) -> int:
            nonlocal values
            values = empty_like(keys, count, self._types.value, budget)
            return values.address

        self._map.find_all(batch_of(keys), self._types.value_rule, offsets.address, allocate, self._threads)
        return offsets, values
