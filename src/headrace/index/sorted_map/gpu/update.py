"""Sorts a batch and merges it with levels, in launches that later updates of the same sizes replay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from headrace.arrange.gather.moved_items import MovedItems
from headrace.arrange.sort.gpu.planner import SortRequest
from headrace.arrange.sort.gpu.sort import Sorters, sorters_on
from headrace.arrange.sort.gpu.tuning import tuning_of
from headrace.arrange.sort.key_order import KeyOrder
from headrace.arrays.arrays import Array, width_of
from headrace.core.fast_constructor import fast_constructor
from headrace.gpu.device.device import Gpu
from headrace.gpu.kernels.launch_plan import PlanRecorder, replayed
from headrace.index.sorted_map.engine import Batch, Call
from headrace.index.sorted_map.gpu.launches import MapKernels, MergeTarget
from headrace.index.sorted_map.key_types import MapTypes
from headrace.index.sorted_map.levels import Level, Levels


@dataclass(frozen=True, slots=True)
class Update:
    """A batch, the levels that it is merged with, and the level that is written."""

    types: MapTypes  # types of keys and values
    batch: Batch  # the batch, of one or more keys
    older: tuple[Level, ...]  # levels, newest first; none for a batch that becomes a level by itself
    target: Level  # the new level

    def run(self, call: Call, card: Gpu, own: Array) -> None:
        """Launch the update in the stream of `own`: as a replay of an update of the same sizes, if there was one.

        With a memory limit there is no replay, because scratch memory of replays is not charged.
        """
        if call.budget.limit is None and replayed(self.key, self._record(card), self.addresses, card, own.stream):
            return
        with sorters_on(own, (), call.context, call.budget) as sorters:
            self.launch(sorters)

    @property
    def key(self) -> tuple[Any, ...]:
        """Everything that the launches depend on besides addresses."""
        batch = self.batch
        given = batch.keys.length, batch.values is None, batch.deletes is None, batch.is_delete
        return (self.types, *given, batch.is_coded, *[(level.count, level.tombstones is None) for level in self.older])

    @property
    def addresses(self) -> list[int]:
        """Address of each array."""
        return [array.address for array in self.arrays()]

    def arrays(self) -> list[Array]:
        """Return the arrays in a fixed order."""
        return [*self.batch.arrays, *(array for level in (*self.older, self.target) for array in level.arrays)]

    def _record(self, card: Gpu) -> Any:
        def record(recorder: PlanRecorder) -> None:
            launcher: Any = recorder  # an update copies nothing between host and device
            tuning = tuning_of(card.multiprocessors, card.capability)
            self.at(recorder.addresses).launch(Sorters(launcher, tuning, recorder.counters))

        return record

    def at(self, addresses: Sequence[int]) -> Update:
        """Return the update with its arrays at other addresses."""
        left = iter(addresses)

        def moved(array: Array | None) -> Any:
            return None if array is None else replace(array, address=next(left))

        def moved_level(level: Level) -> Level:
            return Level(moved(level.codes), moved(level.values), moved(level.tombstones))

        batch = self.batch
        keys, values, deletes = moved(batch.keys), moved(batch.values), moved(batch.deletes)
        older = tuple(moved_level(level) for level in self.older)
        return Update(self.types, replace(batch, keys=keys, values=values, deletes=deletes), older, moved_level(self.target))

    def launch(self, sorters: Sorters) -> None:
        """Launch the update."""
        launcher, batch, types = sorters.launcher, self.batch, self.types
        kernels = MapKernels(launcher, types.key_width)
        if not self.older:
            self._sort(sorters, kernels, self.target)
            return
        newest = self._scratch_level(launcher, has_values=types.value is not None, has_tombstones=batch.has_tombstones)
        self._sort(sorters, kernels, newest)
        levels = Levels(types, (newest, *self.older))
        target = MergeTarget(self.target.codes, self.target.values, self.target.tombstones)
        kernels.merge(levels.packed, [level.count for level in levels.levels], target)

    def _sort(self, sorters: Sorters, kernels: MapKernels, to: Level) -> None:
        """Sort the batch: of equal keys a tombstone is first, then the last pair."""
        launcher, batch, types = sorters.launcher, self.batch, self.types
        count, has_values, is_mixed = batch.keys.length, batch.values is not None, batch.deletes is not None
        if batch.is_coded:
            given = Level(batch.keys, batch.values, batch.deletes)
        else:
            given = self._scratch_level(launcher, has_values=has_values, has_tombstones=is_mixed)
            launch_codes(kernels, types, batch, given)
        deleted = self._scratch(launcher, "|u1") if is_mixed else None
        pairs = (given.values, to.values), (given.tombstones, deleted)
        moves = tuple(MovedItems(a, b, a.width) for a, b in pairs if a is not None and b is not None)
        sorters.of(count).sort(SortRequest(KeyOrder.of(types.code), given.codes, to.codes, moves))
        if to.values is not None and not has_values:
            launcher.fill(to.values, 0)
        if to.tombstones is not None:
            launcher.fill(to.tombstones, 0 if is_mixed else 1)
        if is_mixed:
            kernels.launch("mark_deleted", count, (to.codes, count, deleted, to.tombstones))

    def _scratch_level(self, launcher: Any, *, has_values: bool, has_tombstones: bool) -> Level:
        """Allocate a level of the batch's size."""
        codes, value = self._scratch(launcher, self.types.code), self.types.value
        values = self._scratch(launcher, value) if has_values and value is not None else None
        return Level(codes, values, self._scratch(launcher, "|u1") if has_tombstones else None)

    def _scratch(self, launcher: Any, typestr: str) -> Array:
        count, like = self.batch.keys.length, self.target.codes
        buffer = launcher.allocate(count * width_of(typestr))
        return Array(buffer.address, count, typestr, like.device, "headrace", like.stream, True, buffer)


def launch_codes(kernels: MapKernels, types: MapTypes, batch: Batch, to: Level, mixed: int = 1) -> None:
    """Write codes, values and statuses of a batch from the last item to the first. `mixed`: its number in statuses."""
    count = batch.keys.length
    args = (batch.keys, count, types.order.packed, batch.values, batch.deletes, types.value_width)
    kernels.launch("reverse_batch", count, (*args, to.codes, to.values, to.tombstones, mixed))


new_update = fast_constructor(Update)  # creates an `Update` at a fifth of the cost of its class
