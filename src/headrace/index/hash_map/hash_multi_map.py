"""Defines `HashMultiMap`: several values for a key, changed and searched by whole arrays."""

from __future__ import annotations

from typing import Any

from headrace.arrays.placement import empty_like
from headrace.core.context import Context
from headrace.core.errors import OptionError
from headrace.core.options import choice
from headrace.index.hash_map.backend import MultiBackend, new_multi_map
from headrace.index.hash_map.container import HashContainer
from headrace.index.hash_map.operations import MULTI_KINDS, ORDERS, ListBatch, operations_of
from headrace.index.hash_map.pair_types import PairTypes
from headrace.index.hash_map.results import FoundCounts, FoundLists, Items


class HashMultiMap(HashContainer[MultiBackend]):
    """A map that may have several values for a key, and equal pairs. Each call runs the operations of a whole array.

    Parameters
    ----------
    key_type, value_type
        Types of keys and values, as for `HashMap`, whose notes on keys, memory and threads hold here as well.
    capacity, seed, context
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

    __slots__ = ()

    _has_lists = True

    def __init__(
        self, key_type: Any, value_type: Any, *, capacity: int = 0, seed: int = 0, context: Context | None = None
    ) -> None:
        if value_type is None:
            raise OptionError("value_type is None; a multimap has values")
        super().__init__(PairTypes.of(key_type, value_type), new_multi_map, capacity=capacity, seed=seed, context=context)

    @property
    def key_count(self) -> int:
        """Number of distinct keys."""
        return self._backend.key_count

    def insert(self, keys: Any, values: Any) -> None:
        """Add pairs (INSERT of the paper).

        Raises
        ------
        OptionError
            An array has another type, length or device.
        MemoryLimitError
            The map does not fit the context's limit. Nothing has changed.
        """
        self._backend.insert(*self._pairs(keys, values))

    def find_all(self, keys: Any) -> FoundLists:
        """Return all values of each key (SEARCHALL of the paper).

        Raises
        ------
        OptionError
            The keys have another type, or are on another device.
        MemoryLimitError
            The values exceed the context's limit.
        """
        offsets, values = self._backend.find_all(self._keys(keys), self._context.new_budget())
        return FoundLists(offsets.owner, values.owner)

    def count(self, keys: Any) -> Any:
        """Return the number of values of each key, int64. Errors are those of `find_all`."""
        return self._backend.count(self._keys(keys)).owner

    def erase(self, keys: Any) -> Any:
        """Remove the smallest value of each key, and return whether there was one.

        Of equal keys in the array each one removes a value (DELETE of the paper). The time for a key is proportional to the
        number of its values. A GPU sorts the values of all keys of the array.

        Raises
        ------
        OptionError, MemoryLimitError
            As for `find_all`. Nothing has changed.

        Examples
        --------
        >>> rows = HashMultiMap("int32", "int64")
        >>> rows.insert([7, 7], [4, 2])
        >>> rows.erase([7, 5])
        array([ True, False])
        >>> rows.find_all([7]).values
        array([4])
        """
        return self._backend.erase(self._keys(keys)).owner

    def erase_all(self, keys: Any) -> Any:
        """Remove all values of each key, and return their number, int64 (DELETEALL of the paper).

        Of equal keys in the array the first one removes the values. Errors are those of `find_all`.
        """
        return self._backend.erase_all(self._keys(keys)).owner

    def apply(self, operations: Any, keys: Any, values: Any, *, order: str = "sequential") -> FoundCounts:
        """Run operations of several kinds in one batch, and return the state that each operation has found.

        Parameters
        ----------
        operations
            List of names, or array of uint8 with numbers of `headrace.MapOperation`. ``"insert"`` adds the pair. ``"erase"``
            removes the smallest value of the key, and ``"erase_all"`` removes all. ``"find"`` and ``"count"`` change nothing.
            ``find_all`` has no single result, so it is a call of its own.
        keys, values
            Key and value of each operation. Only ``"insert"`` uses the value.
        order
            ``"sequential"``: the result is that of the operations one by one in the order of the arrays, on any device.
            ``"any"``: the result is that of the operations one by one in some order.

        Returns
        -------
        FoundCounts
            For each operation the number of values of its key just before it; for ``"find"`` and ``"erase"`` also the smallest
            one. So an ``"erase"`` has removed this value if the number is not 0, and ``"erase_all"`` has removed that number.

        Raises
        ------
        OptionError
            An operation is unknown, or an array has another type, length or device.
        MemoryLimitError
            The map does not fit the context's limit. Nothing has changed.

        Notes
        -----
        The time of ``"find"`` and ``"erase"`` is proportional to the number of the key's values. On a GPU, one thread runs all
        operations of a key.

        Examples
        --------
        >>> rows = HashMultiMap("int32", "int64")
        >>> rows.apply(["insert", "insert", "find", "erase", "erase_all", "count"], [7] * 6, [4, 2, 0, 0, 0, 0])
        FoundCounts(values=array([0, 0, 2, 2, 0, 0]), counts=array([0, 1, 2, 2, 1, 0]))
        """
        choice("order", order, ORDERS)  # the order of the arrays is an order
        budget = self._context.new_budget()
        found_keys, found_values = self._pairs(keys, values)
        given = operations_of(operations, found_keys, MULTI_KINDS, self._context, budget)
        firsts = empty_like(found_keys, found_keys.length, self._types.value, budget)
        counts = empty_like(found_keys, found_keys.length, "<i8", budget)
        self._backend.apply(ListBatch(MULTI_KINDS, given, found_keys, found_values, firsts, counts))
        return FoundCounts(firsts.owner, counts.owner)

    def items(self) -> Items:
        """Return all pairs, ascending by key and then by value: NumPy arrays, or arrays on the map's GPU."""
        return Items(*self._columns())
