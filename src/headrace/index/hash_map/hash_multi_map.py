"""Defines `HashMultiMap`: several values for a key, changed and searched by whole arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

from headrace.arrange.sort.sort import sort_pairs
from headrace.arrays.arrays import Array
from headrace.core.context import Context, context_of
from headrace.core.errors import OptionError, UnsupportedDeviceError
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


class HashMultiMap:
    """A map that may have several values for a key, and equal pairs. Each call runs the operations of a whole array.

    Parameters
    ----------
    key_type, value_type
        Types of keys and values, as for `HashMap`, whose notes on keys, memory and threads hold here as well.
    context
        As for `HashMap`.

    Raises
    ------
    OptionError
        A type is not supported.
    UnsupportedDeviceError
        The context names a GPU.

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

    def __init__(self, key_type: Any, value_type: Any, *, context: Context | None = None) -> None:
        if value_type is None:
            raise OptionError("value_type is None; a multimap has values")
        self._types = PairTypes.of(key_type, value_type)
        self._context = context_of(context)
        if self._context.device.kind != "cpu":
            raise UnsupportedDeviceError("a HashMultiMap is in host memory; pass no device, and copy arrays of a GPU to the host")
        self._map = HostMultiMap(self._types, self._context)

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
        return self.count(keys) > 0

    def erase(self, keys: Any) -> Any:
        """Remove the smallest value of each key, and return whether there was one.

        Of equal keys in the array each one removes a value (DELETE of the paper). The time for a key is proportional to the
        number of its values.

        Raises
        ------
        OptionError
            As for `find_all`.

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
        """Return all pairs as NumPy arrays, ascending by key and then by value."""
        keys, values = self._map.items()
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
