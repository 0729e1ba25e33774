"""Copies batches to another device, one batch ahead, so that the copy overlaps with the loading of the next batch."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from headrace.api.scan.scan_parts import BatchCut
from headrace.api.table import Table
from headrace.columns.column import Column
from headrace.core.context import Context
from headrace.core.device import Device

if TYPE_CHECKING:
    from headrace.columns.buffers.fetch_gpu import FetchWay


def copied_ahead(batches: Iterator[Table], device: Device, context: Context, cut: BatchCut) -> Iterator[Table]:
    """Yield each batch on `device`; while one is copied, the next is loaded."""
    before: Future[Table] | None = None
    mover: _Mover | None = None
    timeline = cut.timeline
    try:
        for batch in batches:
            if before is None and all(column.device == device for column in batch.columns.values()):
                yield batch
                continue
            mover = mover or _Mover(device, context, cut)
            following = mover.submit(batch)
            del batch
            if before is not None:
                with timeline.span("converter", "wait for the mover"):
                    moved = before.result()
                yield moved
            before = following
        if before is not None:
            yield before.result()
    finally:
        batches.close()  # type: ignore[attr-defined]
        if mover is not None:
            mover.close()


class _Mover:
    """Threads that copy batches to a device."""

    def __init__(self, device: Device, context: Context, cut: BatchCut) -> None:
        self._device, self._context, self._timeline = device, context, cut.timeline
        self._cut = cut
        self._workers = ThreadPoolExecutor(2 if cut.fetch is None else cut.fetch.movers, "headrace-mover")
        self._fetch: _Fetch | None = None

    def submit(self, batch: Table) -> Future[Table]:
        move = self._ways_to(batch)

        def moved() -> Table:
            with self._timeline.span("mover", f"copy to {self._device}"):
                return move()

        return self._workers.submit(moved)

    def close(self) -> None:
        """Wait for the copies in progress."""
        self._workers.shutdown()
        if self._fetch is not None:
            self._fetch.close()

    def _ways_to(self, batch: Table) -> Callable[[], Table]:
        columns = batch.columns
        device = batch.device
        if self._device.kind != "cpu" or not all(_is_whole(column, device) for column in columns.values()):
            return lambda: batch.to(self._device, context=self._context)
        if self._fetch is None:
            self._fetch = _Fetch(device, self._context, self._cut)
        return self._fetch.of(batch)


class _Fetch:
    """Pinned memory and streams for copies from a GPU to the host, one set a thread."""

    def __init__(self, device: Device, context: Context, cut: BatchCut) -> None:
        from headrace.columns.buffers.fetch_gpu import FETCH_SHAPE, FetchWay  # needs the packages of a GPU
        from headrace.gpu.device.device import gpu
        from headrace.gpu.memory.pinned import take_ring
        from headrace.gpu.memory.pinned_results import pinned_results

        shape = cut.fetch or FETCH_SHAPE
        self._card = gpu(device)
        self._results = pinned_results(self._card) if shape.pinned and not cut.holds_all else None
        self._ways: queue.SimpleQueue[FetchWay] = queue.SimpleQueue()
        for _ in range(shape.movers):
            self._ways.put(FetchWay(take_ring(self._card), self._results, shape))
        self._crossings = context.crossings

    def of(self, batch: Table) -> Callable[[], Table]:
        """Return a function that copies a batch, once the work that is already enqueued has filled it."""
        from headrace.columns.buffers.fetch_gpu import fetch_columns
        from headrace.gpu.device.event import Event

        filled = Event(self._card).record(self._card.stream)

        def fetched() -> Table:
            way = self._ways.get()
            try:
                columns = fetch_columns(batch.columns, filled, way, self._crossings)
            finally:
                self._ways.put(way)
            return Table(columns, rejects=batch.rejects, report=batch.report)

        return fetched

    def close(self) -> None:
        from headrace.gpu.memory.pinned import give_ring

        while not self._ways.empty():
            give_ring(self._ways.get().ring)
        if self._results is not None:
            self._results.trim()


def _is_whole(column: Column, device: Device) -> bool:
    """Return whether a column is in GPU memory and consists of its buffers as they are: no offset, no dictionary, no views."""
    plain = column.offset == 0 and column.null_count >= 0 and not column.data and column.dictionary is None
    return plain and column.device == device and device.kind != "cpu"
