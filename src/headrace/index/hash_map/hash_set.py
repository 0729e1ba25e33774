"""Defines `HashSet`: distinct keys, on a CPU or a GPU, changed and searched by whole arrays."""

from __future__ import annotations

from typing import Any

from headrace.arrange.sort.sort import sort
from headrace.arrays.arrays import Array
from headrace.arrays.placement import empty_like
from headrace.core.budget import Budget
from headrace.core.context import Context, context_of
from headrace.index.hash_map.hash_map import backend_of
from headrace.index.hash_map.pair_types import HashStatistics, PairTypes, array_of


class HashSet:
    """A set of keys. Each call runs the operations of a whole array, as if one by one in the array's order.

    Parameters
    ----------
    key_type
        Type of the keys, as for `HashMap`, whose notes on keys, memory and threads hold here as well.
    capacity, context
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

    __slots__ = ("_backend", "_context", "_types")

    def __init__(self, key_type: Any, *, capacity: int = 0, context: Context | None = None) -> None:
        self._types = PairTypes.of(key_type)
        self._context = context_of(context)
        self._backend = backend_of(self._types, self._context, capacity)

    def __len__(self) -> int:
        """Return the number of keys."""
        return len(self._backend)

    def __repr__(self) -> str:
        return f"<headrace.HashSet ({self._types}) on {self._context.device}, {len(self)} keys>"

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

    def contains(self, keys: Any) -> Any:
        """Return whether each key is present. Errors are those of `HashMap.find`."""
        budget = self._context.new_budget()
        found_keys = self._keys(keys, budget)
        found = empty_like(found_keys, found_keys.length, "|b1", budget)
        self._backend.find(found_keys, None, found)
        return found.owner

    def erase(self, keys: Any) -> Any:
        """Remove keys, and return whether each was present, as `HashMap.erase`."""
        return self._backend.erase(self._keys(keys)).owner

    def items(self) -> Any:
        """Return all keys, ascending: a NumPy array, or an array on the set's GPU."""
        return sort(self._backend.items()[0].owner, total_order=True, context=self._context)

    def clear(self) -> None:
        """Remove all keys and free their memory."""
        self._backend.clear()

    def compact(self) -> None:
        """Free the memory that the keys do not need."""
        self._backend.compact()

    def statistics(self) -> HashStatistics:
        """Return counts of keys, slots and bytes."""
        return self._backend.statistics()

    def _keys(self, keys: Any, budget: Budget | None = None) -> Array:
        return array_of(keys, "keys", self._types.key, self._context, budget or self._context.new_budget())
