"""Searches texts in GPU memory for many patterns: the GPU's part of `find_any` and `count_any`."""

from __future__ import annotations

from typing import Any

from headrace.arrange.sort.sort import sort
from headrace.arrays.arrays import Array, take
from headrace.arrays.device_array import DeviceArray
from headrace.arrays.placement import empty_like, in_stream_of
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.core.errors import OptionError
from headrace.gpu.device.device import gpu
from headrace.gpu.kernels.launcher import GpuLauncher
from headrace.gpu.memory.pool import PoolBuffer
from headrace.query.find.gpu.marks import DeviceText
from headrace.query.find.gpu.pattern_set.search_set import DeviceSetSearch
from headrace.query.find.pattern.pattern_set import PatternSet

_KEY_BITS = 64


def hits_on_gpu(text: Array, patterns: PatternSet, context: Context, budget: Budget) -> tuple[Any, Any]:
    """Return positions and patterns of all hits in arrays of the library of the text.

    Raise OptionError if position and pattern do not fit a key of 64 bits: the text has 2**40 bytes or more.
    Raise MemoryLimitError if the hits do not fit. Sorting them needs the memory of two further keys of 8 bytes each.
    """
    if text.length == 0:
        return empty_like(text, 0, "<u8", budget).owner, empty_like(text, 0, "<u4", budget).owner
    if text.length.bit_length() + (len(patterns) - 1).bit_length() > _KEY_BITS:
        raise OptionError(f"a text of {text.length} bytes is too long for {len(patterns)} patterns; search parts of it")
    card = gpu(text.device)
    with card.current():
        launcher = GpuLauncher(card, stream=text.stream, budget=budget, crossings=context.crossings)
        search = DeviceSetSearch(launcher, DeviceText(text.address, text.length), patterns, card.multiprocessors)
        keys, count = search.keys()
        assert isinstance(keys, PoolBuffer)
        ordered = take(sort(DeviceArray(keys, "<u8", count), context=context), "keys")
        positions, found = empty_like(text, count, "<u8", budget), empty_like(text, count, "<u4", budget)
        with in_stream_of(text, ordered, positions, found):
            search.split(ordered, count, positions, found)
    return positions.owner, found.owner


def counts_on_gpu(text: Array, patterns: PatternSet, context: Context, budget: Budget) -> Any:
    """Return the number of hits of each pattern in an array of the library of the text."""
    card, result = gpu(text.device), empty_like(text, len(patterns), "<u8", budget)
    with card.current(), in_stream_of(text, result):
        launcher = GpuLauncher(card, stream=text.stream, budget=budget, crossings=context.crossings)
        if text.length:
            DeviceSetSearch(launcher, DeviceText(text.address, text.length), patterns, card.multiprocessors).count(result)
        else:
            launcher.fill(result, 0)
    return result.owner
