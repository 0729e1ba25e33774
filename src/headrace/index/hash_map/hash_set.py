"""Defines `HashSet`: distinct keys, on a CPU or a GPU, changed and searched by whole arrays."""

from __future__ import annotations

from typing import Any

from headrace.arrays.placement import empty_like
from headrace.core.context import Context
from headrace.core.options import choice
from headrace.index.hash_map.backend import MapBackend, new_map
from headrace.index.hash_map.container import HashContainer
from headrace.index.hash_map.operations import ORDERS, SET_KINDS, OperationBatch, operations_of
from headrace.index.hash_map.pair_types import PairTypes


class HashSet(HashContainer[MapBackend]):
    """A set of keys. Each call runs the operations of a whole array, as if one by one in the array's order.

    Parameters
    ----------
    key_type
        Type of the keys, as for `HashMap`, whose notes on keys, memory and threads hold here as well.
    capacity, seed, context
        As for `HashMap`.

    Raises
    ------
    OptionError
        The type is not supported.

    Examples
    --------
    >>> seen = HashSet("uint32")
    >>> seen.insert([5, 1, 5])
    2
    >>> seen.contains([1, 2])
    array([ True, False])
    >>> seen.items()
    array([1, 5], dtype=uint32)
    """

    __slots__ = ()

    _noun = "keys"

    def __init__(self, key_type: Any, *, capacity: int = 0, seed: int = 0, context: Context | None = None) -> None:
        super().__init__(PairTypes.of(key_type), new_map, capacity=capacity, seed=seed, context=context)

    def insert(self, keys: Any) -> int:
        """Add keys, and return the number of those that were absent.

        Raises
        ------
        OptionError
            The keys have another type, or are on another device.
        MemoryLimitError
            The set does not fit the context's limit. Nothing has changed.
        """
        return self._backend.upsert(self._keys(keys), None, "first")

    def erase(self, keys: Any) -> Any:
        """Remove keys, and return whether each was present, as `HashMap.erase`."""
        return self._backend.erase(self._keys(keys)).owner

    def apply(self, operations: Any, keys: Any, *, order: str = "sequential") -> Any:
        """Run operations of several kinds in one batch, and return for each whether its key was present just before it.

        Parameters
        ----------
        operations
            List of ``"find"``, ``"insert"`` and ``"erase"``, or array of uint8 with their numbers in `headrace.MapOperation`.
        keys
            Key of each operation.
        order
            ``"sequential"`` or ``"any"``, as for `HashMap.apply`, whose errors hold here as well.

        Examples
        --------
        >>> seen = HashSet("int64")
        >>> seen.apply(["insert", "insert", "erase", "find"], [8, 8, 8, 8])
        array([False,  True,  True, False])
        """
        choice("order", order, ORDERS)
        budget = self._context.new_budget()
        found_keys = self._keys(keys, budget)
        given = operations_of(operations, found_keys, SET_KINDS, self._context, budget)
        found = empty_like(found_keys, found_keys.length, "|b1", budget)
        self._backend.apply(OperationBatch(SET_KINDS, given, found_keys, None, None, found), order)
        return found.owner

    def items(self) -> Any:
        """Return all keys, ascending: a NumPy array, or an array on the set's GPU."""
        return self._columns()[0]
