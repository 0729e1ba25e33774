"""A launcher of the fiber harness for sorted maps, and a map whose updates and reads are the kernels of a GPU."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from headrace.arrange.sort.gpu.sort import Sorters
from headrace.arrange.sort.gpu.tuning import HARNESS_TUNING
from headrace.arrays.arrays import CPU, Array
from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import BufferSlice
from headrace.gpu.kernels.trace import Filled, Recording, Run
from headrace.index.sorted_map.engine import Batch
from headrace.index.sorted_map.gpu.launches import MapKernels, MergeTarget
from headrace.index.sorted_map.gpu.update import Update
from headrace.index.sorted_map.key_types import MapTypes
from headrace.index.sorted_map.levels import Level, Levels, merge_count
from headrace.index.sorted_map.results import Found, MapItems, Neighbours, RangeItems
from headrace.testing.fibers.launcher import FiberLauncher, HostBuffer

COUNTERS = 32 << 10
OPTIONS = layout("NeighbourOptions").packer()


class Launcher(FiberLauncher):
    """Takes addresses in `known` buffers, and arrays that own a buffer, as kernel arguments."""

    known: list[HostBuffer]

    def launch(self, entry: Any, shape: Any, args: Any) -> None:
        letters = re.findall(r"\d*([a-zA-Z])", entry.signature)
        super().launch(
            entry, shape, [self._buffer(arg) if letter == "P" else arg for letter, arg in zip(letters, args, strict=True)]
        )

    def fill(self, buffer: Any, byte: int) -> None:
        super().fill(self._buffer(buffer), byte)

    def replay_at(self, recording: Recording, addresses: list[int]) -> None:
        """Replay a recording whose fills name addresses."""
        run = Run(recording, addresses, [], [])
        for step in recording.steps:
            if isinstance(step, Filled):
                whole = self._buffer(run.number(step.buffer.address))
                self.fill(BufferSlice(whole, 0, run.number(step.buffer.nbytes)), step.byte)
            else:
                self.launch(step.entry, run.shape(step.shape), [run.argument(arg) for arg in step.args])

    def _buffer(self, address: Any) -> Any:
        if isinstance(address, Array):
            owner, begin = address.owner, address.address - address.owner.address
            return BufferSlice(owner, begin) if begin else owner
        if not isinstance(address, int):
            return address
        (found,) = (one for one in self.known if 0 <= address - one.address < one.nbytes)
        return BufferSlice(found, address - found.address)


class FiberMap:
    """A map of values of 8 bytes. It has no host code of a GPU but the choice of the levels that an update merges."""

    def __init__(self, key_type: str, order: str) -> None:
        self.launcher = Launcher(order, 7)
        self.launcher.known = []
        self.types = MapTypes.of(key_type, "i8")
        self.kernels = MapKernels(self.launcher, self.types.key_width, threads=64)
        self.levels = Levels(self.types)

    @property
    def level_sizes(self) -> tuple[int, ...]:
        return self.levels.sizes

    def update(self, keys: Any, values: Any, deletes: Any) -> None:
        merged = merge_count(self.levels.sizes, len(keys))
        older = self.levels.levels[:merged]
        batch = Batch(self._put(keys), self._put(values), self._put(deletes), is_delete=False)
        target = self._new_level(len(keys) + sum(level.count for level in older))
        sorters = Sorters(self.launcher, HARNESS_TUNING, lambda: self.launcher.allocate(COUNTERS, fill=0))
        Update(self.types, batch, older, target).launch(sorters)
        self.levels = Levels(self.types, (target, *self.levels.levels[merged:]))

    def find(self, keys: Any) -> Found:
        values, mask = self._new(len(keys), "<i8"), self._new(len(keys), "|b1")
        self.kernels.launch("find_keys", len(keys), (*self._searched(keys), values, mask))
        return Found(self._fetch(values), self._fetch(mask))

    def count(self, lows: Any, highs: Any) -> Any:
        counts, is_long = self._new(len(lows), "<i8"), self._put(np.zeros(1, "u4"))
        self.kernels.launch("count_ranges", len(lows), (*self._ranges(lows, highs), 1 << 20, counts, is_long))
        assert not self._fetch(is_long).any()
        return self._fetch(counts)

    def range(self, lows: Any, highs: Any) -> RangeItems:
        offsets = np.concatenate([[0], np.cumsum(self.count(lows, highs))])
        keys, values = self._new(int(offsets[-1]), self.types.key), self._new(int(offsets[-1]), "<i8")
        self.kernels.launch("copy_ranges", len(lows), (*self._ranges(lows, highs), self._put(offsets), keys, values))
        return RangeItems(offsets, self._fetch(keys), self._fetch(values))

    def successor(self, keys: Any, *, inclusive: bool) -> Neighbours:
        return self._neighbours(keys, True, inclusive)

    def predecessor(self, keys: Any, *, inclusive: bool) -> Neighbours:
        return self._neighbours(keys, False, inclusive)

    def min(self) -> Any:
        return self._end(0, True)

    def max(self) -> Any:
        return self._end(-1, False)

    def items(self) -> MapItems:
        """Merge all levels, and keep the visible pairs."""
        merged = self._new_level(self.levels.count)
        target = MergeTarget(merged.codes, merged.values, None)
        found = self.kernels.merge_visible(self.levels.packed, self.levels.sizes, target)
        count, keys = int(self.launcher.fetch(found).view("u8")[0]), self._new(merged.count, self.types.key)
        self.kernels.launch("keys_of_codes", count, (merged.codes, count, self._rule, keys))
        return MapItems(self._fetch(keys)[:count], self._fetch(merged.values)[:count])

    def __len__(self) -> int:
        return len(self.items().keys)

    @property
    def _rule(self) -> bytes:
        return self.types.order.packed

    def _searched(self, keys: Any) -> tuple[Any, ...]:
        return self.levels.packed, self._put(keys), len(keys), self._rule

    def _ranges(self, lows: Any, highs: Any) -> tuple[Any, ...]:
        return self.levels.packed, self._put(lows), self._put(highs), len(lows), self._rule

    def _neighbours(self, keys: Any, is_successor: bool, inclusive: bool) -> Neighbours:
        found = self._new(len(keys), self.types.key), self._new(len(keys), "<i8"), self._new(len(keys), "|b1")
        self.kernels.launch("find_neighbours", len(keys), (*self._searched(keys), OPTIONS.pack(is_successor, inclusive), *found))
        return Neighbours(*map(self._fetch, found))

    def _end(self, code: int, is_successor: bool) -> Any:
        order = self.types.order
        bits = np.array([order.key(code % (1 << order.bits))], self.types.code)
        found = self._neighbours(bits.view(self.types.key), is_successor, True)
        return (found.keys[0], found.values[0]) if found.mask[0] else None

    def _new_level(self, count: int) -> Level:
        return Level(*(self._new(count, each) for each in (self.types.code, "<i8", "|u1")))

    def _put(self, items: Any) -> Array:
        return self._array(self.launcher.put(items), items.dtype.str, len(items))

    def _new(self, count: int, typestr: str) -> Array:
        return self._array(self.launcher.allocate(count * np.dtype(typestr).itemsize), typestr, count)

    def _array(self, buffer: HostBuffer, typestr: str, count: int) -> Array:
        return Array(buffer.address, count, typestr, CPU, "headrace", owner=buffer)

    def _fetch(self, array: Any) -> Any:
        return self.launcher.fetch(array.owner).view(array.typestr)
