"""Connects a slab hash with callers' arrays on a GPU: streams, memory limits and counts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from typing import Self, cast

from headrace.arrange.multisplit.gpu.tuning import tuning_of as split_tuning
from headrace.arrange.sort.gpu.tuning import tuning_of as sort_tuning
from headrace.arrange.sort.sort import argsort
from headrace.arrays.arrays import Array, take
from headrace.arrays.device_array import DeviceArray
from headrace.arrays.placement import empty_like
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.gpu.device.device import gpu, is_lasting
from headrace.gpu.device.event import Event
from headrace.gpu.kernels.launcher import GpuLauncher
from headrace.gpu.memory.pool import PoolBuffer, device_pool
from headrace.index.hash_map.gpu.slab_kernels import Rows, is_ordered_reduction
from headrace.index.hash_map.gpu.tables.mixed_slab_hash import MixedRows, MixedSlabHash
from headrace.index.hash_map.gpu.tables.slab_hash import SlabHash
from headrace.index.hash_map.gpu.tuning import SLAB_TUNING, SlabTuning
from headrace.index.hash_map.operations import MapOperation, OperationBatch, check_numbers
from headrace.index.hash_map.pair_types import HashStatistics, PairTypes
from headrace.index.hash_map.results import DeviceRef
from headrace.primitives.copy import copier


class MapOnDevice:
    """A table in the memory of a GPU, and the functions that all kinds of maps have.

    `types`: types of keys and values. `context`: the GPU, the limit of the map's memory, and the counter of copies.
    `budget`: the memory that it may have with others; None for that of the context's limit.
    """

    def __init__(self, types: PairTypes, context: Context, budget: Budget | None = None) -> None:
        self._types = types
        self._context = context
        self._card = gpu(context.device)
        self._budget = budget or context.new_budget()
        self._lock = threading.RLock()
        self._launchers: dict[int, GpuLauncher] = {}  # by stream: a default stream, or the GPU's own
        self._stream = self._card.stream  # that of the last work on the map, and of its memory
        self._map: SlabHash
        self._is_counted = True  # whether its size is known; not after an update that was interrupted

    def __len__(self) -> int:
        if not self._is_counted:
            with self._launches():
                pass
        return self._map.size

    def items(self) -> tuple[Array, Array | None]:
        """Return keys and values in no order."""
        with self._launches() as launcher:
            size, budget = self._map.size, self._context.new_budget()
            pool, stream = device_pool(self._card), self._card.stream
            arrays = [
                take(DeviceArray(pool.take(size * width, stream, budget), typestr, size))
                for typestr, width in zip((self._types.key, self._types.value), self._types.widths, strict=True)
                if typestr
            ]
            keys, values = arrays[0], arrays[1] if len(arrays) > 1 else None
            if size:
                self._map.items(launcher, keys, values)
        return keys, values

    def device_ref(self) -> DeviceRef:
        """Return the table for kernels of users."""
        with self._launches() as launcher:
            memory = self._map.memory
            for part in memory.parts:
                cast(PoolBuffer, part).show()
            buffer = device_pool(self._card).take(len(memory.packed), self._card.stream, self._budget)
            launcher.put(memory.packed, buffer)
        return DeviceRef(DeviceArray(buffer, "|u1", buffer.nbytes), memory)

    def snapshot(self) -> Self:
        """Return a copy, which has the same budget. Other calls wait meanwhile."""
        with self._launches() as launcher:
            result = copy(self)
            result._lock = threading.RLock()  # noqa: SLF001  # a new object
            result._launchers = {}  # noqa: SLF001  # a new object
            result._map = self._map.copy(launcher)  # noqa: SLF001  # a new object
        return result

    def clear(self) -> None:
        """Remove all pairs and free their memory."""
        with self._launches() as launcher:
            self._map.clear(launcher)

    def compact(self) -> None:
        """Rebuild the table with the slabs that the pairs need."""
        with self._launches() as launcher:
            self._map.compact(launcher)

    def statistics(self) -> HashStatistics:
        """Return counts of pairs, slabs and bytes. The host waits."""
        with self._launches() as launcher:
            slabs, longest = self._map.chains(launcher)
        size, nbytes = self._map.size, self._map.nbytes
        return HashStatistics(size, self._map.capacity, nbytes, size * sum(self._types.widths) / nbytes, slabs, longest)

    def contains(self, keys: Array, budget: Budget) -> Array:
        """Return whether each key is present."""

        def find(launcher: GpuLauncher, rows: Rows, found: Array) -> None:
            self._map.find(launcher, rows, None, found)

        return self._answers(keys, "|b1", find, budget)

    def _answers(
        self, keys: Array, typestr: str, launch: Callable[[GpuLauncher, Rows, Array], None], budget: Budget | None = None
    ) -> Array:
        """Return an array with an item for each key, which `launch` writes unless there are no keys."""
        result = empty_like(keys, keys.length, typestr, budget)
        if keys.length:
            with self._launches(keys, result) as launcher:
                launch(launcher, Rows(keys, None, keys.length), result)
        return result

    def _order(self, keys: Array) -> Array:
        """Return the numbers of rows by key as uint32; those of a key are ascending."""
        return take(argsort(keys.owner, total_order=True, dtype="uint32", context=self._context))

    def _tuned(self, tuning: SlabTuning) -> SlabTuning:
        """Return the sizes with those of the device's passes and sorts, if bulk builds have none."""
        if tuning.build.split is not None:
            return tuning
        device = self._card.multiprocessors, self._card.capability
        return replace(tuning, build=replace(tuning.build, split=split_tuning(*device)), sort=sort_tuning(*device))

    @contextmanager
    def _launches(self, *arrays: Array | None) -> Iterator[GpuLauncher]:
        """Yield a launcher for work on the map, after the earlier work of the arrays' streams and before their later work.

        The work is in the stream of the first array if that is the default stream, else in the GPU's own stream. So calls on
        arrays of the default stream neither record events nor wait for them.
        """
        card, streams = self._card, [array.stream for array in arrays if array is not None and array.stream is not None]
        stream = streams[0] if streams and is_lasting(streams[0]) else card.stream
        with self._lock, card.current():
            self._move_to(stream)
            others = set(streams)
            others.discard(stream)
            for other in others:
                Event.order(card, other, stream)
            try:
                launcher = self._launcher_in(stream)
                if not self._is_counted:
                    self._map.recount(launcher)
                    self._is_counted = True
                yield launcher
            except BaseException:  # perhaps an interrupt while the host waits for the count of an update
                self._is_counted = False
                raise
            finally:
                for other in others:
                    Event.order(card, stream, other)

    def _move_to(self, stream: int) -> None:
        """Order later work of a stream after the map's work, and give it the map's memory, which is released in its order."""
        if stream == self._stream:
            return
        Event(self._card).record(self._stream).hold(stream)
        self._stream = stream
        for part in self._map.memory.parts:
            cast(PoolBuffer, part).stream = stream

    def _launcher_in(self, stream: int) -> GpuLauncher:
        """Return a launcher in a stream. It is used under the lock."""
        found = self._launchers.get(stream)
        if found is None:
            card, crossings = self._card, self._context.crossings
            found = GpuLauncher(card, stream=stream, budget=self._budget, crossings=crossings, copier=copier(card))
            self._launchers[stream] = found
        return found


class DeviceMap(MapOnDevice):
    """A map or set in the memory of a GPU.

    `types`, `context`, `budget`: as for `MapOnDevice`.
    `capacity`: number of pairs for which memory is allocated first.
    """

    _map: MixedSlabHash

    def __init__(
        self,
        types: PairTypes,
        context: Context,
        capacity: int,
        tuning: SlabTuning = SLAB_TUNING,
        *,
        seed: int = 0,
        budget: Budget | None = None,
    ) -> None:
        super().__init__(types, context, budget)
        with self._launches() as launcher:
            self._map = MixedSlabHash(launcher, types.widths, capacity, tuning=self._tuned(tuning), seed=seed)

    def upsert(self, keys: Array, values: Array | None, reduce: str) -> int:
        """Insert keys, and reduce the values of those that are present. Return the number of keys added.

        Raise MemoryLimitError if the map does not fit; it is as before.
        """
        kind, rows = self._types.value_kind, Rows(keys, values, keys.length)
        if not rows.count:
            return 0
        if not is_ordered_reduction(reduce, kind) or self._map.is_small(rows.count):
            with self._launches(keys, values) as launcher:
                return self._map.upsert(launcher, rows, reduce, kind)
        by_key = self._order(keys)
        with self._launches(keys, values, by_key) as launcher:
            return self._map.upsert_in_order(launcher, rows, MapOperation[reduce.upper()], kind, by_key)

    def replace(self, keys: Array, values: Array) -> Array:
        """Replace values of keys that are present, and return a flag for each key: whether it is."""
        found = empty_like(keys, keys.length, "|b1")
        if keys.length:
            with self._launches(keys, values, found) as launcher:
                self._map.replace(launcher, Rows(keys, values, keys.length), found)
        return found

    def erase(self, keys: Array) -> Array:
        """Erase keys, and return a flag for each: whether it was present."""
        return self._answers(keys, "|b1", self._map.erase)

    def apply(self, batch: OperationBatch, order: str) -> None:
        """Run mixed operations, and write their results. The host waits.

        Raise MemoryLimitError if the map does not fit, OptionError if it does not have an operation; it is as before.
        """
        keys = batch.keys
        if not keys.length:
            return
        rows = Rows(keys, batch.values, keys.length)
        mixed = MixedRows(batch.operations, rows, batch.held, batch.found, self._types.value_kind, batch.kinds.known)
        by_key, is_small = None, self._map.is_small(rows.count)
        if order == "sequential" and not is_small:
            check_numbers(batch.operations, batch.kinds, self._context)
            by_key = self._order(keys)
        with self._launches(keys, batch.operations, batch.values, batch.held, batch.found, by_key) as launcher:
            if by_key is not None:
                self._map.run_in_order(launcher, mixed, by_key)
                return
            is_known = self._map.run_small(launcher, mixed) if is_small else self._map.run_any(launcher, mixed)
        if not is_known:
            check_numbers(batch.operations, batch.kinds, self._context)

    def find(self, keys: Array, values: Array | None, found: Array) -> None:
        """Write the values of keys, 0 for absent ones, and whether each is present."""
        if keys.length:
            with self._launches(keys, values, found) as launcher:
                self._map.find(launcher, Rows(keys, None, keys.length), values, found)
