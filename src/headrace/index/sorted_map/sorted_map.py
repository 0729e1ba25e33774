"""Keeps an ordered dictionary that takes batches of inserts and deletes, on CPUs and GPUs.

A batch is sorted and becomes the newest of a few sorted levels. Levels that are not larger are merged with it in one pass. (GPU
LSM: Ashkiani, chapter 4. Batches and levels may have any size, so no batch is padded.)
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import Any, Self

from headrace.arrange.sort.sort import is_sorted
from headrace.arrays.arrays import Array
from headrace.arrays.placement import same_device
from headrace.core.context import Context
from headrace.core.errors import MemoryLimitError, OptionError, UnsupportedDeviceError
from headrace.core.foreign_names import ForeignNames
from headrace.core.options import number
from headrace.index.arrow_file import MapFile, read_items
from headrace.index.sorted_map.engine import Batch, Call, new_batch
from headrace.index.sorted_map.gathered import GatheredBatches, capacity_for
from headrace.index.sorted_map.key_types import MapTypes, flags_given, items_given
from headrace.index.sorted_map.levels import Levels, merge_count
from headrace.index.sorted_map.lookups import LookupReader
from headrace.index.sorted_map.order import OrderReader
from headrace.index.sorted_map.ranges import KeyRangeReader
from headrace.index.sorted_map.reader import clean_levels


class MapReader(LookupReader, KeyRangeReader, OrderReader):
    """The reads of `SortedMap` and `MapSnapshot`. Any number of threads may read at the same time."""


class MapSnapshot(MapReader):
    """A map as it was at one time, for reads while updates of the map go on. Made by `SortedMap.snapshot`."""


class SortedMap(ForeignNames, MapReader):
    """An ordered dictionary of fixed-width keys and values, for batches of updates and queries.

    Keys are ordered as by `headrace.sort`: NaN and NaT are last, all NaN are one key, and so are -0 and 0. Any number of threads
    may read and update a map. Updates run one after another, and a read sees each update as a whole or not at all.

    Parameters
    ----------
    key_type
        Type of the keys: integers or floats of 4 or 8 bytes, instants or durations, in any spelling.
    value_type
        Type of the values, likewise; None for keys alone.
    cleanup_at
        Factor that triggers a cleanup. An update ends with one if the levels have grown by this factor since the last cleanup,
        or since the first batch. None for cleanups by hand only; then searches do not merge levels either.
    context
        Threads and memory limit of each call. If it names a GPU, the map and all arrays of the host are placed there. The map
        lies on the device of its first batch.

    Raises
    ------
    OptionError
        A type or an option is not supported.

    Notes
    -----
    With batches of one size `b`, level `i` has ``b * 2**i`` items and is there if bit `i` of the number of batches is set. Reads
    may leave fewer levels, because they merge some. An update moves each item O(log n) times in all, a search reads O(log n)
    levels. (GPU LSM: Ashkiani, chapter 4.)

    Batches that follow each other without a read may wait for one sort: 64 of one size at most. They enter as one level at the
    next read. If they do not fit memory then, that call raises `MemoryLimitError`, and they go on waiting. In a context with a
    memory limit no batch waits.

    Examples
    --------
    >>> import numpy as np
    >>> stock = SortedMap("uint32", "int64")
    >>> stock.update(np.array([7, 3, 9], np.uint32), np.array([70, 30, 90]))
    >>> stock.update(np.array([3, 8], np.uint32), np.array([0, 80]), deletes=[True, False])
    >>> len(stock), stock.items()
    (3, MapItems(keys=array([7, 8, 9], dtype=uint32), values=array([70, 80, 90])))
    """

    def __init__(
        self, key_type: Any, value_type: Any = None, *, cleanup_at: float | None = 4.0, context: Context | None = None
    ) -> None:
        super().__init__(Levels(MapTypes.of(key_type, value_type)), context, may_merge=cleanup_at is not None)
        self._cleanup_at = None if cleanup_at is None else _factor(cleanup_at)
        self._clean_count = 0
        self._gathered: GatheredBatches | None = None
        self._was_read = True

    def renew_after_fork(self) -> None:
        """Make new locks. A batch that a thread was gathering is not a part of the map."""
        super().renew_after_fork()
        self._update_lock = threading.Lock()

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, cleanup_at: float | None = 4.0, context: Context | None = None) -> SortedMap:
        """Return a map of the items of an Arrow file that `save` has written.

        Parameters
        ----------
        path
            Path of the file: a column ``key``, ascending and without equal keys, and a column ``value`` unless the map had keys
            alone.
        cleanup_at, context
            As for a new map.

        Raises
        ------
        OptionError
            The file is damaged, or has other columns or types, or keys in another order.
        MissingDependencyError
            PyArrow is not installed.
        MemoryLimitError
            The map does not fit the context's limit, or memory.
        OSError
            The file cannot be read.

        Examples
        --------
        See `save`.
        """
        found = read_items(path, "sorted_map", "SortedMap.save")
        types = _types_of(found, os.fspath(path))
        keys = found.keys.view(types.key)
        values = None if found.values is None else found.values.view(types.value)
        if len(keys) and not (is_sorted(keys) and bool((keys[1:] != keys[:-1]).all())):
            raise OptionError(f"{os.fspath(path)!r} has keys that are not in ascending order, or equal ones")
        result = cls(types.key, types.value, cleanup_at=cleanup_at, context=context)
        result.insert(keys, values)
        return result

    def update(self, keys: Any, values: Any = None, deletes: Any = None) -> None:
        """Insert and delete keys in one batch of any size.

        Parameters
        ----------
        keys
            Array of the key type, in any order; a list or one key. The work runs on its device.
        values
            Array of the value type, as long as `keys`. None in a map of keys alone, and if all keys are deleted.
        deletes
            Flag of each key: whether it is deleted, and its value ignored. True to delete all keys. None to insert all.

        Raises
        ------
        OptionError
            The arrays have other types or lengths, or values are missing.
        UnsupportedDeviceError
            The arrays are on another device than the map.
        MemoryLimitError
            The new levels exceed the context's limit. The map has not changed.

        Notes
        -----
        An insert replaces the value of a key that is in the map, and deletes of absent keys are allowed. If a batch has a key
        several times, the last value counts; if one of them is deleted, the key is deleted. (Ashkiani, section 4.3.1, where the
        value of a repeated key is any of them.)

        Examples
        --------
        >>> ages = SortedMap("int64", "int64")
        >>> ages.update([1, 2, 2, 3], [10, 20, 21, 30], deletes=[False, False, False, True])
        >>> ages.items()
        MapItems(keys=array([1, 2]), values=array([10, 21]))
        """
        with self._update_lock:
            if deletes is None and self._gathered is not None and self._gathered.repeat(keys, values):
                return
            batch, call = self._batch(self._levels, keys, values, deletes)
            if batch is not None and not self._gather(batch, call):
                self._add(batch, call)
                self._was_read = False

    def insert(self, keys: Any, values: Any = None) -> None:
        """Insert keys, as `update` does without `deletes`.

        Examples
        --------
        >>> ages = SortedMap("int64", "int64")
        >>> ages.insert([2, 1], [20, 10])
        >>> ages.find(2).values
        array([20])
        """
        self.update(keys, values)

    def erase(self, keys: Any) -> None:
        """Delete keys, as `update` does with ``deletes=True``.

        Examples
        --------
        >>> ages = SortedMap("int64", "int64")
        >>> ages.insert([2, 1], [20, 10])
        >>> ages.erase(2)
        >>> 2 in ages, 1 in ages
        (False, True)
        """
        self.update(keys, deletes=True)

    def clear(self) -> None:
        """Remove all items and free their memory. Snapshots keep theirs.

        Examples
        --------
        >>> keys = SortedMap("int64")
        >>> keys.insert([4, 5])
        >>> keys.clear()
        >>> len(keys)
        0
        """
        with self._update_lock:
            self._gathered = None
            with self._swap_lock:
                self._levels, self._searches = Levels(self._levels.types), 0
            self._clean_count = 0

    def cleanup(self) -> None:
        """Merge all levels into one without tombstones and replaced items, so that later reads are faster.

        Raises
        ------
        MemoryLimitError
            The new level exceeds the context's limit. The map has not changed.

        Examples
        --------
        >>> keys = SortedMap("int64", cleanup_at=None)
        >>> keys.insert([4, 5])
        >>> keys.erase([4])
        >>> before = keys.level_sizes
        >>> keys.cleanup()
        >>> before, keys.level_sizes
        ((1, 2), (1,))
        """
        with self._update_lock:
            self._add_gathered()
            levels = self._levels
            clean = clean_levels(levels, self._call(levels))
            with self._swap_lock:
                self._levels = clean  # also if reads have replaced the levels by equal ones meanwhile
            self._clean_count = max(clean.count, 1)

    def __copy__(self) -> Self:
        result = super().__copy__()
        vars(result)["_gathered"] = None  # of an insert meanwhile: two maps must not write to one buffer
        return result

    def snapshot(self) -> MapSnapshot:
        """Return the map as it is now, for reads while updates go on. It shares the levels, which never change.

        Examples
        --------
        >>> keys = SortedMap("int64")
        >>> keys.insert([4, 5])
        >>> before = keys.snapshot()
        >>> keys.erase([4])
        >>> len(before), len(keys)
        (2, 1)
        """
        return MapSnapshot(self._current(), self._context, may_merge=self._may_merge)

    def _current(self) -> Levels:
        if self._gathered is not None:
            with self._update_lock:
                self._add_gathered()
        self._was_read = True
        return self._levels

    def _gather(self, batch: Batch, call: Call) -> bool:
        """Append a batch to those that wait for one sort. Return False if none waits, and this one must not."""
        capacity, gathered, engine = capacity_for(batch, call), self._gathered, call.engine
        if capacity and gathered is not None and gathered.add(batch, engine):
            return True
        self._add_gathered()
        if self._was_read or not capacity or not self._levels.levels:  # an empty map takes batches of another device
            return False
        if gathered is None or gathered.capacity < capacity:
            gathered = engine.gathered(capacity)
        gathered.clear()  # its memory serves again, after the sort in the order of the stream
        gathered.add(batch, engine)
        self._gathered = gathered
        return True

    def _add_gathered(self) -> None:
        """Make the batches that wait for one sort a level."""
        gathered = self._gathered
        if gathered is not None:
            self._add(gathered.batch, gathered.call)
            self._gathered = None

    def _add(self, batch: Batch, call: Call) -> None:
        """Make a batch the newest level."""
        new = _updated(self._levels, batch, call)
        self._clean_count = self._clean_count or batch.keys.length
        if self._cleanup_at is not None and new.count > self._cleanup_at * self._clean_count:
            with suppress(MemoryLimitError):  # the update itself fits, and a later one cleans up
                new = clean_levels(new, call)
                self._clean_count = max(new.count, 1)
        with self._swap_lock:
            self._levels, self._searches = new, 0

    def _batch(self, levels: Levels, keys: Any, values: Any, deletes: Any) -> tuple[Batch | None, Call]:
        """Return the checked batch, None if it is empty, and a call on its device."""
        call, placed = self._placed(levels, keys=keys)
        types, context, budget = levels.types, self._context, call.budget
        given: dict[str, Array] = dict(placed)
        is_delete = deletes is True
        if values is not None:
            if types.value is None:
                raise OptionError("values were passed, but the map has keys alone; leave them out")
            given["values"] = items_given(values, types.value, "values", context, budget)
        elif types.value is not None and not is_delete:
            raise OptionError(f"values are missing; the map has values of type {types.value!r}")
        if deletes is not None and not isinstance(deletes, bool):
            given["deletes"] = flags_given(deletes, "deletes", context, budget)
        if same_device(*given.values()) != call.device:
            raise UnsupportedDeviceError(f"keys lie on {call.device}; pass values and deletes on that device")
        count = given["keys"].length
        for name, array in given.items():
            if array.length != count:
                raise OptionError(f"{name} has {array.length} items for {count} keys")
        if count == 0:
            return None, call
        batch: Batch = new_batch(given["keys"], None if is_delete else given.get("values"), given.get("deletes"), is_delete)
        return batch, call


def _updated(levels: Levels, batch: Batch, call: Call) -> Levels:
    """Return the levels after a batch."""
    merged = merge_count(levels.sizes, batch.keys.length)
    newest = call.engine.added(batch, levels.levels[:merged])
    return Levels(levels.types, (newest, *levels.levels[merged:]))


def _types_of(found: MapFile, path: str | bytes) -> MapTypes:
    """Return the types that a file of `SortedMap.save` describes, after a check of its columns."""
    key, value = (*found.words, "", "")[:2]
    try:
        types = MapTypes.of(key, value or None)
    except OptionError as error:
        raise OptionError(f"{path!r} has a description that no map has written: {error}") from None
    for name, items, typestr in (("key", found.keys, types.key), ("value", found.values, types.value)):
        stored = None if items is None else items.dtype.str
        is_number_of_time = stored == "<i8" and typestr is not None and typestr[1] in "mM"  # for units that Arrow lacks
        if stored != typestr and not is_number_of_time:
            raise OptionError(f"{path!r} describes {name}s of type {typestr!r}, and has {stored!r}")
    return types


def _factor(given: Any) -> float:
    found = number("cleanup_at", given, "a number greater than 1, or None")
    if not found > 1:
        raise OptionError.wrong("cleanup_at", "a number greater than 1, or None", given)
    return found
