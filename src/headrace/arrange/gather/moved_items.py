"""Defines items that a kernel moves from one device buffer to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from headrace.gpu.kernels.launcher import DeviceBuffer


class MovedItems(NamedTuple):
    """Items to move: source and target buffers, and bytes per item."""

    source: DeviceBuffer
    target: DeviceBuffer
    width: int


class RowNumbers(NamedTuple):
    """Buffer of row numbers, and bytes of one, 4 or 8."""

    buffer: DeviceBuffer
    width: int
