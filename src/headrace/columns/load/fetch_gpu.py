"""Columns of a GPU back to the host, all at once, in a stream of their own: while they come, the next ones are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from headrace.columns.column import Column
from headrace.core.buffer import Buffer, empty_buffer
from headrace.core.gpu.crossings import Crossings
from headrace.core.gpu.event import Event
from headrace.core.gpu.pinned import Copy, PinnedRing


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

    def part_of(buffer: Buffer | None) -> Buffer | None:
        return None if buffer is None else copied(buffer)

    made = {
        name: replace(column, values=copied(column.values), validity=part_of(column.validity), offsets=part_of(column.offsets))
        for name, column in columns.items()
    }
    ring.fetch(copies, counted=crossings)
    return made
