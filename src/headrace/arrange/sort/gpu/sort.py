"""Sorting on a GPU: a task's arrays, and the launcher of their card and stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache

from headrace.arrange.sort.gpu.planner import Given, Sorter
from headrace.arrange.sort.gpu.tuning import SortShapes
from headrace.arrange.sort.request import SortTask
from headrace.arrays.arrays import Array
from headrace.arrays.placement import in_stream_of
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.gpu.device.device import LARGE_BLOCKS, gpu
from headrace.gpu.kernels.launcher import GpuLauncher, Launcher, Room
from headrace.gpu.memory.scratch import COUNTERS, Scratch


def sort_keys_on_gpu(task: SortTask) -> None:
    """Keys, what goes with them, or their places: what the task asks for. `Sorter.sort` tells what memory it takes."""
    with _sorter(task) as sorter:
        sorter.sort(_given(task))


sort_pairs_on_gpu = argsort_on_gpu = sort_keys_on_gpu


def is_sorted_on_gpu(task: SortTask) -> bool:
    """Whether keys are in order; the host waits once."""
    with _sorter(task) as sorter:
        return sorter.is_sorted(_given(task))


def top_k_on_gpu(task: SortTask) -> None:
    """The first keys of their order, as many as the target has room for."""
    assert task.target is not None
    with _sorter(task) as sorter:
        sorter.top_k(_given(task), task.target.length)


@dataclass(frozen=True, slots=True)
class Sorters:
    """Makes sorters on one launcher, by the parameters of `Sorter`."""

    launcher: Launcher
    shapes: SortShapes
    counters: Callable[[], Room]

    def of(self, count: int) -> Sorter:
        """For so many keys."""
        return Sorter(self.launcher, count, self.shapes, self.counters)


@contextmanager
def _sorter(task: SortTask) -> Iterator[Sorter]:
    arrays = [task.target, task.indices]
    arrays += [array for moved in task.values for array in (moved.source, moved.target)]
    others = [array for array in arrays if array is not None]
    with sorters_on(task.keys, others, task.context, task.budget) as sorters:
        yield sorters.of(task.keys.length)


@contextmanager
def sorters_on(keys: Array, others: Iterable[Array], context: Context, budget: Budget) -> Iterator[Sorters]:
    """For the card and the stream of an array; what the streams of the others were told comes first."""
    card = gpu(keys.device)
    taken: list[Scratch] = []
    with card.current(), in_stream_of(keys, *others):
        launcher = GpuLauncher(card, stream=keys.stream, budget=budget, crossings=context.crossings)

        def counters() -> Room:
            taken.append(Scratch(card, COUNTERS, launcher.stream, 0))
            return taken[-1].begin()[0]

        try:
            yield Sorters(launcher, shapes_of(card.multiprocessors, card.capability), counters)
        finally:
            for scratch in taken:
                scratch.end()


_OF_SMALL = 512, 14, 2
"""Of keys of 8 bytes that are split by parts on a card whose blocks have less room."""


@cache
def shapes_of(multiprocessors: int, capability: tuple[int, int]) -> SortShapes:
    """Of a card with so many, of a compute capability."""
    shapes = replace(SortShapes(), multiprocessors=multiprocessors)
    if capability in LARGE_BLOCKS:
        return shapes
    counted = dict(shapes.counted)
    counted[8] = replace(counted[8], counting=_OF_SMALL[:2], splitting=_OF_SMALL)
    digits = replace(shapes.digits, heads=None, counting=(256, 4), counting_blocks=4)
    return replace(shapes, digits=digits, counted=tuple(counted.items()), stable_tiles=shapes.stable_tiles[1:])


def _given(task: SortTask) -> Given:
    values = tuple((moved.source, moved.target, moved.source.width) for moved in task.values)
    indices = None if task.indices is None else (task.indices, task.indices.width)
    return Given(task.order, task.keys, task.target, values, indices, task.stable, task.strategy)
