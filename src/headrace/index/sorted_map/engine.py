"""Defines the operations on levels that the CPU and the GPU implement, and chooses between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple, Protocol

from headrace.arrays.arrays import Array, fast_array, width_of
from headrace.arrays.device_array import DeviceArray
from headrace.arrays.placement import empty_like, empty_on_host
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.core.device import Device
from headrace.core.fast_constructor import fast_constructor
from headrace.gpu.device.device import gpu
from headrace.gpu.memory.pool import PoolBuffer, device_pool
from headrace.index.sorted_map.key_types import MapTypes
from headrace.index.sorted_map.levels import Level, Levels, new_level

_ALIGNMENT = 256  # alignment in bytes of arrays in one buffer


@dataclass(frozen=True, slots=True)
class Batch:
    """An update, on one device."""

    keys: Array  # one or more keys
    values: Array | None  # their values; None in a map of keys alone, and if all are deleted
    deletes: Array | None  # A flag for each key: whether it is deleted. None if none is, or all are.
    is_delete: bool  # True if all keys are deleted
    is_coded: bool = False
    """True if the keys are codes, from the last one to the first, and `deletes` are statuses, as `write_codes` leaves them."""

    @property
    def has_tombstones(self) -> bool:
        """True if a key may be deleted."""
        return self.is_delete or self.deletes is not None

    @property
    def arrays(self) -> list[Array]:
        """The arrays, in the order of the fields."""
        return [array for array in (self.keys, self.values, self.deletes) if array is not None]


new_batch = fast_constructor(Batch)  # creates a `Batch` at a fifth of the cost of its class


class FoundItems(NamedTuple):
    """Keys, values and presence, as arrays; keys or values may be None."""

    keys: Array | None
    values: Array | None
    is_present: Array


@dataclass(frozen=True, slots=True)
class KeyRanges:
    """Ranges of keys, each from a low to a high one, both included."""

    lows: Array
    highs: Array


class CopiedRanges(NamedTuple):
    """Offsets of ranges, and their keys and values; no values in a map of keys alone."""

    offsets: Array
    keys: Array
    values: Array | None


class Engine(Protocol):
    """Updates and searches levels on one device. Results are arrays of the caller's library, levels are not."""

    merged_per_search: float  # number of items that are merged in the time of a search of a key in one level

    @property
    def gathered_bytes(self) -> int:
        """Maximum size of batches that are sorted at once."""

    def added(self, batch: Batch, older: tuple[Level, ...]) -> Level:
        """Sort a batch, and merge it with older levels, if any. Of its equal keys a tombstone is first, then the last pair."""

    def gathered(self, capacity: int) -> Any:
        """Return memory for batches that are sorted at once: `GatheredBatches` for a number of items."""

    def no_tombstones(self, count: int) -> Array:
        """Return statuses of `count` pairs."""

    def write_codes(self, batch: Batch, to: Level, mixed: int = 1) -> None:
        """Write the codes, values and statuses of a batch from the last item to the first.

        `mixed`: number of the batch in statuses (level.hpp). Statuses are written if `to` has tombstones.
        """

    def merged(self, levels: Levels) -> Level:
        """Merge one or more levels stably, newer items first."""

    def cleaned(self, levels: Levels) -> Level | None:
        """Return the visible pairs of one or more levels; None if there are none."""

    def prepared(self, levels: Levels, searches: int = 0, ranges: int = 0) -> Levels:
        """Return the levels with the arrays that searches use, the same if they have them.

        `searches`: number of searches since the last update, 0 if no filter is used. `ranges`: number of ranges.
        """

    def find(self, levels: Levels, keys: Array) -> FoundItems:
        """Search keys."""

    def neighbours(self, levels: Levels, keys: Array, options: tuple[bool, bool]) -> FoundItems:
        """Search neighbours; `options`: whether the successor, and whether a visible key is its own neighbour."""

    def counts(self, levels: Levels, ranges: KeyRanges) -> Array | None:
        """Count the visible pairs of ranges, as int64; None if they are so long that the levels should be merged before."""

    def short_ranges(self, levels: Levels, ranges: KeyRanges) -> CopiedRanges | None:
        """Count and copy ranges in one walk; None if they are not short, or that needs much memory."""

    def copied(self, levels: Levels, ranges: KeyRanges, offsets: Array) -> tuple[Array, Array | None]:
        """Copy keys and values of ranges to the offsets, one more than ranges; the last is the number of items."""

    def keys_of(self, codes: Array, key_type: str) -> Array:
        """Return the keys of codes."""

    def on_device(self, items: Any) -> Array:
        """Return a small array of NumPy on the device."""


@dataclass(frozen=True, slots=True)
class Call:
    """The resources of one call."""

    types: MapTypes
    device: Device
    context: Context
    budget: Budget  # device of the levels, and the resources that the caller gives
    stream: int | None = None  # handle of the stream of the levels; None for the GPU's own stream, and on the CPU

    def new(self, length: int, typestr: str) -> Array:
        """Allocate an array of this package: of NumPy on the CPU, a `DeviceArray` on a GPU."""
        if self.device.kind != "cpu":
            return self._in(self._buffer(length * width_of(typestr)), typestr, length, 0)
        self.budget.charge(length * width_of(typestr))
        return empty_on_host(length, typestr)

    def new_level(self, count: int, *, has_tombstones: bool) -> Level:
        """Allocate a level, whose items are not written yet: on a GPU in one buffer, because an allocation takes microseconds."""
        types = self.types
        code, value = types.code, types.value
        if self.device.kind == "cpu":
            values = None if value is None else self.new(count, value)
            return Level(self.new(count, code), values, self.new(count, "|u1") if has_tombstones else None)
        values_at = -(-count * width_of(code) // _ALIGNMENT) * _ALIGNMENT
        tombstones_at = values_at if value is None else values_at + -(-count * width_of(value) // _ALIGNMENT) * _ALIGNMENT
        buffer = self._buffer(tombstones_at + count if has_tombstones else tombstones_at)
        level: Level = new_level(
            self._in(buffer, code, count, 0),
            None if value is None else self._in(buffer, value, count, values_at),
            self._in(buffer, "|u1", count, tombstones_at) if has_tombstones else None,
        )
        return level

    def _buffer(self, nbytes: int) -> PoolBuffer:
        return device_pool(gpu(self.device)).take(nbytes, self.stream, self.budget)

    def _in(self, buffer: PoolBuffer, typestr: str, length: int, begin: int) -> Array:
        """Return the description of an array of this package that begins at a byte of a buffer."""
        owner = DeviceArray(buffer, typestr, length, begin // width_of(typestr))
        return fast_array(buffer.address + begin, length, typestr, self.device, "headrace", buffer.stream, True, owner)

    def results(self, like: Array, *, has_keys: bool) -> FoundItems:
        """Allocate results for keys of a caller, in arrays of the caller's library."""
        count, value = like.length, self.types.value
        return FoundItems(
            empty_like(like, count, budget=self.budget) if has_keys else None,
            None if value is None else empty_like(like, count, value, self.budget),
            empty_like(like, count, "|b1", self.budget),
        )

    @property
    def engine(self) -> Engine:
        """The operations on the device. GPU modules are imported for a GPU only."""
        return _engine_on("cpu" if self.device.kind == "cpu" else "gpu")(self)


new_call = fast_constructor(Call)  # creates a `Call` at a fifth of the cost of its class


@cache
def _engine_on(place: str) -> Callable[[Call], Engine]:
    module: Any = import_module(f"headrace.index.sorted_map.{place}.engine")
    engine: Callable[[Call], Engine] = getattr(module, f"{place.title()}Engine")
    return engine


def address_of(array: Array | None) -> int:
    """Return the address of an array; 0 for None."""
    return 0 if array is None else array.address
