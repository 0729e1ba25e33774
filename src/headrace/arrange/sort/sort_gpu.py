"""Sorting on a GPU: a task's arrays, and the launcher of their card and stream."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache

from headrace.arrange.sort.sorter_gpu import Given, Sorter, SortShapes
from headrace.arrange.sort.task import SortTask
from headrace.core.gpu.card import LARGE_BLOCKS, gpu
from headrace.core.gpu.launcher import GpuLauncher, Room
from headrace.core.gpu.scratch import COUNTERS, scratch
from headrace.core.placement import in_stream_of


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


@contextmanager
def _sorter(task: SortTask) -> Iterator[Sorter]:
    keys = task.keys
    arrays = [keys, task.target, task.indices]
    arrays += [array for moved in task.values for array in (moved.source, moved.target)]
    with in_stream_of(*(array for array in arrays if array is not None)):
        card = gpu(keys.device)
        launcher = GpuLauncher(card, stream=keys.stream, budget=task.budget, crossings=task.context.crossings)

        def counters() -> Room:
            return scratch(card, COUNTERS, launcher.stream, 0)[0]

        yield Sorter(launcher, keys.length, shapes_of(card.multiprocessors, card.capability), counters)


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
    digits = replace(shapes.digits, heads=None)
    return replace(shapes, digits=digits, counted=tuple(counted.items()), stable_tiles=shapes.stable_tiles[1:])


def _given(task: SortTask) -> Given:
    values = tuple((moved.source, moved.target, moved.source.width) for moved in task.values)
    indices = None if task.indices is None else (task.indices, task.indices.width)
    return Given(task.order, task.keys, task.target, values, indices, task.stable, task.strategy)
