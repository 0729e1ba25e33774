"""Searches texts in GPU memory: the GPU's part of `match` and `count_matches`."""

from __future__ import annotations

from typing import Any

from headrace.arrays.arrays import Array
from headrace.arrays.placement import empty_like, in_stream_of
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.gpu.device.device import gpu
from headrace.gpu.kernels.launcher import GpuLauncher
from headrace.query.find.gpu.marks import DeviceText
from headrace.query.match.automaton.tables import MatchTables
from headrace.query.match.gpu.search import DeviceMatch


def matches_on_gpu(text: Array, tables: MatchTables, context: Context, budget: Budget) -> tuple[Any, Any]:
    """Return begins and ends of the matches in arrays of the library of the text.

    Raise MemoryLimitError if the right states of the text, its marks or the matches do not fit.
    """
    if text.length == 0:
        return empty_like(text, 0, "<u8", budget).owner, empty_like(text, 0, "<u8", budget).owner
    card = gpu(text.device)
    with card.current():
        launcher = GpuLauncher(card, stream=text.stream, budget=budget, crossings=context.crossings)
        search = DeviceMatch(launcher, DeviceText(text.address, text.length), tables)
        found = search.marks()
        begins, ends = (empty_like(text, hits.total, "<u8", budget) for hits in found)
        with in_stream_of(text, begins, ends):
            search.write(found, (begins, ends))
    return begins.owner, ends.owner


def count_on_gpu(text: Array, tables: MatchTables, context: Context, budget: Budget) -> int:
    """Return the number of matches. Raise MemoryLimitError if the right states of the text do not fit."""
    if text.length == 0:
        return 0
    card = gpu(text.device)
    with card.current():
        launcher = GpuLauncher(card, stream=text.stream, budget=budget, crossings=context.crossings)
        return DeviceMatch(launcher, DeviceText(text.address, text.length), tables).count()
