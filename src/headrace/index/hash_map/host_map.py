"""Calls the maps in host memory. Their rules are those of `headrace.index.hash_map.device_map`."""

from __future__ import annotations

from headrace import _native
from headrace.arrays.arrays import Array, needed_numpy, take
from headrace.arrays.placement import empty_like
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.index.hash_map.pair_types import HashStatistics, PairTypes


class HostMap:
    """A map or set in host memory.

    Parameters
    ----------
    types
        Types of keys and values.
    context
        Threads, and the limit of the map's memory.
    """

    def __init__(self, types: PairTypes, context: Context) -> None:
        self._types = types
        self._threads = context.thread_count
        self._map = _native.HostHashMap(*types.widths, context.memory_limit or 0)

    def __len__(self) -> int:
        return self._map.statistics[0]

    def upsert(self, keys: Array, values: Array | None, reduce: str) -> int:
        """Insert keys, and reduce the values of those that are present. Return the number of keys added."""
        kind = self._types.value[1] if self._types.value else "u"
        return self._map.upsert(_batch(keys), _address(values), (reduce, kind), self._threads)

    def replace(self, keys: Array, values: Array) -> Array:
        """Replace values of keys that are present, and return a flag for each key: whether it is."""
        found = empty_like(keys, keys.length, "|b1")
        self._map.replace(_batch(keys), values.address, found.address, self._threads)
        return found

    def erase(self, keys: Array) -> Array:
        """Erase keys, and return a flag for each: whether it was present."""
        found = empty_like(keys, keys.length, "|b1")
        self._map.erase(_batch(keys), found.address, self._threads)
        return found

    def find(self, keys: Array, values: Array | None, found: Array) -> None:
        """Write the values of keys, 0 for absent ones, and whether each is present."""
        self._map.find(_batch(keys), _address(values), found.address, self._threads)

    def items(self) -> tuple[Array, Array | None]:
        """Return keys and values in no order."""
        found = _Items(self._types)
        self._map.items(found.allocate)
        return found.keys, found.values

    def clear(self) -> None:
        """Remove all pairs and free their memory."""
        self._map.clear()

    def compact(self) -> None:
        """Free the slots that the pairs do not need."""
        self._map.compact(self._threads)

    def statistics(self) -> HashStatistics:
        """Return counts of pairs and bytes."""
        return _statistics(self._types, self._map.statistics)


class HostMultiMap:
    """A multimap in host memory.

    Parameters
    ----------
    types, context
        As for `HostMap`.
    """

    def __init__(self, types: PairTypes, context: Context) -> None:
        self._types = types
        self._threads = context.thread_count
        self._map = _native.HostMultiMap(*types.widths, context.memory_limit or 0)

    def __len__(self) -> int:
        return self._map.statistics[0]

    @property
    def key_count(self) -> int:
        """Number of distinct keys."""
        return self._map.key_count

    def insert(self, keys: Array, values: Array) -> None:
        """Insert pairs."""
        self._map.insert(_batch(keys), values.address, self._threads)

    def erase(self, keys: Array) -> Array:
        """Erase the pair of each key whose value is first, and return a flag for each: whether there was one."""
        found = empty_like(keys, keys.length, "|b1")
        self._map.erase(_batch(keys), self._types.value_rule, found.address, self._threads)
        return found

    def erase_all(self, keys: Array) -> Array:
        """Erase all pairs of keys, and return the number for each."""
        counts = empty_like(keys, keys.length, "<i8")
        self._map.erase_all(_batch(keys), counts.address, self._threads)
        return counts

    def contains(self, keys: Array) -> Array:
        """Return whether each key has a value."""
        found = empty_like(keys, keys.length, "|b1")
        found.as_numpy()[:] = self.count(keys).as_numpy() > 0
        return found

    def count(self, keys: Array) -> Array:
        """Return the number of pairs of each key."""
        counts = empty_like(keys, keys.length, "<i8")
        self._map.count(_batch(keys), counts.address, self._threads)
        return counts

    def find_all(self, keys: Array, budget: Budget) -> tuple[Array, Array]:
        """Return the offset at which the values of each key begin, the end of all, and the values."""
        offsets = empty_like(keys, keys.length + 1, "<i8")
        values = empty_like(keys, 0, self._types.value)

        def allocate(count: int) -> int:
            nonlocal values
            values = empty_like(keys, count, self._types.value, budget)
            return values.address

        self._map.find_all(_batch(keys), self._types.value_rule, (offsets.address, allocate), self._threads)
        return offsets, values

    def items(self) -> tuple[Array, Array | None]:
        """Return keys and values in no order."""
        found = _Items(self._types)
        self._map.items(found.allocate)
        return found.keys, found.values

    def clear(self) -> None:
        """Remove all pairs and free their memory."""
        self._map.clear()

    def compact(self) -> None:
        """Free the memory that the pairs do not need."""
        self._map.compact(self._threads)

    def statistics(self) -> HashStatistics:
        """Return counts of pairs and bytes."""
        return _statistics(self._types, self._map.statistics)


def _batch(keys: Array) -> tuple[int, int]:
    return keys.address, keys.length


def _address(values: Array | None) -> int:
    return 0 if values is None else values.address


class _Items:
    """Allocates arrays for all pairs once their number is known."""

    keys: Array
    values: Array | None = None

    def __init__(self, types: PairTypes) -> None:
        self._types = types

    def allocate(self, size: int) -> tuple[int, int]:
        """Allocate the arrays and return their addresses."""
        np = needed_numpy("items()")
        self.keys = take(np.empty(size, self._types.key))
        if self._types.value:
            self.values = take(np.empty(size, self._types.value))
        return self.keys.address, _address(self.values)


def _statistics(types: PairTypes, counts: tuple[int, int, int]) -> HashStatistics:
    size, capacity, nbytes = counts
    return HashStatistics(size, capacity, nbytes, size * sum(types.widths) / nbytes if nbytes else 0.0)
