"""Declares the functions that maps, sets and multimaps have on each device, and selects the device's classes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from headrace import _native
from headrace.arrays.arrays import Array
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.index.hash_map.host_map import HostMap
from headrace.index.hash_map.host_multi_map import HostMultiMap
from headrace.index.hash_map.operations import ListBatch, OperationBatch
from headrace.index.hash_map.pair_types import HashStatistics, PairTypes
from headrace.index.hash_map.results import DeviceRef

if TYPE_CHECKING:
    from headrace.index.hash_map.text_map import NumberedPairs


class TableBackend(Protocol):
    """Functions of all tables."""

    def __len__(self) -> int:
        """Return the number of pairs."""

    def contains(self, keys: Array, budget: Budget, /) -> Array:
        """Return a flag for each key: whether it is present."""

    def erase(self, keys: Array, /) -> Array:
        """Erase a pair of each key, and return a flag for each: whether it was present."""

    def items(self) -> tuple[Array, Array | None]:
        """Return keys and values in no order."""

    def device_ref(self) -> DeviceRef:
        """Return the table for kernels of users."""

    def snapshot(self) -> Self:
        """Return a copy."""

    def clear(self) -> None:
        """Remove all pairs and free their memory."""

    def compact(self) -> None:
        """Free the memory that the pairs do not need."""

    def statistics(self) -> HashStatistics:
        """Return counts of pairs and bytes."""


Table = TypeVar("Table", bound=TableBackend)


class MapBackend(TableBackend, Protocol):
    """Functions of maps and sets."""

    def upsert(self, keys: Array, values: Array | None, reduce: str, /) -> int:
        """Insert keys, and reduce the values of those that are present. Return the number of keys added."""

    def replace(self, keys: Array, values: Array, /) -> Array:
        """Replace values of keys that are present, and return a flag for each key: whether it is."""

    def find(self, keys: Array, values: Array, found: Array, /) -> None:
        """Write the values of keys, 0 for absent ones, and whether each is present."""

    def apply(self, batch: OperationBatch, order: str, /) -> None:
        """Run mixed operations, and write their results."""


class MultiBackend(TableBackend, Protocol):
    """Functions of multimaps."""

    @property
    def key_count(self) -> int:
        """Number of distinct keys."""

    def insert(self, keys: Array, values: Array, /) -> None:
        """Insert pairs."""

    def count(self, keys: Array, /) -> Array:
        """Return the number of pairs of each key."""

    def find_all(self, keys: Array, budget: Budget, /) -> tuple[Array, Array]:
        """Return the offset at which the values of each key begin, the end of all, and the values."""

    def erase_all(self, keys: Array, /) -> Array:
        """Erase all pairs of keys, and return the number for each."""

    def apply(self, batch: ListBatch, /) -> None:
        """Run mixed operations in their order, and write their results."""


def new_map(types: PairTypes, context: Context, capacity: int, seed: int) -> MapBackend:
    """Return an empty map or set on the context's device, with memory for `capacity` pairs on a GPU."""
    if types.has_text_keys:
        from headrace.index.hash_map.text_map import TextMap  # needs NumPy

        return TextMap(_numbered(types, context, partial(_new_map, context, capacity, seed)))
    return _new_map(context, capacity, seed, types, None)


def new_multi_map(types: PairTypes, context: Context, capacity: int, seed: int) -> MultiBackend:
    """Return an empty multimap on the context's device, with memory for `capacity` pairs on a GPU."""
    if types.has_text_keys:
        from headrace.index.hash_map.text_map import TextMultiMap  # needs NumPy

        return TextMultiMap(_numbered(types, context, partial(_new_multi_map, context, capacity, seed)))
    return _new_multi_map(context, capacity, seed, types, None)


def _new_map(context: Context, capacity: int, seed: int, types: PairTypes, memory: Any) -> MapBackend:
    """Return a map of numbers. `memory`: what it may have, for maps that share it; None for a map by itself."""
    if context.device.kind == "cpu":
        return HostMap(types, context, seed, memory or _native.MapBudget(context.memory_limit or 0))
    from headrace.index.hash_map.device_map import DeviceMap  # needs cuda-core

    return DeviceMap(types, context, capacity, seed=seed, budget=memory)


def _new_multi_map(context: Context, capacity: int, seed: int, types: PairTypes, memory: Any) -> MultiBackend:
    if context.device.kind == "cpu":
        return HostMultiMap(types, context, seed, memory or _native.MapBudget(context.memory_limit or 0))
    from headrace.index.hash_map.device_multi_map import DeviceMultiMap  # needs cuda-core

    return DeviceMultiMap(types, context, capacity, seed=seed, budget=memory)


def _numbered(types: PairTypes, context: Context, make: Callable[[PairTypes, Any], Table]) -> Callable[[], NumberedPairs[Table]]:
    """Return a function that returns keys without numbers, and a map of numbers. All of them share one limit of memory.

    `make`: returns a map, given its types and memory.
    """
    from headrace.index.hash_map.text_map import NumberedPairs  # needs NumPy

    if context.device.kind == "cpu":
        from headrace.index.hash_map.host_key_numbers import NUMBER, HostKeyNumbers

        memory = _native.MapBudget(context.memory_limit or 0)
        numbers = PairTypes(NUMBER, types.value)
        return lambda: NumberedPairs(HostKeyNumbers(types, context, _native.TextNumbers(memory)), make(numbers, memory))
    from headrace.index.hash_map.device_key_numbers import DeviceKeyNumbers, number_type  # needs cuda-core

    budget = context.new_budget()
    return lambda: NumberedPairs(
        DeviceKeyNumbers(types, context, budget), make(PairTypes(number_type(types), types.value), budget)
    )
