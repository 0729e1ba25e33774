"""Maps, sets and multimaps in host memory whose keys are texts: maps of the numbers that the texts have in a table.

Keys of several columns are packed into texts (row_keys.py). An update numbers new texts first. Searches do not, so -1 stands for
texts that the map has never had. The texts of erased keys stay until `compact` or `clear`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

from headrace import _native
from headrace.arrange.gather.take import take_rows
from headrace.arrange.partition_rows.rows import compared_columns, row_hashes
from headrace.arrange.sort.sort import sort_pairs
from headrace.arrays.arrays import Array, fast_array, needed_numpy
from headrace.columns.column import Column
from headrace.columns.plan.native_errors import native_errors
from headrace.columns.types import DataType
from headrace.core.budget import Budget
from headrace.core.buffer import copy_of
from headrace.core.context import Context
from headrace.core.errors import HeadraceError, MemoryLimitError
from headrace.core.process.process_lock import renew_in_children
from headrace.index.hash_map.host_map import HostMap
from headrace.index.hash_map.host_multi_map import HostMultiMap
from headrace.index.hash_map.operations import ListBatch, OperationBatch
from headrace.index.hash_map.pair_types import HashStatistics, PairTypes
from headrace.index.hash_map.results import DeviceRef
from headrace.index.hash_map.row_keys import packed_rows, pieces_of, text_column

NumberMap = TypeVar("NumberMap", HostMap, HostMultiMap)
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class TextKeys:
    """The owner of an array of numbers, which a map writes when it gets the array."""

    column: Column
    numbers: Any


def text_keys(keys: Any, types: PairTypes, context: Context) -> Array:
    """Return the keys of a caller as an array of numbers that are not written yet.

    Raise OptionError if they do not have the types of the map's keys, or some are null.
    """
    return _unnumbered(packed_rows(keys, types.columns, context) if types.columns else text_column(keys, "keys"), context)


def _unnumbered(column: Column, context: Context) -> Array:
    numbers = needed_numpy("a map of texts").empty(len(column), "<i8")
    address = numbers.__array_interface__["data"][0]
    return fast_array(address, len(column), "<i8", context.device, "numpy", None, True, TextKeys(column, numbers))


@dataclass(frozen=True, slots=True)
class _State(Generic[NumberMap]):
    texts: _native.TextNumbers
    map: NumberMap


class _TextTable(Generic[NumberMap]):
    """The functions that all kinds of maps have.

    `make`: returns an empty map of numbers, given its types and memory.
    """

    def __init__(self, types: PairTypes, context: Context, make: Callable[[PairTypes, _native.MapBudget], NumberMap]) -> None:
        self._types = PairTypes("<i8", types.value)
        self._context = context
        self._make: Callable[[PairTypes, _native.MapBudget], NumberMap] = make
        self._memory = _native.MapBudget(context.memory_limit or 0)
        self._state: _State[NumberMap] = self._new_state()
        self.renew_after_fork()
        renew_in_children(self)

    def renew_after_fork(self) -> None:
        """Make a new lock."""
        self._lock = threading.Lock()  # held by changes, so that none is lost while `compact` makes a new state

    def _new_state(self) -> _State[NumberMap]:
        return _State(_native.TextNumbers(self._memory), self._make(self._types, self._memory))

    def _searched(self, keys: Array, search: Callable[[NumberMap], Result]) -> Result:
        """Write the numbers of keys, and search the map for them; again if numbers have got another meaning meanwhile."""
        while True:
            state = self._state
            self._number(keys, state.texts.find)
            result = search(state.map)
            if self._state is state:
                return result

    def _updated(self, keys: Array, update: Callable[[NumberMap], Result]) -> Result:
        """Number new keys, and update the map. If that is refused, the texts are as before, too."""
        state = self._state
        before = len(state.texts)
        self._number(keys, state.texts.add)
        try:
            return update(state.map)
        except (HeadraceError, MemoryError):
            state.texts.remove_from(before)
            self._state = _State(state.texts, state.map)  # after the removal, and before the numbers are given again
            raise

    def _number(self, keys: Array, number: Callable[[Any, int, int], None]) -> None:
        column, context = keys.owner.column, self._context
        hashes = row_hashes({"key": column}, ["key"], context, by_secret=True)
        described, _held = compared_columns([column], context)
        with native_errors():
            number((described, hashes.__array_interface__["data"][0], len(column), False), keys.address, context.thread_count)

    def __len__(self) -> int:
        return len(self._state.map)

    def contains(self, keys: Array, budget: Budget) -> Array:
        """Return a flag for each key: whether it is present."""
        return self._searched(keys, lambda table: table.contains(keys, budget))

    def erase(self, keys: Array) -> Array:
        """Erase a pair of each key, and return a flag for each: whether it was present."""
        with self._lock:
            return self._searched(keys, lambda table: table.erase(keys))

    def items(self) -> tuple[Array, Array | None]:
        """Return texts and values, ascending; the keys are a column. Updates wait while pairs and texts are copied."""
        np = needed_numpy("items()")
        with self._lock:  # else `compact` may remove a text between the two copies
            numbers, values = self._state.map.items()
            all_texts = _all_texts(self._state.texts)
        present = np.unique(numbers.as_numpy())
        column = take_rows(all_texts, present, self._context.thread_count)
        texts = pieces_of(column)
        order = np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int64)
        ranks = np.empty_like(order)
        ranks[order] = np.arange(len(order))
        keys: Any = ranks[np.searchsorted(present, numbers.as_numpy())]
        if values is not None:
            by_value = sort_pairs(values.owner, keys, total_order=True, context=self._context)
            keys, found = sort_pairs(by_value.values, by_value.keys, context=self._context)
            values = Array(found.__array_interface__["data"][0], len(found), values.typestr, values.device, "numpy", owner=found)
        else:
            keys = np.sort(keys)
        sorted_column = take_rows(column, order[keys], self._context.thread_count)
        return Array(0, len(keys), "<i8", numbers.device, "numpy", owner=sorted_column), values

    def device_ref(self) -> DeviceRef:
        """Refuse to give a table to kernels."""
        return self._state.map.device_ref()

    def snapshot(self) -> Self:
        """Return a copy. Updates wait meanwhile."""
        result = copy(self)
        with self._lock:
            result._state = _State(self._state.texts.copy(), self._state.map.snapshot())  # noqa: SLF001  # a new object
        result.renew_after_fork()
        renew_in_children(result)
        return result

    def clear(self) -> None:
        """Remove all pairs and free their memory."""
        with self._lock:
            self._state = self._new_state()

    def compact(self) -> None:
        """Free the memory that the pairs do not need. The texts that are left get new numbers.

        If there is no memory for a second map, texts without a key are removed, and the others keep their numbers.
        """
        with self._lock:
            old = self._state
            numbers, values = old.map.items()
            new = None
            with suppress(MemoryLimitError):
                new = self._renumbered(old, numbers, values)
            if new is None:
                old.texts.keep(numbers.address, numbers.length)
                old.map.compact()
                new = _State(old.texts, old.map)
            self._state = new

    def _renumbered(self, old: _State[NumberMap], numbers: Array, values: Array | None) -> _State[NumberMap]:
        """Return a state with the pairs of another one, whose texts have new numbers."""
        state = self._new_state()
        texts = take_rows(_all_texts(old.texts), numbers.as_numpy(), self._context.thread_count)
        keys = _unnumbered(texts, self._context)
        self._number(keys, state.texts.add)
        _fill(state.map, keys, values)
        state.map.compact()
        return state

    def statistics(self) -> HashStatistics:
        """Return counts of pairs and bytes; those of texts are among them."""
        found, texts = self._state.map.statistics(), self._state.texts.nbytes
        nbytes = found.nbytes + texts
        utilisation = found.utilisation * found.nbytes / nbytes if nbytes else 0.0
        return HashStatistics(found.size, found.capacity, nbytes, utilisation)


class TextMap(_TextTable[HostMap]):
    """A map or set of texts."""

    def upsert(self, keys: Array, values: Array | None, reduce: str) -> int:
        """Insert keys, and reduce the values of those that are present. Return the number of keys added."""
        with self._lock:
            return self._updated(keys, lambda table: table.upsert(keys, values, reduce))

    def replace(self, keys: Array, values: Array) -> Array:
        """Replace values of keys that are present, and return a flag for each key: whether it is."""
        with self._lock:
            return self._searched(keys, lambda table: table.replace(keys, values))

    def find(self, keys: Array, values: Array, found: Array) -> None:
        """Write the values of keys, 0 for absent ones, and whether each is present."""
        self._searched(keys, lambda table: table.find(keys, values, found))

    def apply(self, batch: OperationBatch, order: str) -> None:
        """Run mixed operations, and write their results."""
        with self._lock:
            self._updated(batch.keys, lambda table: table.apply(batch, order))


class TextMultiMap(_TextTable[HostMultiMap]):
    """A multimap of texts."""

    @property
    def key_count(self) -> int:
        """Number of distinct keys."""
        return self._state.map.key_count

    def insert(self, keys: Array, values: Array) -> None:
        """Insert pairs."""
        with self._lock:
            self._updated(keys, lambda table: table.insert(keys, values))

    def count(self, keys: Array) -> Array:
        """Return the number of pairs of each key."""
        return self._searched(keys, lambda table: table.count(keys))

    def find_all(self, keys: Array, budget: Budget) -> tuple[Array, Array]:
        """Return the offset at which the values of each key begin, the end of all, and the values."""
        return self._searched(keys, lambda table: table.find_all(keys, budget))

    def erase_all(self, keys: Array) -> Array:
        """Erase all pairs of keys, and return the number for each."""
        with self._lock:
            return self._searched(keys, lambda table: table.erase_all(keys))

    def apply(self, batch: ListBatch) -> None:
        """Run mixed operations in their order, and write their results."""
        with self._lock:
            self._updated(batch.keys, lambda table: table.apply(batch))


def _fill(empty: HostMap | HostMultiMap, keys: Array, values: Array | None) -> None:
    """Insert the pairs of a map into an empty one."""
    if isinstance(empty, HostMap):
        empty.upsert(keys, values, "last")
    elif values is not None:
        empty.insert(keys, values)


def _all_texts(numbers: _native.TextNumbers) -> Column:
    """Return the texts of all numbers, in their order."""
    ends, texts = numbers.texts()
    return Column(DataType("large_string"), len(ends) // 8, 0, copy_of(texts), offsets=copy_of(bytes(8) + ends))
