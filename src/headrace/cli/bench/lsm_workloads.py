"""Makes the workloads of Ashkiani 2017, chapter 4: maps that grow by batches of one size, and searches and ranges in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from random import Random
from typing import Any

import headrace
from headrace.cli.bench.experiment import Setting
from headrace.cli.bench.lsm_figures import ABSENT, ARRAY, COUNT, IN_A_ROW, LEVELS, PRESENT

_WORD, _KEY_BITS = "uint32", 32
_FACTOR = 0x9E3779B1
_DRAWN = 3  # maps that are checked besides those after the last batch, and after a power of two of batches
_WINDOWS, _WINDOW = 16, 1 << 16  # number and length of the parts of a large map that are checked
_CHECKED_ITEMS = 1 << 17  # items of ranges that are checked
_MIXED = 1 << 16  # keys that are drawn at once
_STEPS = 32  # batches of a sorted array that are timed


def context_of(setting: Setting) -> headrace.Context:
    """Return a context that places empty maps on the device."""
    return headrace.Context(device=headrace.Device.parse(setting.device))


def part_of(items: Any, begin: int, count: int) -> Any:
    """Return items of an array of the device, which are not copied."""
    if isinstance(items, headrace.DeviceArray):
        return headrace.DeviceArray(items.buffer, items.typestr, count, items.first + begin)
    return items[begin : begin + count]


def _windows(count: int) -> list[tuple[int, int]]:
    """Return begins and lengths of the parts of an array that are checked: evenly spaced ones of a large array."""
    if count <= _WINDOWS * _WINDOW:
        return [(0, count)]
    return [((count - _WINDOW) * i // (_WINDOWS - 1), _WINDOW) for i in range(_WINDOWS)]


class Keys:
    """Distinct random keys over all 32 bits in host memory, and as many other ones. Arrays of the device are made once.

    `stale`: number of the first keys that come again at the end.
    """

    def __init__(self, setting: Setting, count: int, stale: int = 0) -> None:
        import numpy as np

        self.setting, self.stale = setting, stale
        self.host = _mixed(np.arange(count, dtype=np.uint32))
        if stale:
            self.host[count - stale :] = self.host[:stale]

    @cached_property
    def absent(self) -> Any:
        """Other keys, in host memory."""
        import numpy as np

        return _mixed(np.arange(len(self.host), 2 * len(self.host), dtype=np.uint32))

    @cached_property
    def ascending(self) -> Any:
        """The keys that a map has after all batches, in host memory."""
        import numpy as np

        return np.sort(self.host[self.stale :])

    @cached_property
    def pairs(self) -> tuple[Any, Any]:
        """The keys on the device, and their numbers."""
        import numpy as np

        return self.setting.array(self.host), self.setting.array(np.arange(len(self.host), dtype=np.uint32))

    @cached_property
    def wanted(self) -> Mapping[str, Any]:
        """The `PRESENT` and the `ABSENT` keys on the device."""
        return {PRESENT: self.pairs[0], ABSENT: self.setting.array(self.absent)}


@dataclass(frozen=True, slots=True)
class Stream:
    """Keys that come in batches of one size. The value of a key is its number."""

    known: Keys
    batch: int  # keys of a batch; divides the number of keys

    @property
    def setting(self) -> Setting:
        """The device."""
        return self.known.setting

    def __len__(self) -> int:
        return len(self.known.host)

    def empty(self) -> headrace.SortedMap:
        """Return an empty map without cleanups of its own."""
        return headrace.SortedMap(_WORD, _WORD, cleanup_at=None, context=context_of(self.setting))

    def parts(self, end: int | None = None) -> Iterator[tuple[Any, Any]]:
        """Yield keys and values of each batch on the device, up to a number of keys."""
        for begin in range(0, len(self) if end is None else end, self.batch):
            yield self._part(begin, self.batch)

    def _part(self, begin: int, count: int) -> tuple[Any, Any]:
        keys, numbers = self.known.pairs
        return part_of(keys, begin, count), part_of(numbers, begin, count)

    def prefixes(self) -> Iterator[tuple[int, headrace.SortedMap]]:
        """Yield the map after each batch, and the number of its keys."""
        grown = self.empty()
        for number, (keys, values) in enumerate(self.parts(), 1):
            _insert(grown, keys, values)
            yield number * self.batch, grown

    def insertion_seconds(self, structure: str) -> list[float]:
        """Return the seconds of each batch, after a check of the whole map."""
        steps = [partial(_INSERTIONS[structure], keys=keys, values=values) for keys, values in self.parts()]
        return self._checked_seconds(structure, steps)

    def array_seconds(self) -> list[float]:
        """Return the seconds of batches into a sorted array: of all, or of 32 evenly spaced ones. The last array is checked."""
        once, last, found = replace(self.setting, repeats=1, min_seconds=0.0), len(self) // self.batch, []
        steps = min(last, _STEPS)
        for step in range(steps):
            begin = (last - 1) * step // max(1, steps - 1) * self.batch
            before, grown = self.empty(), [self.empty()]
            if begin:
                _insert_into_one(before, *self._part(0, begin))
            batch = self._part(begin, self.batch)
            found.append(once.seconds(partial(_insert_into_last, grown, *batch), partial(_renew, grown, before)))
        self.check_items(grown[0], f"inserts of {self.batch} keys, {ARRAY}")
        return found

    def seconds_in_a_row(self) -> float:
        """Return the seconds of all batches, of which none waits for the one before, after a check of the whole map."""
        parts = list(self.parts())

        def fill(grown: headrace.SortedMap) -> None:
            for keys, values in parts:
                grown.insert(keys, values)
            grown.snapshot()  # sorts the batches that are left

        return self._checked_seconds(IN_A_ROW, [fill])[0]

    def _checked_seconds(self, structure: str, steps: Sequence[Callable[[headrace.SortedMap], None]]) -> list[float]:
        grown = self.empty()
        for step in steps:
            step(grown)
        self.check_items(grown, f"inserts of {self.batch} keys, {structure}")
        return self.setting.step_seconds(self.empty, steps)

    def is_checked(self, count: int) -> bool:
        """Return whether answers of the map of the first `count` keys are checked: a check takes longer than its call."""
        last, number = len(self) // self.batch, count // self.batch
        return number == last or number.bit_count() == 1 or number in Random(last).choices(range(1, last + 1), k=_DRAWN)

    def ascending(self, count: int) -> Any:
        """Return the first keys in order, in host memory."""
        import numpy as np

        return np.sort(self.known.host[:count])

    def check_items(self, grown: Any, call: str) -> None:
        """Check that a map has all keys in ascending order, each with its last number. Of a large map, parts are compared."""
        items, known, is_right = grown.items(), self.known, True
        count = len(known.ascending)
        for begin, length in _windows(count):
            keys, values = (self.setting.host(part_of(array, begin, length)) for array in (items.keys, items.values))
            is_right &= bool((keys == known.ascending[begin : begin + length]).all())
            is_right &= bool((known.host[values] == keys).all() and (values >= known.stale).all())
        self.setting.check(is_right and len(items.keys) == count, call)

    def check_found(self, found: Any, name: str, call: str) -> None:
        """Check the result of a search of the first keys: of the `PRESENT` or `ABSENT` ones."""
        import numpy as np

        is_right = True
        for begin, length in _windows(len(found[0])):
            values, mask = (self.setting.host(part_of(array, begin, length)) for array in found)
            is_present = bool(mask.all()) and bool((values == np.arange(begin, begin + length)).all())
            is_right &= is_present if name == PRESENT else not mask.any()
        self.setting.check(is_right, f"find of {name} keys, {call}")

    def check_places(self, ascending: Any, found: Any, name: str) -> None:
        """Check the result of a search of the first `PRESENT` or `ABSENT` keys in all keys in order: no key lies between."""
        is_right, wanted = True, self.wanted(name, len(found))
        for begin, length in _windows(len(found)):
            places, keys = (self.setting.host(part_of(array, begin, length)) for array in (found, wanted))
            is_right &= bool((ascending[places[places > 0] - 1] < keys[places > 0]).all())
            is_inside = places < len(ascending)
            is_right &= bool((ascending[places[is_inside]] >= keys[is_inside]).all())
        self.setting.check(is_right, f"searchsorted of {name} keys")

    def hash_map(self, keys: Any, values: Any) -> headrace.HashMap:
        """Return a hash map of a batch, which is inserted at once."""
        table = headrace.HashMap(_WORD, _WORD, capacity=len(keys), context=context_of(self.setting))
        table.insert(keys, values)
        return table

    def wanted(self, name: str, count: int) -> Any:
        """Return the first `PRESENT` or `ABSENT` keys on the device."""
        return part_of(self.known.wanted[name], 0, count)


def _mixed(numbers: Any) -> Any:
    """Change numbers of 32 bits to others, distinct if these are, since shifts and odd factors can be undone. Return them."""
    import numpy as np

    for begin in range(0, len(numbers), _MIXED):  # parts that stay in the cache
        part = numbers[begin : begin + _MIXED]
        for shift in (16, 15, 13):
            part ^= part >> np.uint32(shift)
            part *= np.uint32(_FACTOR)
    return numbers


def _insert(grown: headrace.SortedMap, keys: Any, values: Any) -> None:
    """Insert a batch that becomes a level at once, as in the paper: batches without a read in between are sorted together."""
    grown.insert(keys, values)
    grown.snapshot()


def _insert_into_one(grown: headrace.SortedMap, keys: Any, values: Any) -> None:
    grown.insert(keys, values)
    grown.cleanup()


def _renew(grown: list[headrace.SortedMap], before: headrace.SortedMap) -> None:
    grown[0] = copy(before)


def _insert_into_last(grown: list[headrace.SortedMap], keys: Any, values: Any) -> None:
    _insert_into_one(grown[0], keys, values)


_INSERTIONS: Mapping[str, Callable[..., None]] = {LEVELS: _insert, ARRAY: _insert_into_one}  # insertion of a batch by structure


def reader_of(structure: str, grown: headrace.SortedMap) -> Any:
    """Return a snapshot: of all levels, or of one that they were merged to."""
    found = grown.snapshot()
    if structure == ARRAY:
        len(found)
    return found


@dataclass(frozen=True, slots=True)
class Ranges:
    """Ranges of about `length` keys of a stream; upper bounds in host memory, and both on the device."""

    stream: Stream
    length: int
    highs: Any
    given: tuple[Any, Any]

    @classmethod
    def of(cls, stream: Stream, count: int, length: int, max_items: int) -> Ranges:
        """Return ranges for a map of the first `count` keys: as many as it has keys, but of `max_items` items in all."""
        import numpy as np

        largest = (1 << _KEY_BITS) - 1
        lows = stream.known.absent[: max(1, min(count, max_items // length))]
        highs = lows + np.uint32(min(largest, (length << _KEY_BITS) // count - 1))
        highs[highs < lows] = largest
        return cls(stream, length, highs, (stream.wanted(ABSENT, len(lows)), stream.setting.array(highs)))

    def __len__(self) -> int:
        return len(self.highs)

    def run(self, reader: Any, call: str) -> Any:
        """Return the counts or the items of the ranges."""
        return reader.count(*self.given) if call == COUNT else reader.range(*self.given)

    def check(self, reader: Any, ascending: Any, call: str) -> None:
        """Compare counts and items of the first ranges with a search of all keys.

        `ascending`: the keys of the map in order.
        """
        import numpy as np

        known, host = self.stream.known, self.stream.setting.host
        number = min(len(self), max(1, _CHECKED_ITEMS // self.length))
        begins = np.searchsorted(ascending, known.absent[:number])
        expected = np.searchsorted(ascending, self.highs[:number], "right") - begins
        given = [part_of(bounds, 0, number) for bounds in self.given]
        counts, (offsets, keys, values) = host(reader.count(*given)), map(host, reader.range(*given))
        is_right = np.array_equal(counts, expected) and np.array_equal(np.diff(offsets), expected)
        at = np.arange(len(keys)) + np.repeat(begins - offsets[:-1], np.diff(offsets))
        is_right = is_right and np.array_equal(keys, ascending[at]) and np.array_equal(known.host[values], keys)
        self.stream.setting.check(bool(is_right), call)
