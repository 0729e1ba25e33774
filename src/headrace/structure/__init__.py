"""Dialects, and the search for records and fields: automata, state maps, structure on the CPU and on a GPU."""

from __future__ import annotations

from headrace.structure.state_map import RangeStart, StateMap, range_starts, summarize

__all__ = ["RangeStart", "StateMap", "range_starts", "summarize"]
