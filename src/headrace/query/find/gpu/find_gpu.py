"""Searches texts in GPU memory: the GPU's part of `find`, `count`, `find_first` and `replace`."""

from __future__ import annotations

from typing import Any

from headrace.arrays.arrays import Array
from headrace.arrays.placement import empty_like, in_stream_of
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.gpu.device.device import gpu
from headrace.gpu.kernels.launcher import GpuLauncher
from headrace.query.find.gpu.marks import DeviceText
from headrace.query.find.gpu.search import DeviceReplacement, DeviceSearch
from headrace.query.find.pattern.pattern import Pattern


def positions_on_gpu(text: Array, pattern: Pattern, overlapping: bool, context: Context, budget: Budget) -> Any:
    """Return the positions of a pattern in an array of the library of the text.

    Raise MemoryLimitError if the marks of the text and the positions do not fit.
    """
    card = gpu(text.device)
    if text.length < len(pattern):
        return empty_like(text, 0, "<u8", budget).owner
    with card.current():
        launcher = GpuLauncher(card, stream=text.stream, budget=budget, crossings=context.crossings)
        search = DeviceSearch(launcher, DeviceText(text.address, text.length), pattern)
        hits = search.hits(overlapping=overlapping)
        result = empty_like(text, hits.total, "<u8", budget)
        with in_stream_of(text, result):
            search.write(hits, result)
    return result.owner


def count_on_gpu(text: Array, pattern: Pattern, overlapping: bool, context: Context, budget: Budget) -> int:
    """Return the number of hits of a pattern.

    Raise MemoryLimitError if hits may not overlap, which needs memory for each, and it does not fit.
    """
    if text.length < len(pattern):
        return 0
    card = gpu(text.device)
    with card.current():
        launcher = GpuLauncher(card, stream=text.stream, budget=budget, crossings=context.crossings)
        search = DeviceSearch(launcher, DeviceText(text.address, text.length), pattern)
        return search.count() if overlapping or not pattern.is_bordered else search.hits(overlapping=False).total


def first_on_gpu(text: Array, pattern: Pattern, context: Context, budget: Budget) -> int | None:
    """Return the first position of a pattern, None if there is none."""
    if text.length < len(pattern):
        return None
    card = gpu(text.device)
    with card.current():
        launcher = GpuLauncher(card, stream=text.stream, budget=budget, crossings=context.crossings)
        return DeviceSearch(launcher, DeviceText(text.address, text.length), pattern).first()


def replaced_on_gpu(text: Array, pattern: Pattern, replacement: bytes, context: Context, budget: Budget) -> Any:
    """Return the text with each hit of the pattern replaced, in an array of the library of the text.

    Raise MemoryLimitError if the hits or the result do not fit.
    """
    if text.length == 0:
        return empty_like(text, 0, "|u1", budget).owner
    card = gpu(text.device)
    with card.current():
        launcher = GpuLauncher(card, stream=text.stream, budget=budget, crossings=context.crossings)
        replaced = DeviceReplacement(launcher, DeviceText(text.address, text.length), pattern, replacement)
        result = empty_like(text, replaced.size, "|u1", budget)
        with in_stream_of(text, result):
            replaced.write(result)
    return result.owner
