"""Where the records and fields of a text are."""

from __future__ import annotations

from headrace.structure.state_map import RangeStart, StateMap, range_starts, summarize

__all__ = ["RangeStart", "StateMap", "range_starts", "summarize"]
