"""Keeps the levels that reads of a sorted map see, and places keys on their device."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any, Never, Self

from headrace.arrays.arrays import Array
from headrace.arrays.placement import same_device
from headrace.core.context import Context, context_of
from headrace.core.errors import MemoryLimitError, UnsupportedDeviceError, counted
from headrace.core.process.process_lock import renew_in_children
from headrace.gpu.device.device import is_lasting
from headrace.index.sorted_map.engine import Call, new_call
from headrace.index.sorted_map.key_types import MapTypes, items_given
from headrace.index.sorted_map.levels import Levels, search_merge_count


class LevelReader:
    """Levels that a reader sees, and the resources of its calls."""

    def __init__(self, levels: Levels, context: Context | None, *, may_merge: bool) -> None:
        self._levels = levels
        self._may_merge = may_merge
        self._searches = 0
        self._context = context_of(context)
        self.renew_after_fork()
        renew_in_children(self)

    def renew_after_fork(self) -> None:
        """Make a new lock. Levels never change, so those of a child are whole."""
        self._swap_lock = threading.Lock()

    def __copy__(self) -> Self:
        self._current()
        result = object.__new__(type(self))
        vars(result).update(vars(self))
        result.renew_after_fork()
        renew_in_children(result)
        return result

    def __repr__(self) -> str:
        values = "" if self.value_type is None else f", {self.value_type}"
        sizes = self.level_sizes
        levels = f"{counted(sum(sizes), 'item')} in {counted(len(sizes), 'level')}"
        device = self._levels.device or self._context.device
        return f"<headrace.{type(self).__name__} ({self.key_type}{values}) on {device}, {levels}>"

    def __reduce__(self) -> Never:
        raise TypeError(f"a {type(self).__name__} cannot be pickled; write it by save(path), and read it by SortedMap.load(path)")

    def _current(self) -> Levels:
        return self._levels

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
        return self._current().sizes

    @property
    def nbytes(self) -> int:
        """Bytes of all levels, with the arrays that guide their searches."""
        return self._current().nbytes

    @property
    def _types(self) -> MapTypes:
        return self._levels.types

    def _merged(self) -> Levels:
        """Return levels of which each item is a visible pair, and keep them."""
        levels = self._current()
        if levels.is_clean:
            return levels
        clean = clean_levels(levels, self._call(levels))
        self._replace(levels, clean)
        return clean

    def _prepared(self, levels: Levels, call: Call, searches: int, ranges: int = 0, *, uses_filters: bool = False) -> Levels:
        """Return the levels with the arrays that a call uses, merged if that saves time. They are kept unless an update came.

        They are the map's own, so the limit of their memory leaves the call its own for its results.

        `searches`: number of searches of keys that take as long as the call.
        `uses_filters`: whether the call uses filters.
        """
        prepared = levels
        making = call if call.budget.limit is None else self._call(levels)
        try:
            if len(levels.levels) > 1:
                self._searches += searches
                if self._may_merge:
                    prepared = self._merged_for_searches(levels, making)
            prepared = making.engine.prepared(prepared, self._searches if uses_filters else 0, ranges)
        except MemoryLimitError:  # searches work without it
            self._searches = 0  # so that not every call tries again
        if prepared is not levels:
            self._replace(levels, prepared)
        return prepared

    def _merged_for_searches(self, levels: Levels, call: Call) -> Levels:
        """Merge the newest levels if that takes less time than searches of as many keys as since the last update take in them.

        So a map that is searched more than it is updated has few levels.
        """
        merged = search_merge_count(levels.sizes, self._searches * call.engine.merged_per_search)
        if merged == 1:
            return levels
        if merged == len(levels.levels):
            return clean_levels(levels, call)
        newest = call.engine.merged(Levels(levels.types, levels.levels[:merged]))
        return Levels(levels.types, (newest, *levels.levels[merged:]))

    def _replace(self, levels: Levels, equal: Levels) -> None:
        """Keep levels with the same answers as `levels`, unless an update came in between."""
        with self._swap_lock:
            if self._levels is levels:
                self._levels = equal

    def _call(self, levels: Levels) -> Call:
        device = levels.device or self._context.device
        return Call(levels.types, device, self._context, self._context.new_budget(), levels.stream)

    def _placed(self, levels: Levels, **given: Any) -> tuple[Call, dict[str, Array]]:
        """Return a call on the device of the keys, which is that of the levels, and the keys by name."""
        budget = self._context.new_budget()
        placed = {name: items_given(keys, levels.types.key, name, self._context, budget) for name, keys in given.items()}
        device = same_device(*placed.values())
        if levels.device is not None and levels.device != device:
            raise UnsupportedDeviceError(
                f"the map lies on {levels.device}, and {' and '.join(placed)} on {device}; pass keys on the device of the map"
            )
        stream = levels.stream if levels.levels else _lasting_stream(placed.values())
        call: Call = new_call(levels.types, device, self._context, budget, stream)
        return call, placed


def clean_levels(levels: Levels, call: Call) -> Levels:
    """Return levels that have the visible pairs only (Ashkiani, section 4.4.5)."""
    return levels if levels.is_clean else levels.with_level(call.engine.cleaned(levels))


def _lasting_stream(arrays: Iterable[Array]) -> int | None:
    """Return the stream of arrays, if they have one that is never destroyed."""
    streams = {array.stream for array in arrays}
    stream = streams.pop()
    return stream if stream and not streams and is_lasting(stream) else None


def owner_of(array: Array | None) -> Any:
    """Return the array of the caller's library; None for None."""
    return None if array is None else array.owner
