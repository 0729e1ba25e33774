"""Copies columns from a GPU to the host in a stream of its own, while the next columns are converted."""

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
    """Parameters of the copies of batches to the host."""

    pinned: bool = True  # True if results are in pinned memory, if there is any, so that no host thread copies them
    movers: int = 2  # number of batches that are copied concurrently, each through a ring of its own
    max_pending: int = CHUNKS - 1
    streamed: bool = True  # parameters of `PinnedRing.fetch`, if results are not in pinned memory


FETCH_SHAPE = FetchShape()


@dataclass(frozen=True, slots=True)
class FetchWay:
    """The resources of one copy."""

    ring: PinnedRing  # the pinned ring that columns pass through
    results: PinnedResults | None  # pinned memory for results, if they are to use it
    shape: FetchShape = FETCH_SHAPE  # parameters of the copies


def fetch_columns(columns: Mapping[str, Column], filled: Event, way: FetchWay, crossings: Crossings) -> dict[str, Column]:
    """Return copies in host memory of whole columns of values, strings or bytes.

    Memory: the copies, and the ring. Each byte crosses the bus once. Unless results are in pinned memory, it also passes once
    through host memory.

    `filled`: the event after which the columns are complete.
    `way`: the resources of the copy.
    """
    ring, shape = way.ring, way.shape
    filled.hold(ring.stream)
    sizes = [buffer.nbytes for column in columns.values() for buffer in _buffers(column)]
    memory = None if way.results is None else way.results.take(sum(map(lent_bytes, sizes)))
    new_buffer = empty_buffer if memory is None else memory.buffer
    copies: list[Copy] = []

    def copied(buffer: Any) -> Buffer:
        result = new_buffer(buffer.nbytes)
        if buffer.nbytes:
            copies.append((buffer.address, result.address, buffer.nbytes))
        return result

    def part_of(buffer: Buffer | None) -> Buffer | None:
        return None if buffer is None else copied(buffer)

    result = {
        name: replace(column, values=copied(column.values), validity=part_of(column.validity), offsets=part_of(column.offsets))
        for name, column in columns.items()
    }
    if memory is None:
        ring.fetch(copies, counted=crossings, max_pending=shape.max_pending, streamed=shape.streamed)
    else:
        ring.fetch_pinned(copies, counted=crossings)
    return result


def _buffers(column: Column) -> list[Any]:
    return [buffer for buffer in (column.values, column.validity, column.offsets) if buffer is not None]
