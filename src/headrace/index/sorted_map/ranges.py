"""Counts and copies the items of ranges of keys in a sorted map."""

from __future__ import annotations

from typing import Any

from headrace.arrays.arrays import Array, take
from headrace.core.errors import OptionError
from headrace.index.sorted_map.engine import Call, KeyRanges
from headrace.index.sorted_map.levels import Levels
from headrace.index.sorted_map.reader import LevelReader, owner_of
from headrace.index.sorted_map.results import RangeItems
from headrace.primitives.scan import scan_line

_SEARCHES_OF_RANGE = 12  # number of searches of keys that take the time of a walk through a range of 8 keys


class KeyRangeReader(LevelReader):
    """Counts and items of ranges."""

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
        return self._counted(*self._ranges(lows, highs))[1].owner

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
        levels, call, ranges = self._ranges(lows, highs)
        found = call.engine.short_ranges(levels, ranges)
        if found is not None:
            return RangeItems(found.offsets.owner, found.keys.owner, owner_of(found.values))
        levels, counts = self._counted(levels, call, ranges)
        offsets = take(scan_line(counts.owner, "sum", has_initial=True, context=self._context))
        keys, values = call.engine.copied(levels, ranges, offsets)
        return RangeItems(offsets.owner, keys.owner, owner_of(values))

    def _ranges(self, lows: Any, highs: Any) -> tuple[Levels, Call, KeyRanges]:
        """Return levels that are prepared for ranges, a call and the ranges."""
        levels = self._current()
        call, placed = self._placed(levels, lows=lows, highs=highs)
        ranges = KeyRanges(placed["lows"], placed["highs"])
        if ranges.lows.length != ranges.highs.length:
            raise OptionError(f"highs has {ranges.highs.length} keys for {ranges.lows.length} of lows")
        count = ranges.lows.length
        return self._prepared(levels, call, _SEARCHES_OF_RANGE * count, count), call, ranges

    def _counted(self, levels: Levels, call: Call, ranges: KeyRanges) -> tuple[Levels, Array]:
        """Return counts of ranges, and the levels. For long ranges the levels are merged before."""
        counts = call.engine.counts(levels, ranges)
        if counts is None:
            levels = self._prepared(self._merged(), call, 0, ranges.lows.length)
            counts = call.engine.counts(levels, ranges)
            assert counts is not None
        return levels, counts
