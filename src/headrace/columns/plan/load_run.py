"""Holds the handles of one load, which a plan does not have: a plan is a value that can be pickled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from headrace import _native

Progress = Callable[[int, int], object]  # a function of two numbers: bytes processed, bytes in all
PROGRESS_SECONDS = 0.1  # seconds between two calls of it, about


@dataclass(frozen=True, slots=True)
class LoadRun:
    """The handles of one load."""

    progress: Progress | None = None  # called with the bytes processed and their total
    share: _native.LoadShare | None = None  # state that the loads of several files have in common
    chosen: bytes | None = None
    """Numbers of the data records that become rows, from 0 and ascending, as 64-bit words; None for all. Faults of whole records
    are then not found.
    """
    filter: _native.RecordFilter | None = None  # chooses the data records that are converted; None for all
    dropped: _native.DroppedTiles | None = None  # parts of the text without such records, of earlier passes over it
    wants_spans: bool = False  # True if the result has the bytes of each row's record


NO_HANDLES = LoadRun()  # for the load of a single file without progress
