"""Batches taken to another device, one ahead, so that the way there overlaps with what makes the next."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from headrace.api.table import Table
from headrace.core.context import Context
from headrace.core.device import Device
from headrace.core.timeline import Timeline


def moved_ahead(batches: Iterator[Table], device: Device, context: Context, timeline: Timeline) -> Iterator[Table]:
    """Each batch on `device`; while one is on its way, the next is made."""
    before: Future[Table] | None = None
    mover: ThreadPoolExecutor | None = None
    try:
        for batch in batches:
            if before is None and all(column.device == device for column in batch.columns.values()):
                yield batch
                continue
            mover = mover or ThreadPoolExecutor(1, "headrace-mover")
            following = mover.submit(_moved, batch, device, context, timeline)
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
            mover.shutdown()


def _moved(batch: Table, device: Device, context: Context, timeline: Timeline) -> Table:
    with timeline.span("mover", f"copy to {device}"):
        return batch.to(device, context=context)
