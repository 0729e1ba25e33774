"""Finds records and fields: dialects, their DFA, state maps of byte ranges, and the search."""

from __future__ import annotations

from headrace.structure.state_map import RangeStart, StateMap, range_starts, summarize

__all__ = ["RangeStart", "StateMap", "range_starts", "summarize"]
