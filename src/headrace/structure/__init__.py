"""Finds records and fields: dialects, their DFA, state maps, and the search."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headrace.structure.state_map import RangeStart, StateMap, range_starts, summarize

__all__ = ["RangeStart", "StateMap", "range_starts", "summarize"]  # imported on first use


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from headrace.structure import state_map

    return getattr(state_map, name)
