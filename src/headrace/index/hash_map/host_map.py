"""Calls the maps and sets in host memory. Their rules are those of `headrace.index.hash_map.device_map`."""

from __future__ import annotations

import os
from copy import copy
from typing import Generic, Self, TypeVar

from headrace import _native
from headrace.arrays.arrays import Array, needed_numpy, take
from headrace.arrays.placement import empty_like
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.core.errors import UnsupportedDeviceError
from headrace.index.hash_map.operations import REDUCTIONS, OperationBatch
from headrace.index.hash_map.pair_types import HashStatistics, PairTypes
from headrace.index.hash_map.results import DeviceRef

NativeTable = TypeVar("NativeTable", _native.HostHashMap, _native.HostMultiMap)

os.register_at_fork(
    before=_native.close_fork_gate, after_in_parent=_native.open_fork_gate, after_in_child=_native.renew_fork_gate
)


class HostTable(Generic[NativeTable]):
    """A table in host memory, and the functions that all kinds of maps have."""

    def __init__(self, types: PairTypes, context: Context, native: NativeTable) -> None:
        self._types = types
        self._threads = context.thread_count
        self._resources = context.isa, self._threads
        self._map: NativeTable = native

    def __len__(self) -> int:
        return self._map.statistics[0]

    def items(self) -> tuple[Array, Array | None]:
        """Return keys and values in no order."""
        found = _Items(self._types)
        self._map.items(found.allocate, self._threads)
        return found.keys, found.values

    def device_ref(self) -> DeviceRef:
        """Refuse to give a table to kernels."""
        raise UnsupportedDeviceError("kernels cannot use a map on the CPU; make it with context=Context(device='cuda')")

    def snapshot(self) -> Self:
        """Return a copy. Updates wait meanwhile."""
        result = copy(self)
        result._map = self._map.copy()  # noqa: SLF001  # a new object
        return result

    def clear(self) -> None:
        """Remove all pairs and free their memory."""
        self._map.clear()

    def compact(self) -> None:
        """Free the memory that the pairs do not need."""
        self._map.compact(self._threads)

    def statistics(self) -> HashStatistics:
        """Return counts of pairs and bytes."""
        size, capacity, nbytes = self._map.statistics
        return HashStatistics(size, capacity, nbytes, size * sum(self._types.widths) / nbytes if nbytes else 0.0)


class HostMap(HostTable[_native.HostHashMap]):
    """A map or set in host memory.

    `types`, `context`: as for `HostTable`. `seed`: seed of the hash. `memory`: what the map may have.
    """

    def __init__(self, types: PairTypes, context: Context, seed: int, memory: _native.MapBudget) -> None:
        super().__init__(types, context, _native.HostHashMap(*types.widths, memory, seed))

    def upsert(self, keys: Array, values: Array | None, reduce: str) -> int:
        """Insert keys, and reduce the values of those that are present. Return the number of keys added."""
        how = REDUCTIONS.index(reduce), self._types.value_kind
        return self._map.upsert(pairs_of(keys, values), how, self._resources)

    def replace(self, keys: Array, values: Array) -> Array:
        """Replace values of keys that are present, and return a flag for each key: whether it is."""
        found = empty_like(keys, keys.length, "|b1")
        self._map.replace(pairs_of(keys, values), found.address, self._resources)
        return found

    def erase(self, keys: Array) -> Array:
        """Erase keys, and return a flag for each: whether it was present."""
        found = empty_like(keys, keys.length, "|b1")
        self._map.erase(batch_of(keys), found.address, self._resources)
        return found

    def find(self, keys: Array, values: Array | None, found: Array) -> None:
        """Write the values of keys, 0 for absent ones, and whether each is present."""
        self._map.find(batch_of(keys), address_of(values), found.address, self._resources)

    def apply(self, batch: OperationBatch, order: str) -> None:
        """Run mixed operations in their order, which any `order` allows."""
        given = batch.operations.address, pairs_of(batch.keys, batch.values), self._types.value_kind
        self._map.apply(given, (address_of(batch.held), batch.found.address), self._threads)

    def contains(self, keys: Array, budget: Budget) -> Array:
        """Return whether each key is present."""
        found = empty_like(keys, keys.length, "|b1", budget)
        self.find(keys, None, found)
        return found


def batch_of(keys: Array) -> tuple[int, int]:
    """Return the address and the number of keys."""
    return keys.address, keys.length


def pairs_of(keys: Array, values: Array | None) -> tuple[int, int, int]:
    """Return the addresses of keys and values, and the number of keys."""
    return keys.address, address_of(values), keys.length


def address_of(values: Array | None) -> int:
    """Return the address of values, 0 for none."""
    return 0 if values is None else values.address


class _Items:
    """Allocates arrays for all pairs once their number is known."""

    keys: Array
    values: Array | None = None

    def __init__(self, types: PairTypes) -> None:
        self._types = types

    def allocate(self, size: int) -> tuple[int, int]:
        np = needed_numpy("items()")
        self.keys = take(np.empty(size, self._types.key))
        if self._types.value:
            self.values = take(np.empty(size, self._types.value))
        return self.keys.address, address_of(self.values)
