"""Describes the levels of a sorted map: immutable arrays, newest first, which maps and snapshots share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from headrace import _native
from headrace.arrays.arrays import Array
from headrace.core.device import Device
from headrace.core.fast_constructor import fast_constructor
from headrace.core.layouts.layout import layout
from headrace.index.sorted_map.key_types import MapTypes

_LEVEL = layout("MapLevel").packer()
_LEVELS = layout("MapLevels").packer()
_MAX_LEVELS = layout("MapLevels").length("level")


@dataclass(frozen=True, slots=True)
class Level:
    """A sorted array of pairs and tombstones."""

    codes: Array  # Codes of the keys, ascending; of equal ones the newest item is first. One or more.
    values: Array | None = None  # the values; None in a map of keys alone
    tombstones: Array | None = None  # A byte for each item: 1 for a tombstone. None if there are pairs only.
    is_clean: bool = False  # True if each key occurs once, and there is no tombstone
    fences: Array | None = None  # codes that guide searches (level.hpp); None for none
    filter: Array | None = None  # words that exclude codes which the level does not have (level.hpp); None for none

    @property
    def count(self) -> int:
        """Number of items."""
        return self.codes.length

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        arrays = self.codes, self.values, self.tombstones, self.fences, self.filter
        return sum(array.nbytes for array in arrays if array is not None)

    @property
    def arrays(self) -> list[Array]:
        """Codes, and values and tombstones if there are some."""
        return [array for array in (self.codes, self.values, self.tombstones) if array is not None]

    @property
    def packed(self) -> bytes:
        """Bytes of ``MapLevel`` (level.hpp)."""
        fences, shift = (0, 0) if self.fences is None else (self.fences.address, _native.map_fence_rows(self.count)[0])
        return _LEVEL.pack(*self.addresses, fences, self.count, shift, 0 if self.filter is None else self.filter.address)

    @property
    def addresses(self) -> tuple[int, int, int]:
        """Addresses of codes, values and tombstones; 0 for none."""
        values, tombstones = self.values, self.tombstones
        return self.codes.address, 0 if values is None else values.address, 0 if tombstones is None else tombstones.address


new_level = fast_constructor(Level)  # creates a `Level` at a fifth of the cost of its class


@dataclass(frozen=True)
class Levels:
    """All levels of a map at one time."""

    types: MapTypes  # types of keys and values
    levels: tuple[Level, ...] = ()  # The levels, newest first. Each has more items than all newer ones together.
    guide: Level | None = None  # samples of all levels that bound searches (level.hpp), with positions as values; None for none

    @cached_property
    def packed(self) -> bytes:
        """Bytes of ``MapLevels`` (level.hpp)."""
        packed = b"".join(level.packed for level in self.levels)
        guide = bytes(_LEVEL.size) if self.guide is None else self.guide.packed
        packed = packed.ljust(_MAX_LEVELS * _LEVEL.size, b"\0")
        return _LEVELS.pack(packed, guide, len(self.levels), self.types.value_width, self.is_clean, 0)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of items of each level, with tombstones and stale ones."""
        return tuple([level.count for level in self.levels])

    @property
    def count(self) -> int:
        """Number of items of all levels, with tombstones and stale ones."""
        return sum(self.sizes)

    @property
    def nbytes(self) -> int:
        """Bytes of all levels and of their guide."""
        return sum(level.nbytes for level in self.levels) + (0 if self.guide is None else self.guide.nbytes)

    @property
    def is_clean(self) -> bool:
        """True if each item of the levels is a visible pair."""
        return not self.levels or (len(self.levels) == 1 and self.levels[0].is_clean)

    @property
    def device(self) -> Device | None:
        """The device of the levels; None without levels."""
        return self.levels[0].codes.device if self.levels else None

    @property
    def stream(self) -> int | None:
        """Handle of the stream that writes the levels; None without levels, and on the CPU."""
        return self.levels[0].codes.stream if self.levels else None

    @property
    def has_tombstones(self) -> bool:
        """True if a level may have a tombstone."""
        return any(level.tombstones is not None for level in self.levels)

    def with_level(self, level: Level | None) -> Levels:
        """Return one level alone; no level for None."""
        return Levels(self.types, () if level is None else (level,))


def merge_count(sizes: Sequence[int], batch: int) -> int:
    """Return the number of levels, newest first, that a batch is merged with.

    They end with the oldest level that has no more items than the batch and all newer levels together. So each level that is
    left has more items than all newer ones, and a merge at least doubles the level of an item. With batches of one size, level
    `i` has 2**i batches, as in the paper.

    >>> merge_count([1, 2, 8], 1), merge_count([2, 8], 1)
    (2, 0)
    """
    total, merged = batch, 0
    for number, size in enumerate(sizes, 1):
        if size <= total:
            merged = number
        total += size
    return merged


def search_merge_count(sizes: Sequence[int], worth: float) -> int:
    """Return the number of levels, newest first, whose merge saves most time of searches; 1 if no merge saves any.

    A merge takes the time of its items, and searches then read fewer levels. Of two numbers that save the same, it is the larger.

    `worth`: number of items that are merged in the time that the searches take in one level.

    >>> search_merge_count([1, 2, 4], 3), search_merge_count([1, 2, 4], 2), search_merge_count([1, 2, 4], 6)
    (1, 1, 3)
    """
    merged, most, items = 1, 0.0, 0
    for number, size in enumerate(sizes, 1):
        items += size
        saved = (number - 1) * worth - items
        if number > 1 and saved > 0 and saved >= most:
            merged, most = number, saved
    return merged
