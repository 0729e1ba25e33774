"""Makes the workloads of Ashkiani 2017, chapter 4: maps that grow by batches of one size, and searches and ranges in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

import headrace
from headrace.cli.bench.experiment import Setting
from headrace.cli.bench.lsm_figures import ABSENT, ARRAY, COUNT, IN_A_ROW, LEVELS, PRESENT

_WORD, _KEY_BITS = "uint32", 32
_FACTOR = 0x9E3779B1
_SAMPLE = 8  # ranges that are compared with a search of all keys
_DRAWN = 3  # maps that are checked besides those after the last batch, and after a power of two of batches


def context_of(setting: Setting) -> headrace.Context:
    """Return a context that places empty maps on the device."""
    return headrace.Context(device=headrace.Device.parse(setting.device))


@dataclass(frozen=True, slots=True)
class Stream:
    """Distinct random keys, which come in batches of one size. The value of a key is its number."""

    setting: Setting  # the device
    keys: Any  # the keys in host memory
    absent: Any  # the same number of other keys
    batch: int  # keys of a batch; divides the number of keys

    @classmethod
    def of(cls, setting: Setting, count: int, batch: int) -> Stream:
        """Return `count` keys over all 32 bits."""
        import numpy as np

        numbers = _mixed(np.arange(2 * count, dtype=np.uint32))
        return cls(setting, numbers[:count], numbers[count:], batch)

    def empty(self) -> headrace.SortedMap:
        """Return an empty map without cleanups of its own."""
        return headrace.SortedMap(_WORD, _WORD, cleanup_at=None, context=context_of(self.setting))

    def parts(self) -> Iterator[tuple[Any, Any]]:
        """Yield keys and values of each batch on the device."""
        import numpy as np

        for begin in range(0, len(self.keys), self.batch):
            numbers = np.arange(begin, begin + self.batch, dtype=np.uint32)
            yield self.setting.array(self.keys[begin : begin + self.batch]), self.setting.array(numbers)

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
        self.check_items(grown, len(self.keys), f"inserts of {self.batch} keys, {structure}")
        return self.setting.step_seconds(self.empty, steps)

    def is_checked(self, count: int) -> bool:
        """Return whether answers of the map of the first `count` keys are checked: a check takes longer than its call."""
        last, number = len(self.keys) // self.batch, count // self.batch
        return number == last or number.bit_count() == 1 or number in Random(last).choices(range(1, last + 1), k=_DRAWN)

    def check_items(self, grown: Any, count: int, call: str) -> None:
        """Check that a map has `count` keys in ascending order, each with its last number."""
        keys, values = map(self.setting.host, grown.items())
        is_right = len(keys) == count and bool((keys[1:] > keys[:-1]).all()) and bool((self.keys[values] == keys).all())
        stale = len(self.keys) - count  # the first keys, which come again
        self.setting.check(is_right and bool((values >= stale).all()), call)

    def check_found(self, found: Any, name: str, call: str) -> None:
        """Check the result of a search of the first keys: of the `PRESENT` or `ABSENT` ones."""
        import numpy as np

        values, mask = map(self.setting.host, found)
        is_present = bool(mask.all()) and bool((values == np.arange(len(values))).all())
        self.setting.check(is_present if name == PRESENT else not mask.any(), f"find of {name} keys, {call}")

    def check_places(self, ascending: Any, found: Any, name: str) -> None:
        """Check the result of a search of the first `PRESENT` or `ABSENT` keys in all keys in order."""
        import numpy as np

        places, wanted = self.setting.host(found), self.setting.host(self.wanted(name, len(found)))
        is_right = bool((places == np.searchsorted(ascending, wanted)).all())
        self.setting.check(is_right, f"searchsorted of {name} keys")

    def hash_map(self, keys: Any, values: Any) -> headrace.HashMap:
        """Return a hash map of a batch, which is inserted at once."""
        table = headrace.HashMap(_WORD, _WORD, capacity=len(keys), context=context_of(self.setting))
        table.insert(keys, values)
        return table

    def wanted(self, name: str, count: int) -> Any:
        """Return the first `PRESENT` or `ABSENT` keys on the device."""
        return self.setting.array({PRESENT: self.keys, ABSENT: self.absent}[name][:count])


def _mixed(numbers: Any) -> Any:
    """Return other numbers of 32 bits, distinct if these are, since shifts and odd factors can be undone."""
    import numpy as np

    for shift in (16, 15, 13):
        numbers = (numbers ^ (numbers >> np.uint32(shift))) * np.uint32(_FACTOR)
    return numbers


def _insert(grown: headrace.SortedMap, keys: Any, values: Any) -> None:
    """Insert a batch that becomes a level at once, as in the paper: batches without a read in between are sorted together."""
    grown.insert(keys, values)
    grown.snapshot()


def _insert_into_one(grown: headrace.SortedMap, keys: Any, values: Any) -> None:
    grown.insert(keys, values)
    grown.cleanup()


_INSERTIONS: Mapping[str, Callable[..., None]] = {LEVELS: _insert, ARRAY: _insert_into_one}  # insertion of a batch by structure


def reader_of(structure: str, grown: headrace.SortedMap) -> Any:
    """Return a snapshot: of all levels, or of one that they were merged to."""
    found = grown.snapshot()
    if structure == ARRAY:
        len(found)
    return found


@dataclass(frozen=True, slots=True)
class Ranges:
    """Ranges of keys in a map of the first `count` keys of a stream; bounds in host memory, and on the device."""

    stream: Stream
    count: int
    lows: Any
    highs: Any
    given: tuple[Any, Any]

    @classmethod
    def of(cls, stream: Stream, count: int, length: int, max_items: int) -> Ranges:
        """Return ranges of about `length` keys: as many as the map has keys, but of `max_items` items in all."""
        import numpy as np

        largest = (1 << _KEY_BITS) - 1
        lows = stream.absent[: max(1, min(count, max_items // length))]
        highs = lows + np.uint32(min(largest, (length << _KEY_BITS) // count - 1))
        highs[highs < lows] = largest
        return cls(stream, count, lows, highs, (stream.setting.array(lows), stream.setting.array(highs)))

    def run(self, reader: Any, call: str) -> Any:
        """Return the counts or the items of the ranges."""
        return reader.count(*self.given) if call == COUNT else reader.range(*self.given)

    def check(self, reader: Any, call: str) -> None:
        """Compare the items of some ranges with a search of all keys, and each count with the number of its items."""
        import numpy as np

        host, known = self.stream.setting.host, self.stream.keys[: self.count]
        counts, (offsets, keys, values) = host(reader.count(*self.given)), map(host, reader.range(*self.given))
        is_right = np.array_equal(np.diff(offsets), counts) and bool((known[values] == keys).all())
        for i in range(min(_SAMPLE, len(self.lows))):
            expected = np.sort(known[(known >= self.lows[i]) & (known <= self.highs[i])])
            is_right &= np.array_equal(keys[offsets[i] : offsets[i + 1]], expected)
        self.stream.setting.check(is_right, call)
