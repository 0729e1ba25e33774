"""Reads a sorted map or a snapshot: searches, ranges, neighbours and all items in order."""

from __future__ import annotations

import os
import threading
from typing import Any

from headrace.arrays.arrays import Array, take
from headrace.arrays.placement import same_device
from headrace.core.context import Context, context_of
from headrace.core.errors import MemoryLimitError, OptionError, UnsupportedDeviceError
from headrace.core.options import flag
from headrace.index.arrow_file import MapFile, on_host, write_items
from headrace.index.sorted_map.engine import Call, KeyRanges
from headrace.index.sorted_map.key_types import MapTypes, items_given
from headrace.index.sorted_map.levels import Levels
from headrace.index.sorted_map.results import Found, MapItems, Neighbours, RangeItems
from headrace.primitives.copy import copy
from headrace.primitives.scan import scan_line


class MapReader:
    """The reads of `SortedMap` and `MapSnapshot`. Any number of threads may read at the same time."""

    def __init__(self, levels: Levels, context: Context | None) -> None:
        self._levels = levels
        self._context = context_of(context)
        self._swap_lock = threading.Lock()

    @property
    def key_type(self) -> str:
        """Type of the keys in NumPy's notation."""
        return self._types.key

    @property
    def value_type(self) -> str | None:
        """Type of the values in NumPy's notation; None for keys alone."""
        return self._types.value

    @property
    def level_sizes(self) -> tuple[int, ...]:
        """Number of items of each level, newest first. Tombstones and items that newer ones replace are counted."""
        return tuple(level.count for level in self._levels.levels)

    @property
    def nbytes(self) -> int:
        """Bytes of all levels."""
        return sum(level.nbytes for level in self._levels.levels)

    @property
    def _types(self) -> MapTypes:
        return self._levels.types

    def find(self, keys: Any) -> Found:
        """Return the values of keys.

        Parameters
        ----------
        keys
            Array of the key type on the device of the map, in any order; a list or one key. Searches of sorted keys share more
            cache lines.

        Returns
        -------
        Found
            Values and mask, in arrays of the library of `keys`. The host does not wait for a GPU.

        Raises
        ------
        OptionError
            The keys have another type.
        UnsupportedDeviceError
            The keys are on another device.
        MemoryLimitError
            The result exceeds the context's limit.

        Notes
        -----
        Levels are searched from the newest to the oldest, and a key leaves the search at the first level that has it (Ashkiani,
        section 4.4.2).

        Examples
        --------
        >>> from headrace import SortedMap
        >>> prices = SortedMap("uint32", "float64")
        >>> prices.insert([7, 3], [0.5, 1.5])
        >>> prices.find([3, 4])
        Found(values=array([1.5, 0. ]), mask=array([ True, False]))
        """
        levels = self._levels
        call, wanted = self._placed(levels, keys=keys)
        found = call.engine.find(self._prepared(levels, call), wanted["keys"])
        return Found(_owner(found.values), found.is_present.owner)

    def __contains__(self, key: Any) -> bool:
        """Return whether one key is in the map. On a GPU the host waits."""
        mask = self.find(key).mask
        if len(mask) != 1:
            raise OptionError.wrong("key", "one key; find takes arrays", key)
        return bool(on_host(mask)[0])

    def count(self, lows: Any, highs: Any) -> Any:
        """Return the number of keys in each range.

        Parameters
        ----------
        lows, highs
            First and last key of each range, both included: arrays of one length, as in `find`. A range whose last key is before
            its first one is empty.

        Returns
        -------
        array
            Counts, int64, of the library of `lows`. On a GPU the host waits, unless the last call was a cleanup.

        Raises
        ------
        OptionError, UnsupportedDeviceError, MemoryLimitError
            As in `find`; or the lengths differ.

        Examples
        --------
        >>> from headrace import SortedMap
        >>> keys = SortedMap("int64")
        >>> keys.insert([5, 1, 9])
        >>> keys.count([0, 2, 6], [5, 4, 9])
        array([2, 0, 1])
        """
        return self._counted(lows, highs)[3].owner

    def range(self, lows: Any, highs: Any) -> RangeItems:
        """Return the keys and values of each range, in order.

        Parameters
        ----------
        lows, highs
            As in `count`.

        Returns
        -------
        RangeItems
            Offsets, keys and values, in arrays of the library of `lows`. The host waits for the number of items.

        Raises
        ------
        OptionError, UnsupportedDeviceError, MemoryLimitError
            As in `count`.

        Examples
        --------
        >>> from headrace import SortedMap
        >>> names = SortedMap("int64", "int64")
        >>> names.insert([5, 1, 9], [50, 10, 90])
        >>> names.range([0, 6], [5, 9])
        RangeItems(offsets=array([0, 2, 3]), keys=array([1, 5, 9]), values=array([10, 50, 90]))
        """
        levels, call, ranges, counts = self._counted(lows, highs)
        offsets = take(scan_line(counts.owner, "sum", has_initial=True, context=self._context))
        keys, values = call.engine.copied(levels, ranges, offsets)
        return RangeItems(offsets.owner, keys.owner, _owner(values))

    def successor(self, keys: Any, *, inclusive: bool = False) -> Neighbours:
        """Return the smallest key of the map after each given key.

        Parameters
        ----------
        keys
            As in `find`.
        inclusive
            Whether a key that is in the map is its own successor.

        Returns
        -------
        Neighbours
            Keys, values and mask, in arrays of the library of `keys`.

        Raises
        ------
        OptionError, UnsupportedDeviceError, MemoryLimitError
            As in `find`.

        Examples
        --------
        >>> from headrace import SortedMap
        >>> keys = SortedMap("int64")
        >>> keys.insert([5, 1, 9])
        >>> keys.successor([1, 9]).keys, keys.successor([1, 9]).mask
        (array([5, 0]), array([ True, False]))
        """
        return self._neighbours(keys, True, inclusive)

    def predecessor(self, keys: Any, *, inclusive: bool = False) -> Neighbours:
        """Return the largest key of the map before each given key.

        Parameters
        ----------
        keys, inclusive
            As in `successor`.

        Returns
        -------
        Neighbours
            As of `successor`.

        Raises
        ------
        OptionError, UnsupportedDeviceError, MemoryLimitError
            As in `find`.

        Examples
        --------
        >>> from headrace import SortedMap
        >>> keys = SortedMap("int64")
        >>> keys.insert([5, 1, 9])
        >>> keys.predecessor([5], inclusive=True).keys, keys.predecessor(5).keys
        (array([5]), array([1]))
        """
        return self._neighbours(keys, False, inclusive)

    def min(self) -> Any:
        """Return the smallest key and its value, as numbers of NumPy; the key alone in a map of keys; None for an empty map.

        Examples
        --------
        >>> from headrace import SortedMap
        >>> keys = SortedMap("int64")
        >>> keys.min() is None
        True
        >>> keys.insert([5, 1, 9])
        >>> int(keys.min()), int(keys.max())
        (1, 9)
        """
        return self._end(0, True)

    def max(self) -> Any:
        """Return the largest key and its value, as `min`."""
        return self._end(-1, False)

    def items(self) -> MapItems:
        """Return all keys in ascending order, and their values, in new arrays on the device of the map.

        Levels are merged first, as by `SortedMap.cleanup`, and the result is kept.

        Returns
        -------
        MapItems
            Arrays of NumPy, or on a GPU `DeviceArray`. Of -0 and 0, which are one key, 0 is returned, and for all NaN one NaN.

        Raises
        ------
        MemoryLimitError
            The result exceeds the context's limit.

        Examples
        --------
        >>> from headrace import SortedMap
        >>> names = SortedMap("int64", "int64")
        >>> names.insert([5, 1, 9], [50, 10, 90])
        >>> names.items()
        MapItems(keys=array([1, 5, 9]), values=array([10, 50, 90]))
        """
        levels = self._merged()
        call = self._call(levels)
        if not levels.levels:
            values = None if self._types.value is None else call.new(0, self._types.value).owner
            return MapItems(call.new(0, self._types.key).owner, values)
        level = levels.levels[0]
        keys = call.engine.keys_of(level.codes, self._types.key)
        if level.values is None:
            return MapItems(keys.owner, None)
        values = call.new(level.count, level.values.typestr)
        copy(level.values, values)
        return MapItems(keys.owner, values.owner)

    def __len__(self) -> int:
        """Return the number of keys. Levels are merged first, as by `items`."""
        return self._merged().count

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all items to an Arrow file, in ascending order of keys. The file exists as a whole or not at all.

        Parameters
        ----------
        path
            Path of the file, which is replaced at the end if it exists.

        Raises
        ------
        MissingDependencyError
            PyArrow is not installed.
        OSError
            The file cannot be written.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> from headrace import SortedMap
        >>> keys = SortedMap("int64")
        >>> keys.insert([5, 1, 9])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     keys.save(pathlib.Path(folder, "keys.arrow"))
        ...     SortedMap.load(pathlib.Path(folder, "keys.arrow")).items().keys
        array([1, 5, 9])
        """
        keys, values = self.items()
        words = self._types.key, self._types.value or ""
        write_items(path, "sorted_map", MapFile(words, on_host(keys), None if values is None else on_host(values)))

    def _merged(self) -> Levels:
        """Return levels of which each item is a visible pair, and keep them."""
        levels = self._levels
        if levels.is_clean:
            return levels
        clean = clean_levels(levels, self._call(levels))
        self._replace(levels, clean)
        return clean

    def _prepared(self, levels: Levels, call: Call) -> Levels:
        """Return the levels with what searches use on their device, and keep them unless an update came in between."""
        try:
            prepared = call.engine.prepared(levels)
        except MemoryLimitError:  # searches work without it
            return levels
        if prepared is not levels:
            self._replace(levels, prepared)
        return prepared

    def _replace(self, levels: Levels, equal: Levels) -> None:
        """Keep levels with the same answers as `levels`, unless an update came in between."""
        with self._swap_lock:
            if self._levels is levels:
                self._levels = equal

    def _call(self, levels: Levels) -> Call:
        device = levels.device or self._context.device
        return Call(levels.types, device, self._context, self._context.new_budget())

    def _placed(self, levels: Levels, **given: Any) -> tuple[Call, dict[str, Array]]:
        """Return a call on the device of the keys, which is that of the levels, and the keys by name."""
        budget = self._context.new_budget()
        placed = {name: items_given(keys, levels.types.key, name, self._context, budget) for name, keys in given.items()}
        device = same_device(*placed.values())
        if levels.device is not None and levels.device != device:
            raise UnsupportedDeviceError(
                f"the map lies on {levels.device}, and {' and '.join(placed)} on {device}; pass keys on the device of the map"
            )
        return Call(levels.types, device, self._context, budget), placed

    def _counted(self, lows: Any, highs: Any) -> tuple[Levels, Call, KeyRanges, Array]:
        """Return levels, a call, ranges and their counts. For long ranges on a GPU the levels are merged before."""
        levels = self._levels
        call, placed = self._placed(levels, lows=lows, highs=highs)
        ranges = KeyRanges(placed["lows"], placed["highs"])
        if ranges.lows.length != ranges.highs.length:
            raise OptionError(f"highs has {ranges.highs.length} keys for {ranges.lows.length} of lows")
        levels = self._prepared(levels, call)
        counts = call.engine.counts(levels, ranges)
        if counts is None:
            levels = self._prepared(self._merged(), call)
            counts = call.engine.counts(levels, ranges)
            assert counts is not None
        return levels, call, ranges, counts

    def _neighbours(self, keys: Any, is_successor: bool, inclusive: bool) -> Neighbours:
        levels, inclusive = self._levels, flag("inclusive", inclusive)
        call, wanted = self._placed(levels, keys=keys)
        levels = self._prepared(levels, call)
        found = call.engine.neighbours(levels, wanted["keys"], (is_successor, inclusive))
        return Neighbours(_owner(found.keys), _owner(found.values), found.is_present.owner)

    def _end(self, code: int, is_successor: bool) -> Any:
        """Return the first or last item, as the neighbour of the key with the first or last code."""
        import numpy as np

        order = self._types.order
        bits = np.array([order.key(code % (1 << order.bits))], self._types.code)
        levels = self._levels
        if not levels.levels:
            return None
        call = self._call(levels)
        found = call.engine.neighbours(levels, call.engine.on_device(bits.view(self._types.key)), (is_successor, True))
        if not on_host(found.is_present.owner)[0]:
            return None
        key = on_host(_owner(found.keys))[0]
        return key if found.values is None else (key, on_host(found.values.owner)[0])


class MapSnapshot(MapReader):
    """A map as it was at one time, for reads while updates of the map go on. Made by `SortedMap.snapshot`."""


def clean_levels(levels: Levels, call: Call) -> Levels:
    """Return levels that have the visible pairs only (Ashkiani, section 4.4.5)."""
    if levels.is_clean:
        return levels
    merged = levels.levels[0] if len(levels.levels) == 1 else call.engine.merged(levels)
    return levels.with_level(call.engine.compacted(merged))


def _owner(array: Array | None) -> Any:
    return None if array is None else array.owner
