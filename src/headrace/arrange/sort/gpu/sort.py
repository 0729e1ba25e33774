"""Runs sort tasks on a GPU, on the device and stream of their arrays."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from headrace.arrange.gather.moved_items import MovedItems, RowNumbers
from headrace.arrange.sort.gpu.msd.tuning import LIMITS
from headrace.arrange.sort.gpu.planner import Sorter, SortRequest
from headrace.arrange.sort.gpu.tuning import SortTuning, tuning_of
from headrace.arrange.sort.request import ColumnMove, SortTask
from headrace.arrays.arrays import Array
from headrace.arrays.placement import in_stream_of
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.core.size_class import size_class
from headrace.gpu.device.device import gpu
from headrace.gpu.kernels.launch_plan import LaunchPlan, PlanRecorder, replayed
from headrace.gpu.kernels.launcher import DeviceBuffer, GpuLauncher, Launcher
from headrace.gpu.memory.scratch import COUNTERS, Scratch


def sort_keys_on_gpu(task: SortTask) -> LaunchPlan | None:
    """Sort keys, pairs or indices, as the task asks. `Sorter.sort` documents the memory that this takes.

    Return the plan that was replayed, if any. Its addresses are those of the keys, each column and its target, the keys' target,
    and the indices.
    """
    plan = _replayed(task)
    if plan is None:
        with _sorter(task) as sorter:
            sorter.sort(_request(task))
    return plan


sort_pairs_on_gpu = argsort_on_gpu = sort_keys_on_gpu


def is_sorted_on_gpu(task: SortTask) -> bool:
    """Return whether keys are in order; the host waits once."""
    with _sorter(task) as sorter:
        return sorter.is_sorted(_request(task))


def top_k_on_gpu(task: SortTask) -> None:
    """Write the first keys of their order, as many as the target holds."""
    assert task.target is not None
    with _sorter(task) as sorter:
        sorter.top_k(_request(task), task.target.length)


def _replayed(task: SortTask) -> LaunchPlan | None:
    """Sort as an earlier call did that differs in addresses alone, and in a length of the same class.

    Return None, having done nothing, if there was none.
    """
    keys, count = task.keys, task.keys.length
    arrays = _arrays(task)
    if not count or task.budget.limit is not None or any(array.stream != keys.stream for array in arrays):
        return None
    addresses = [array.address for array in arrays]
    buffers = addresses if len(addresses) == len(set(addresses)) else list(dict.fromkeys(addresses))
    shape = [(array.width, buffers.index(array.address)) for array in arrays]
    alike = range(0) if task.strategy == "hybrid" else counts_like(count)
    key = (task.order, alike or count, task.target is None, task.indices is None, task.stable, task.strategy, *shape)
    card = gpu(keys.device)

    def record(recorder: PlanRecorder) -> None:
        launcher: Any = recorder  # a sort copies nothing between host and device
        address_of = dict(zip(buffers, recorder.addresses, strict=True))
        sorters = Sorters(launcher, tuning_of(card.multiprocessors, card.capability), recorder.counters)
        sorters.of(recorder.count or count, alike[-1] if alike else 0).sort(_request(_at(task, address_of)))

    return replayed(key, record, buffers, card, keys.stream, count=count if alike else 0, counts=alike)


def counts_like(count: int) -> range:
    """Return the numbers of keys that the launches for `count` keys serve; none if they serve `count` alone."""
    alike, after = size_class(count), bisect_left(LIMITS, count)
    least = LIMITS[after - 1] + 1 if after else 1
    return range(max(alike.start, least), min(alike.stop, LIMITS[after] + 1)) if alike else alike


def _arrays(task: SortTask) -> list[Array]:
    arrays = [task.keys]
    for move in task.values:
        arrays += move.source, move.target
    return [*arrays, *(array for array in (task.target, task.indices) if array is not None)]


def _at(task: SortTask, address_of: Mapping[int, int]) -> SortTask:
    """Return the task with its arrays at other addresses."""

    def moved(array: Array) -> Array:
        return replace(array, address=address_of[array.address])

    values = tuple(ColumnMove(moved(move.source), moved(move.target)) for move in task.values)
    target, indices = (None if array is None else moved(array) for array in (task.target, task.indices))
    return replace(task, keys=moved(task.keys), target=target, values=values, indices=indices)


@dataclass(frozen=True, slots=True)
class Sorters:
    """Creates sorters on one launcher; its fields are parameters of `Sorter`."""

    launcher: Launcher
    tuning: SortTuning
    counters: Callable[[], DeviceBuffer]

    def of(self, count: int, capacity: int = 0) -> Sorter:
        """Return a sorter for `count` keys, and for launches that serve `capacity` ones."""
        return Sorter(self.launcher, count, self.tuning, self.counters, capacity)


@contextmanager
def _sorter(task: SortTask) -> Iterator[Sorter]:
    keys, *others = _arrays(task)
    with sorters_on(keys, others, task.context, task.budget) as sorters:
        yield sorters.of(task.keys.length)


@contextmanager
def sorters_on(keys: Array, others: Iterable[Array], context: Context, budget: Budget) -> Iterator[Sorters]:
    """Yield sorters on the device and stream of `keys`. Work that is enqueued on the streams of `others` completes first."""
    card = gpu(keys.device)
    scratches: list[Scratch] = []
    with card.current(), in_stream_of(keys, *others):
        launcher = GpuLauncher(card, stream=keys.stream, budget=budget, crossings=context.crossings)

        def counters() -> DeviceBuffer:
            scratches.append(Scratch(card, COUNTERS, launcher.stream, 0))
            return scratches[-1].begin()[0]

        try:
            yield Sorters(launcher, tuning_of(card.multiprocessors, card.capability), counters)
        finally:
            for scratch in scratches:
                scratch.end()


def _request(task: SortTask) -> SortRequest:
    values = tuple(MovedItems(move.source, move.target, move.source.width) for move in task.values)
    indices = None if task.indices is None else RowNumbers(task.indices, task.indices.width)
    return SortRequest(task.order, task.keys, task.target, values, indices, task.stable, task.strategy)
