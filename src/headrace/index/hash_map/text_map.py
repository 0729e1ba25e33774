"""Maps, sets and multimaps whose keys are texts, or rows of several columns: maps of the numbers that the keys have in a table.

An update numbers new keys first. Searches do not: keys that the map has never had have no number. Erased keys have theirs until
`compact` or `clear`.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, Self, TypeVar

from headrace.arrays.arrays import Array
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.core.errors import HeadraceError, MemoryLimitError, UnsupportedDeviceError
from headrace.core.process.process_lock import renew_in_children
from headrace.index.hash_map.backend import MapBackend, MultiBackend, TableBackend
from headrace.index.hash_map.operations import ListBatch, OperationBatch
from headrace.index.hash_map.pair_types import HashStatistics, PairTypes
from headrace.index.hash_map.results import DeviceRef

NumberMap = TypeVar("NumberMap", bound=TableBackend)
Result = TypeVar("Result")
SortItems = Callable[[Array, Array | None], tuple[Array, Array | None]]
"""Returns the keys of numbers, ascending, and their values. The owner of the keys is for callers."""


class KeyNumbers(Protocol):
    """The numbers of keys, from 0 on. Arrays of keys have an owner that is theirs."""

    def __len__(self) -> int: ...

    @property
    def nbytes(self) -> int:
        """Bytes of the keys and their table."""

    def find(self, keys: Array, /) -> Array:
        """Return the number of each key, with all bits set if it has none."""

    def add(self, keys: Array, /) -> Array:
        """Return the number of each key, after keys without a number got one. If memory is refused, none did."""

    def remove_from(self, number: int, /) -> None:
        """Remove the keys from a number on. Their numbers are given again."""

    def keep(self, numbers: Array, /) -> None:
        """Remove keys of other numbers, as far as that takes no memory."""

    def copy(self) -> Self:
        """Return a copy."""

    def keys_of(self, numbers: Array, /) -> Array:
        """Return the keys that have these numbers."""

    def sorter(self) -> SortItems:
        """Return a function for the numbers as they are now."""


def placed_keys(keys: Any, types: PairTypes, context: Context) -> Array:
    """Return the keys of a caller on the map's device, which `KeyNumbers` take.

    Raise OptionError if they do not have the types of the map's keys, some are null, or they are on another device.
    """
    if context.device.kind == "cpu":
        from headrace.index.hash_map.host_key_numbers import keys_on_host  # needs NumPy

        return keys_on_host(keys, types, context)
    from headrace.index.hash_map.device_key_numbers import keys_on_device  # needs cuda-core

    return keys_on_device(keys, types, context)


@dataclass(frozen=True, slots=True)
class NumberedPairs(Generic[NumberMap]):
    """The keys, and the map of their numbers."""

    keys: KeyNumbers
    map: NumberMap


class _TextTable(ABC, Generic[NumberMap]):
    """The functions that all kinds of maps have.

    `make`: returns keys and a map without any.
    """

    def __init__(self, make: Callable[[], NumberedPairs[NumberMap]]) -> None:
        self._make: Callable[[], NumberedPairs[NumberMap]] = make
        self._state: NumberedPairs[NumberMap] = make()
        self.renew_after_fork()
        renew_in_children(self)

    def renew_after_fork(self) -> None:
        """Make a new lock."""
        self._lock = threading.Lock()  # held by changes, so that none is lost while `compact` makes a new state

    def _searched(self, keys: Array, search: Callable[[NumberMap, Array], Result]) -> Result:
        """Search the map for the numbers of keys; again if numbers have got another meaning meanwhile."""
        while True:
            state = self._state
            result = search(state.map, state.keys.find(keys))
            if self._state is state:
                return result

    def _updated(self, keys: Array, update: Callable[[NumberMap, Array], Result]) -> Result:
        """Number new keys, and update the map. If that is refused, the numbers are as before, too."""
        state = self._state
        before = len(state.keys)
        numbers = state.keys.add(keys)
        try:
            return update(state.map, numbers)
        except (HeadraceError, MemoryError):
            with suppress(MemoryLimitError):  # then keys are left without a pair, as after an erasure
                state.keys.remove_from(before)
            self._state = NumberedPairs(state.keys, state.map)  # after the removal, and before the numbers are given again
            raise

    def __len__(self) -> int:
        return len(self._state.map)

    def contains(self, keys: Array, budget: Budget) -> Array:
        """Return a flag for each key: whether it is present."""
        return self._searched(keys, lambda table, numbers: table.contains(numbers, budget))

    def erase(self, keys: Array) -> Array:
        """Erase a pair of each key, and return a flag for each: whether it was present."""
        with self._lock:
            return self._searched(keys, lambda table, numbers: table.erase(numbers))

    def items(self) -> tuple[Array, Array | None]:
        """Return keys and values, ascending; the owner of the keys is for callers. Updates wait while both are copied."""
        with self._lock:  # else `compact` may remove a key between the two copies
            sort, pairs = self._state.keys.sorter(), self._state.map.items()
        return sort(*pairs)

    def device_ref(self) -> DeviceRef:
        """Refuse to give a table to kernels."""
        raise UnsupportedDeviceError("kernels cannot use a map whose keys are texts or have several columns")

    def snapshot(self) -> Self:
        """Return a copy. Updates wait meanwhile."""
        result = copy(self)
        with self._lock:
            state = NumberedPairs(self._state.keys.copy(), self._state.map.snapshot())
        result._state = state  # noqa: SLF001  # a new object
        result.renew_after_fork()
        renew_in_children(result)
        return result

    def clear(self) -> None:
        """Remove all pairs and free their memory."""
        with self._lock:
            self._state.map.clear()  # first, so that there is memory for another one
            self._state = self._make()

    def compact(self) -> None:
        """Free the memory that the pairs do not need. The keys that are left get new numbers.

        If there is no memory for a second map, the keys keep their numbers. On the CPU, those without a pair are removed.
        """
        with self._lock:
            old = self._state
            numbers, values = old.map.items()
            new = None
            with suppress(MemoryLimitError):
                new = self._renumbered(old, numbers, values)
            if new is None:
                old.keys.keep(numbers)
                old.map.compact()
                new = NumberedPairs(old.keys, old.map)
            self._state = new

    def _renumbered(self, old: NumberedPairs[NumberMap], numbers: Array, values: Array | None) -> NumberedPairs[NumberMap]:
        """Return a state with the pairs of another one, whose keys have new numbers."""
        state = self._make()
        self._fill(state.map, state.keys.add(old.keys.keys_of(numbers)), values)
        state.map.compact()
        return state

    @abstractmethod
    def _fill(self, empty: NumberMap, numbers: Array, values: Array | None) -> None:
        """Insert pairs into an empty map."""

    def statistics(self) -> HashStatistics:
        """Return counts of pairs and bytes; those of the keys are among them."""
        found, keys = self._state.map.statistics(), self._state.keys.nbytes
        nbytes = found.nbytes + keys
        utilisation = found.utilisation * found.nbytes / nbytes if nbytes else 0.0
        return replace(found, nbytes=nbytes, utilisation=utilisation)


class TextMap(_TextTable[MapBackend]):
    """A map or set of texts or rows."""

    def upsert(self, keys: Array, values: Array | None, reduce: str) -> int:
        """Insert keys, and reduce the values of those that are present. Return the number of keys added."""
        with self._lock:
            return self._updated(keys, lambda table, numbers: table.upsert(numbers, values, reduce))

    def replace(self, keys: Array, values: Array) -> Array:
        """Replace values of keys that are present, and return a flag for each key: whether it is."""
        with self._lock:
            return self._searched(keys, lambda table, numbers: table.replace(numbers, values))

    def find(self, keys: Array, values: Array, found: Array) -> None:
        """Write the values of keys, 0 for absent ones, and whether each is present."""
        self._searched(keys, lambda table, numbers: table.find(numbers, values, found))

    def apply(self, batch: OperationBatch, order: str) -> None:
        """Run mixed operations, and write their results."""
        with self._lock:
            self._updated(batch.keys, lambda table, numbers: table.apply(replace(batch, keys=numbers), order))

    def _fill(self, empty: MapBackend, numbers: Array, values: Array | None) -> None:
        empty.upsert(numbers, values, "last")


class TextMultiMap(_TextTable[MultiBackend]):
    """A multimap of texts or rows."""

    @property
    def key_count(self) -> int:
        """Number of distinct keys."""
        return self._state.map.key_count

    def insert(self, keys: Array, values: Array) -> None:
        """Insert pairs."""
        with self._lock:
            self._updated(keys, lambda table, numbers: table.insert(numbers, values))

    def count(self, keys: Array) -> Array:
        """Return the number of pairs of each key."""
        return self._searched(keys, lambda table, numbers: table.count(numbers))

    def find_all(self, keys: Array, budget: Budget) -> tuple[Array, Array]:
        """Return the offset at which the values of each key begin, the end of all, and the values."""
        return self._searched(keys, lambda table, numbers: table.find_all(numbers, budget))

    def erase_all(self, keys: Array) -> Array:
        """Erase all pairs of keys, and return the number for each."""
        with self._lock:
            return self._searched(keys, lambda table, numbers: table.erase_all(numbers))

    def apply(self, batch: ListBatch) -> None:
        """Run mixed operations in their order, and write their results."""
        with self._lock:
            self._updated(batch.keys, lambda table, numbers: table.apply(replace(batch, keys=numbers)))

    def _fill(self, empty: MultiBackend, numbers: Array, values: Array | None) -> None:
        if values is not None:
            empty.insert(numbers, values)
