"""Defines `HashMultiMap`: several values for a key, changed and searched by whole arrays."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from headrace.arrange.sort.sort import sort_pairs
from headrace.arrays.arrays import Array
from headrace.core.budget import Budget
from headrace.core.context import Context, context_of
from headrace.core.errors import OptionError
from headrace.core.options import integer
from headrace.index.hash_map.hash_map import Items
from headrace.index.hash_map.host_map import HostMultiMap
from headrace.index.hash_map.pair_types import HashStatistics, PairTypes, array_of, check_length


class FoundLists(NamedTuple):
    """The result of `HashMultiMap.find_all`.

    Parameters
    ----------
    offsets
        int64, one more than there are keys: the values of key `i` are ``values[offsets[i]:offsets[i + 1]]``.
    values
        The values of all keys, ascending for each key; floats in IEEE's totalOrder.
    """

    offsets: Any
    values: Any


class _MultiBackend(Protocol):
    """A multimap on a device. `headrace.index.hash_map.host_map.HostMultiMap` documents the functions."""

    @property
    def key_count(self) -> int: ...
    def __len__(self) -> int: ...
    def insert(self, keys: Array, values: Array, /) -> None: ...
    def contains(self, keys: Array, /) -> Array: ...
    def count(self, keys: Array, /) -> Array: ...
    def find_all(self, keys: Array, budget: Budget, /) -> tuple[Array, Array]: ...
    def erase(self, keys: Array, /) -> Array: ...
    def erase_all(self, keys: Array, /) -> Array: ...
    def items(self) -> tuple[Array, Array | None]: ...
    def clear(self) -> None: ...
    def compact(self) -> None: ...
    def statistics(self) -> HashStatistics: ...


def _backend_of(types: PairTypes, context: Context, capacity: int) -> _MultiBackend:
    capacity = integer("capacity", capacity, "an integer from 0 on", 0)
    if context.device.kind == "cpu":
        return HostMultiMap(types, context)
    from headrace.index.hash_map.device_multi_map import DeviceMultiMap  # needs cuda-core

    return DeviceMultiMap(types, context, capacity)


class HashMultiMap:
    """A map that may have several values for a key, and equal pairs. Each call runs the operations of a whole array.

    Parameters
    ----------
    key_type, value_type
        Types of keys and values, as for `HashMap`, whose notes on keys, memory and threads hold here as well.
    capacity, context
        As for `HashMap`.

    Raises
    ------
    OptionError
        A type is not supported.

    Examples
    --------
    >>> rows = HashMultiMap("int32", "int64")
    >>> rows.insert([7, 3, 7], [0, 1, 2])
    >>> rows.find_all([7, 4, 3])
    FoundLists(offsets=array([0, 2, 2, 3]), values=array([0, 2, 1]))
    >>> rows.erase_all([7])
    array([2])
    """

    __slots__ = ("_context", "_map", "_types")

    def __init__(self, key_type: Any, value_type: Any, *, capacity: int = 0, context: Context | None = None) -> None:
        if value_type is None:
            raise OptionError("value_type is None; a multimap has values")
        self._types = PairTypes.of(key_type, value_type)
        self._context = context_of(context)
        self._map = _backend_of(self._types, self._context, capacity)

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self._map)

    def __repr__(self) -> str:
        return f"<headrace.HashMultiMap ({self._types}) on {self._context.device}, {len(self)} pairs>"

    @property
    def key_count(self) -> int:
        """Number of distinct keys."""
        return self._map.key_count

    def insert(self, keys: Any, values: Any) -> None:
        """Add pairs (INSERT of the paper).

        Raises
        ------
        OptionError
            An array has another type, length or device.
        MemoryLimitError
            The map does not fit the context's limit. Nothing has changed.
        """
        found_keys = self._keys(keys)
        found_values = array_of(values, "values", self._types.value, self._context, self._context.new_budget())
        check_length(found_values, found_keys)
        self._map.insert(found_keys, found_values)

    def find_all(self, keys: Any) -> FoundLists:
        """Return all values of each key (SEARCHALL of the paper).

        Raises
        ------
        OptionError
            The keys have another type, or are on another device.
        MemoryLimitError
            The values exceed the context's limit.
        """
        offsets, values = self._map.find_all(self._keys(keys), self._context.new_budget())
        return FoundLists(offsets.owner, values.owner)

    def count(self, keys: Any) -> Any:
        """Return the number of values of each key, int64. Errors are those of `find_all`."""
        return self._map.count(self._keys(keys)).owner

    def contains(self, keys: Any) -> Any:
        """Return whether each key has a value. Errors are those of `find_all`."""
        return self._map.contains(self._keys(keys)).owner

    def erase(self, keys: Any) -> Any:
        """Remove the smallest value of each key, and return whether there was one.

        Of equal keys in the array each one removes a value (DELETE of the paper). The time for a key is proportional to the
        number of its values.

        Raises
        ------
        OptionError
            As for `find_all`.
        UnsupportedDeviceError
            The map is on a GPU.

        Examples
        --------
        >>> rows = HashMultiMap("int32", "int64")
        >>> rows.insert([7, 7], [4, 2])
        >>> rows.erase([7, 5])
        array([ True, False])
        >>> rows.find_all([7]).values
        array([4])
        """
        return self._map.erase(self._keys(keys)).owner

    def erase_all(self, keys: Any) -> Any:
        """Remove all values of each key, and return their number, int64 (DELETEALL of the paper).

        Of equal keys in the array the first one removes the values. Errors are those of `find_all`.
        """
        return self._map.erase_all(self._keys(keys)).owner

    def items(self) -> Items:
        """Return all pairs, ascending by key and then by value: NumPy arrays, or arrays on the map's GPU."""
        keys, values = self._map.items()
        assert values is not None
        by_value = sort_pairs(values.owner, keys.owner, total_order=True, context=self._context)
        return Items(*sort_pairs(by_value.values, by_value.keys, total_order=True, context=self._context))

    def clear(self) -> None:
        """Remove all pairs and free their memory."""
        self._map.clear()

    def compact(self) -> None:
        """Free the memory that the pairs do not need (FLUSH of the paper)."""
        self._map.compact()

    def statistics(self) -> HashStatistics:
        """Return counts of pairs and bytes."""
        return self._map.statistics()

    def _keys(self, keys: Any) -> Array:
        return array_of(keys, "keys", self._types.key, self._context, self._context.new_budget())
