"""Columns of a GPU back to the host, all at once, in a stream of their own: while they come, the next ones are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from headrace.columns.column import Column
from headrace.core.buffer import Buffer, empty_buffer
from headrace.core.crossings import Crossings
from headrace.core.event import Event
from headrace.core.pinned import Copy, PinnedRing


def fetch_columns(columns: Mapping[str, Column], filled: Event, ring: PinnedRing, crossings: Crossings) -> dict[str, Column]:
    """Copies on the host of whole columns of values, strings or bytes, behind the event by which they are filled.

    Memory: their own, and the ring's. Each byte crosses the bus once, and goes once through the host's memory.
    """
    filled.hold(ring.stream)
    copies: list[Copy] = []

    def copied(buffer: Any) -> Buffer:
        made = empty_buffer(buffer.nbytes)
        if buffer.nbytes:
            copies.append((buffer.address, made.address, buffer.nbytes))
        return made

    made = {}
    for name, column in columns.items():
        own: dict[str, Any] = {part: getattr(column, part) for part in ("values", "validity", "offsets")}
        made[name] = replace(column, **{part: copied(buffer) for part, buffer in own.items() if buffer is not None})
    ring.fetch(copies, counted=crossings)
    return made
