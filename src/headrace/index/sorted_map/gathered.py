"""Gathers batches, so that one sort and one merge serve all of them.

This is the part of a log-structured merge tree that is not a level yet (O'Neil, Cheng, Gawlick and O'Neil 1996). Here it has no
order, because the first read sorts it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headrace import _native
from headrace.arrays.arrays import Array
from headrace.index.sorted_map.engine import Batch, Call, Engine
from headrace.index.sorted_map.levels import Level

_MAX_BATCHES = 64  # maximum number of batches of one size that are gathered, so that small ones take little memory


def capacity_for(batch: Batch, call: Call) -> int:
    """Return the number of items to gather if more batches like this one follow; 0 to gather none.

    With a memory limit none is gathered, because the memory belongs to no call.
    """
    count = batch.keys.length
    item = call.types.key_width + call.types.value_width
    most = call.engine.gathered_bytes // item
    capacity = min(_MAX_BATCHES * count, 1 << most.bit_length() >> 1)  # few sizes, so that launches are repeated
    return 0 if capacity < 2 * count or call.budget.limit is not None else capacity


class GatheredBatches:
    """Codes, values and statuses of batches, from the last item to the first. Without a delete there are no statuses.

    `call`: the call that brings the first batch. It has no memory limit. `capacity`: maximum number of items.
    """

    _statuses: Array | None = None
    _mixed = 0  # number of batches of pairs and deletes
    _is_torn = False  # True if the free memory has statuses of a batch that an exception has ended

    def __init__(self, call: Call, capacity: int) -> None:
        self.call = call
        self._memory, self._free = call.new_level(capacity, has_tombstones=False), capacity

    @property
    def capacity(self) -> int:
        """Maximum number of items."""
        return self._memory.count

    def clear(self) -> None:
        """Forget all batches."""
        self._free, self._statuses, self._mixed, self._is_torn = self.capacity, None, 0, False

    @property
    def batch(self) -> Batch:
        """All items as one batch."""
        items = self._items(self._free, self.capacity, has_statuses=self._statuses is not None)
        return Batch(items.codes, items.values, items.tombstones, is_delete=False, is_coded=True)

    def add(self, batch: Batch, engine: Engine) -> bool:
        """Append a batch. Return False, and change nothing, if it does not fit."""
        begin, mixed = self._free - batch.keys.length, self._mixed + (batch.deletes is not None)
        if begin < 0 or mixed > _native.MAP_MAX_MIXED or self._is_torn:
            return False
        if batch.has_tombstones and self._statuses is None:
            self._statuses = engine.no_tombstones(self.capacity)
        self._mixed, self._is_torn = mixed, batch.has_tombstones
        self._write(batch, self._items(begin, self._free, has_statuses=batch.has_tombstones), engine)
        self._free, self._is_torn = begin, False
        return True

    def repeat(self, keys: Any, values: Any) -> bool:
        """Append arrays of an earlier call's types and lengths. Return False, and change nothing, if they must be checked."""
        return False

    def _write(self, batch: Batch, to: Level, engine: Engine) -> None:
        engine.write_codes(batch, to, self._mixed)

    def _items(self, begin: int, end: int, *, has_statuses: bool) -> Level:
        def part(array: Array) -> Array:
            return replace(array, address=array.address + begin * array.width, length=end - begin)

        codes, values, statuses = self._memory.codes, self._memory.values, self._statuses if has_statuses else None
        return Level(part(codes), None if values is None else part(values), None if statuses is None else part(statuses))
