"""Reads a sorted map by the order of its keys: neighbours, both ends, and all items."""

from __future__ import annotations

import os
from typing import Any

from headrace.core.options import flag
from headrace.index.arrow_file import MapFile, on_host, write_items
from headrace.index.sorted_map.reader import LevelReader, owner_of
from headrace.index.sorted_map.results import MapItems, Neighbours
from headrace.primitives.copy import copy


class OrderReader(LevelReader):
    """Neighbours of keys, the ends of a map, and its items in order."""

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

    def _neighbours(self, keys: Any, is_successor: bool, inclusive: bool) -> Neighbours:
        levels, inclusive = self._current(), flag("inclusive", inclusive)
        call, wanted = self._placed(levels, keys=keys)
        levels = self._prepared(levels, call, wanted["keys"].length)
        found = call.engine.neighbours(levels, wanted["keys"], (is_successor, inclusive))
        return Neighbours(owner_of(found.keys), owner_of(found.values), found.is_present.owner)

    def _end(self, code: int, is_successor: bool) -> Any:
        """Return the first or last item, as the neighbour of the key with the first or last code."""
        import numpy as np

        order = self._types.order
        bits = np.array([order.key(code % (1 << order.bits))], self._types.code)
        levels = self._current()
        if not levels.levels:
            return None
        call = self._call(levels)
        found = call.engine.neighbours(levels, call.engine.on_device(bits.view(self._types.key)), (is_successor, True))
        if not on_host(found.is_present.owner)[0]:
            return None
        key = on_host(owner_of(found.keys))[0]
        return key if found.values is None else (key, on_host(found.values.owner)[0])
