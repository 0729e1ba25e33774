"""Gathers batches of pairs, so that one sort and one merge serve all of them.

This is the part of a log-structured merge tree that is not a level yet (O'Neil, Cheng, Gawlick and O'Neil 1996). Here it has no
order, because the first read sorts it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headrace.arrays.arrays import Array
from headrace.index.sorted_map.engine import Batch, Call, Engine
from headrace.index.sorted_map.levels import Level

_MAX_BATCHES = 64
"""Maximum number of batches of one size that are gathered, so that small ones take little memory."""


def capacity_for(batch: Batch, call: Call) -> int:
    """Return the number of pairs to gather if more batches like this one follow; 0 to gather none.

    With a memory limit none is gathered, because the memory belongs to no call.
    """
    count = batch.keys.length
    item = call.types.key_width + call.types.value_width
    most = call.engine.gathered_bytes // item
    capacity = min(_MAX_BATCHES * count, 1 << most.bit_length() >> 1)  # few sizes, so that launches are repeated
    return 0 if capacity < 2 * count or call.budget.limit is not None else capacity


class GatheredBatches:
    """Codes and values of batches, from the last pair to the first.

    Parameters
    ----------
    call
        The call that brings the first batch. It has no memory limit.
    capacity
        Maximum number of pairs.
    """

    def __init__(self, call: Call, capacity: int) -> None:
        self.call = call
        self._memory, self._free = call.new_level(capacity, has_tombstones=False), capacity

    @property
    def capacity(self) -> int:
        """Maximum number of pairs."""
        return self._memory.count

    def clear(self) -> None:
        """Forget all batches."""
        self._free = self.capacity

    @property
    def batch(self) -> Batch:
        """All pairs as one batch."""
        pairs = self._pairs(self._free, self.capacity)
        return Batch(pairs.codes, pairs.values, None, is_delete=False, is_coded=True)

    def add(self, batch: Batch, engine: Engine) -> bool:
        """Append a batch. Return False, and change nothing, if it does not fit."""
        begin = self._free - batch.keys.length
        if begin < 0:
            return False
        self._write(batch, self._pairs(begin, self._free), engine)
        self._free = begin
        return True

    def repeat(self, keys: Any, values: Any) -> bool:
        """Append arrays of an earlier call's types and lengths. Return False, and change nothing, if they must be checked."""
        return False

    def _write(self, batch: Batch, to: Level, engine: Engine) -> None:
        engine.write_codes(batch, to)

    def _pairs(self, begin: int, end: int) -> Level:
        """Return a part of the pairs."""

        def part(array: Array) -> Array:
            return replace(array, address=array.address + begin * array.width, length=end - begin)

        codes, values = self._memory.codes, self._memory.values
        return Level(part(codes), None if values is None else part(values))
