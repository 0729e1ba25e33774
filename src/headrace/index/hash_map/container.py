"""Defines the base class of hash maps, sets and multimaps: all that does not depend on the values of a key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from headrace.arrays.arrays import Array
from headrace.core.budget import Budget
from headrace.core.context import Context, context_of
from headrace.core.options import integer
from headrace.index.hash_map.backend import TableBackend
from headrace.index.hash_map.pair_types import HashStatistics, PairTypes, array_of, check_length

BackendType = TypeVar("BackendType", bound=TableBackend)


class HashContainer(Generic[BackendType]):
    """Keys, perhaps with values, in a table on one device.

    Parameters
    ----------
    types
        Types of keys and values.
    new_backend
        Function that returns an empty table.
    capacity, context
        As for `headrace.HashMap`.
    """

    __slots__ = ("_backend", "_context", "_types")

    _noun = "pairs"

    def __init__(
        self,
        types: PairTypes,
        new_backend: Callable[[PairTypes, Context, int], BackendType],
        *,
        capacity: int,
        context: Context | None,
    ) -> None:
        self._types = types
        self._context = context_of(context)
        self._backend = new_backend(types, self._context, integer("capacity", capacity, "an integer from 0 on", 0))

    def __len__(self) -> int:
        """Return the number of pairs, or of a set's keys."""
        return len(self._backend)

    def __repr__(self) -> str:
        return f"<headrace.{type(self).__name__} ({self._types}) on {self._context.device}, {len(self)} {self._noun}>"

    def contains(self, keys: Any) -> Any:
        """Return whether each key is present. Errors are those of `headrace.HashMap.find`."""
        budget = self._context.new_budget()
        return self._backend.contains(self._keys(keys, budget), budget).owner

    def clear(self) -> None:
        """Remove all pairs and free their memory."""
        self._backend.clear()

    def compact(self) -> None:
        """Free the memory that the pairs do not need (FLUSH of the paper)."""
        self._backend.compact()

    def statistics(self) -> HashStatistics:
        """Return counts of pairs, slots and bytes."""
        return self._backend.statistics()

    def _keys(self, keys: Any, budget: Budget | None = None) -> Array:
        return array_of(keys, "keys", self._types.key, self._context, budget or self._context.new_budget())

    def _pairs(self, keys: Any, values: Any) -> tuple[Array, Array]:
        budget = self._context.new_budget()
        found_keys = self._keys(keys, budget)
        found_values = array_of(values, "values", self._types.value, self._context, budget)
        check_length(found_values, found_keys)
        return found_keys, found_values
