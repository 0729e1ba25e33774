"""Searches keys in a sorted map."""

from __future__ import annotations

from typing import Any

from headrace.core.errors import OptionError
from headrace.index.arrow_file import on_host
from headrace.index.sorted_map.reader import LevelReader, owner_of
from headrace.index.sorted_map.results import Found


class LookupReader(LevelReader):
    """Searches of keys."""

    def find(self, keys: Any) -> Found:
        """Return the values of keys.

        Parameters
        ----------
        keys
            Array of the key type on the device of the map, in any order; a list or one key. Searches of sorted keys are faster.

        Returns
        -------
        Found
            Values and mask, in arrays of the library of `keys`. The host waits for a GPU only if all levels are merged before.

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
        section 4.4.2). The newest levels are merged before, once searches since the last update have taken longer than the
        merge does.

        Examples
        --------
        >>> from headrace import SortedMap
        >>> prices = SortedMap("uint32", "float64")
        >>> prices.insert([7, 3], [0.5, 1.5])
        >>> prices.find([3, 4])
        Found(values=array([1.5, 0. ]), mask=array([ True, False]))
        """
        levels = self._current()
        call, wanted = self._placed(levels, keys=keys)
        levels = self._prepared(levels, call, wanted["keys"].length, uses_filters=True)
        found = call.engine.find(levels, wanted["keys"])
        return Found(owner_of(found.values), found.is_present.owner)

    def contains(self, keys: Any) -> Any:
        """Return whether each key is in the map, bool. Arguments and errors are those of `find`.

        Examples
        --------
        >>> from headrace import SortedMap
        >>> seen = SortedMap("int64")
        >>> seen.insert([7, 3])
        >>> seen.contains([3, 4])
        array([ True, False])
        """
        return self.find(keys).mask

    def __contains__(self, key: Any) -> bool:
        """Return whether one key is in the map. On a GPU the host waits."""
        mask = self.find(key).mask
        if len(mask) != 1:
            raise OptionError.wrong("key", "one key; find takes arrays", key)
        return bool(on_host(mask)[0])
