"""Runs sort tasks on a GPU, on the device and stream of their arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from headrace.arrange.gather.moved_items import MovedItems, RowNumbers
from headrace.arrange.sort.gpu.planner import Sorter, SortRequest
from headrace.arrange.sort.gpu.tuning import SortTuning, tuning_of
from headrace.arrange.sort.request import SortTask
from headrace.arrays.arrays import Array
from headrace.arrays.placement import in_stream_of
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.gpu.device.device import gpu
from headrace.gpu.kernels.launcher import DeviceBuffer, GpuLauncher, Launcher
from headrace.gpu.memory.scratch import COUNTERS, Scratch


def sort_keys_on_gpu(task: SortTask) -> None:
    """Sort keys, pairs or indices, as the task asks. `Sorter.sort` documents the memory that this takes."""
    with _sorter(task) as sorter:
        sorter.sort(_request(task))


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


@dataclass(frozen=True, slots=True)
class Sorters:
    """Creates sorters on one launcher; its fields are parameters of `Sorter`."""

    launcher: Launcher
    tuning: SortTuning
    counters: Callable[[], DeviceBuffer]

    def of(self, count: int) -> Sorter:
        """Return a sorter for `count` keys."""
        return Sorter(self.launcher, count, self.tuning, self.counters)


@contextmanager
def _sorter(task: SortTask) -> Iterator[Sorter]:
    arrays = [task.target, task.indices]
    arrays += [array for move in task.values for array in (move.source, move.target)]
    others = [array for array in arrays if array is not None]
    with sorters_on(task.keys, others, task.context, task.budget) as sorters:
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
