"""Columns of a GPU back to the host, all at once, in a stream of their own: while they come, the next ones are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from headrace.columns.column import Column
from headrace.core.buffer import Buffer, empty_buffer
from headrace.core.transfers import Crossings
from headrace.gpu.device.event import Event
from headrace.gpu.memory.pinned import CHUNKS, Copy, PinnedRing
from headrace.gpu.memory.pinned_results import PinnedResults, lent_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchShape:
    """How batches come back.

    Parameters
    ----------
    pinned
        Whether they lie in pinned memory, where there is any, so that no thread of the host copies them.
    movers
        So many batches are on their way at once, each through a ring of its own.
    ahead, streamed
        As `PinnedRing.fetch`, for what does not come straight into pinned memory.
    """

    pinned: bool = True
    movers: int = 2
    ahead: int = CHUNKS - 1
    streamed: bool = True


FETCH_SHAPE = FetchShape()


@dataclass(frozen=True, slots=True)
class FetchWay:
    """The ring that columns come through, pinned memory for them if they are to have any, and the shape."""

    ring: PinnedRing
    results: PinnedResults | None
    shape: FetchShape = FETCH_SHAPE


def fetch_columns(columns: Mapping[str, Column], filled: Event, way: FetchWay, crossings: Crossings) -> dict[str, Column]:
    """Copies on the host of whole columns of values, strings or bytes, behind the event by which they are filled.

    Memory: their own, and the ring's. Each byte crosses the bus once; if it does not come into pinned memory, it also goes once
    through the host's memory.
    """
    ring, shape = way.ring, way.shape
    filled.hold(ring.stream)
    sizes = [buffer.nbytes for column in columns.values() for buffer in _buffers(column)]
    memory = None if way.results is None else way.results.take(sum(map(lent_bytes, sizes)))
    new_buffer = empty_buffer if memory is None else memory.buffer
    copies: list[Copy] = []

    def copied(buffer: Any) -> Buffer:
        made = new_buffer(buffer.nbytes)
        if buffer.nbytes:
            copies.append((buffer.address, made.address, buffer.nbytes))
        return made

    def part_of(buffer: Buffer | None) -> Buffer | None:
        return None if buffer is None else copied(buffer)

    made = {
        name: replace(column, values=copied(column.values), validity=part_of(column.validity), offsets=part_of(column.offsets))
        for name, column in columns.items()
    }
    if memory is None:
        ring.fetch(copies, counted=crossings, ahead=shape.ahead, streamed=shape.streamed)
    else:
        ring.fetch_pinned(copies, counted=crossings)
    return made


def _buffers(column: Column) -> list[Any]:
    return [buffer for buffer in (column.values, column.validity, column.offsets) if buffer is not None]
