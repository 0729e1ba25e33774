"""Maps, sets and multimaps in host memory whose keys are texts: maps of the numbers that the texts have in a table.

An update numbers new texts first. Searches do not, so -1 stands for texts that the map has never had. The texts of erased keys
stay until `compact` or `clear`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
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
from headrace.core.errors import OptionError
from headrace.export.arrow.from_arrow import column_from_arrow
from headrace.index.hash_map.host_map import HostMap
from headrace.index.hash_map.host_multi_map import HostMultiMap
from headrace.index.hash_map.operations import ListBatch, OperationBatch
from headrace.index.hash_map.pair_types import MAX_BATCH, HashStatistics, PairTypes
from headrace.index.hash_map.results import DeviceRef

_EXPECTED = "a text, or a list, an array, a Series or a column of texts"
NumberMap = TypeVar("NumberMap", HostMap, HostMultiMap)


@dataclass(frozen=True, slots=True)
class TextKeys:
    """The owner of an array of numbers, which a map writes when it gets the array."""

    column: Column
    numbers: Any


def text_keys(keys: Any, context: Context) -> Array:
    """Return the keys of a caller as an array of numbers that are not written yet.

    Raise OptionError if they are no texts, or some are null.
    """
    column = _column(keys)
    if column.dictionary is None and not column.type.is_string:
        raise OptionError(f"keys are of type {column.type}, and the map has texts")
    if column.device.kind != "cpu":
        raise OptionError(f"keys are on {column.device}, and the map is on the CPU; copy them with .to('cpu')")
    if column.null_count:
        raise OptionError("keys has nulls; fill them or drop them first")
    if len(column) > MAX_BATCH:
        raise OptionError(f"keys has {len(column)} items, at most {MAX_BATCH} go into one call; pass them in parts")
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
        self._lock = threading.Lock()  # held by changes, so that none is lost while `compact` makes a new state
        self._state: _State[NumberMap] = self._new_state()

    def _new_state(self) -> _State[NumberMap]:
        return _State(_native.TextNumbers(self._memory), self._make(self._types, self._memory))

    def _search(self, keys: Array, state: _State[NumberMap]) -> NumberMap:
        """Write the numbers of keys, and return the map that has them."""
        self._number(keys, state.texts.find)
        return state.map

    def _added(self, keys: Array) -> NumberMap:
        """Do the same after new keys got a number."""
        self._number(keys, self._state.texts.add)
        return self._state.map

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
        return self._search(keys, self._state).contains(keys, budget)

    def erase(self, keys: Array) -> Array:
        """Erase a pair of each key, and return a flag for each: whether it was present."""
        with self._lock:
            return self._search(keys, self._state).erase(keys)

    def items(self) -> tuple[Array, Array | None]:
        """Return texts and values, ascending: the owner of the keys is a column."""
        np = needed_numpy("items()")
        state = self._state
        numbers, values = state.map.items()
        present = np.unique(numbers.as_numpy())
        column = take_rows(_all_texts(state.texts), present, self._context.thread_count)
        texts = _pieces(column)
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
        result._lock = threading.Lock()  # noqa: SLF001
        return result

    def clear(self) -> None:
        """Remove all pairs and free their memory."""
        with self._lock:
            self._state = self._new_state()

    def compact(self) -> None:
        """Free the memory that the pairs do not need. The texts that are left get new numbers."""
        with self._lock:
            old, state = self._state, self._new_state()
            numbers, values = old.map.items()
            texts = take_rows(_all_texts(old.texts), numbers.as_numpy(), self._context.thread_count)
            keys = text_keys(texts, self._context)
            self._number(keys, state.texts.add)
            _fill(state.map, keys, values)
            state.map.compact()
            self._state = state

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
            return self._added(keys).upsert(keys, values, reduce)

    def replace(self, keys: Array, values: Array) -> Array:
        """Replace values of keys that are present, and return a flag for each key: whether it is."""
        with self._lock:
            return self._search(keys, self._state).replace(keys, values)

    def find(self, keys: Array, values: Array, found: Array) -> None:
        """Write the values of keys, 0 for absent ones, and whether each is present."""
        self._search(keys, self._state).find(keys, values, found)

    def apply(self, batch: OperationBatch, order: str) -> None:
        """Run mixed operations, and write their results."""
        with self._lock:
            self._added(batch.keys).apply(batch, order)


class TextMultiMap(_TextTable[HostMultiMap]):
    """A multimap of texts."""

    @property
    def key_count(self) -> int:
        """Number of distinct keys."""
        return self._state.map.key_count

    def insert(self, keys: Array, values: Array) -> None:
        """Insert pairs."""
        with self._lock:
            self._added(keys).insert(keys, values)

    def count(self, keys: Array) -> Array:
        """Return the number of pairs of each key."""
        return self._search(keys, self._state).count(keys)

    def find_all(self, keys: Array, budget: Budget) -> tuple[Array, Array]:
        """Return the offset at which the values of each key begin, the end of all, and the values."""
        return self._search(keys, self._state).find_all(keys, budget)

    def erase_all(self, keys: Array) -> Array:
        """Erase all pairs of keys, and return the number for each."""
        with self._lock:
            return self._search(keys, self._state).erase_all(keys)

    def apply(self, batch: ListBatch) -> None:
        """Run mixed operations in their order, and write their results."""
        with self._lock:
            self._added(batch.keys).apply(batch)


def _fill(empty: HostMap | HostMultiMap, keys: Array, values: Array | None) -> None:
    """Insert the pairs of a map into an empty one."""
    if isinstance(empty, HostMap):
        empty.upsert(keys, values, "last")
    elif values is not None:
        empty.insert(keys, values)


def _column(keys: Any) -> Column:
    if isinstance(keys, Column):
        return keys
    if isinstance(keys, str):
        keys = [keys]
    if getattr(getattr(keys, "dtype", None), "kind", None) in ("U", "O") and type(keys).__module__ == "numpy":
        keys = keys.tolist()
    if not isinstance(keys, list | tuple):
        return column_from_arrow(keys, "keys", _EXPECTED)
    if not all(isinstance(key, str) for key in keys):
        raise OptionError.wrong("keys", _EXPECTED, keys)
    try:
        return _column_of([key.encode() for key in keys])
    except UnicodeEncodeError:
        raise OptionError("keys has a text that is not valid Unicode") from None


def _column_of(texts: list[bytes]) -> Column:
    np = needed_numpy("a map of texts")
    offsets: Any = np.zeros(len(texts) + 1, "<i8")
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    return Column(DataType("large_string"), len(texts), 0, copy_of(b"".join(texts)), offsets=copy_of(offsets))


def _all_texts(numbers: _native.TextNumbers) -> Column:
    """Return the texts of all numbers, in their order."""
    ends, texts = numbers.texts()
    return Column(DataType("large_string"), len(ends) // 8, 0, copy_of(texts), offsets=copy_of(bytes(8) + ends))


def _pieces(column: Column) -> list[bytes]:
    """Return the texts of a column that `take_rows` has returned."""
    assert column.offsets is not None
    ends = memoryview(column.offsets).cast("B").cast("q")
    texts = bytes(memoryview(column.values).cast("B"))
    return [texts[ends[i] : ends[i + 1]] for i in range(len(column))]
