"""Exports columns through the Arrow C data interface. Nothing is copied, and no Arrow library is needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from headrace import _native
from headrace.columns.column import Column
from headrace.columns.placement import describe, filled
from headrace.core.device import Device
from headrace.core.errors import OptionError


def stream_capsule(columns: Mapping[str, Column], length: int) -> object:
    """Return a capsule of an ``ArrowArrayStream`` with one batch of all columns; it keeps their memory alive."""
    return _native.arrow_stream([column.arrow_description(name) for name, column in columns.items()], length)


class ArrowBatch(NamedTuple):
    """Columns of equal length, and that length."""

    columns: Mapping[str, Column]
    length: int


def stream_of_batches(like: Mapping[str, Column], batches: Iterator[ArrowBatch]) -> object:
    """Return a capsule of an ``ArrowArrayStream`` of batches, each made on request; `like`: columns of the same types."""

    def following() -> tuple[list[tuple[Any, ...]], int] | None:
        batch = next(batches, None)
        return (
            None if batch is None else ([column.arrow_description(name) for name, column in batch.columns.items()], batch.length)
        )

    return _native.arrow_batches([column.arrow_description(name) for name, column in like.items()], following)


def schema_capsule(columns: Mapping[str, Column]) -> object:
    """Return a capsule of an ``ArrowSchema``: a struct of all columns, each nullable."""
    return _native.arrow_schema([_without_buffers(column.arrow_description(name)) for name, column in columns.items()])


def _without_buffers(description: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the description of a column without its buffers, as a schema needs it."""
    *said, _, dictionary = description
    return *said, [], dictionary and (_without_buffers(dictionary[0]), dictionary[1])


def device_batch(columns: Mapping[str, Column], length: int, device: Device) -> tuple[object, object]:
    """Return capsules of a struct of all columns for Arrow's device interface; its event is recorded once they are filled.

    Raise OptionError if the columns are on several devices.
    """
    from headrace.arrays.arrow_device import DeviceColumn, device_capsules  # seldom needed

    elsewhere = next((name for name, column in columns.items() if column.device != device), None)
    if elsewhere is not None:
        raise OptionError(
            f"column {elsewhere!r} is on {columns[elsewhere].device} and others are on {device}; move all to one with .to()"
        )
    children = [describe(column, name) for name, column in columns.items()]
    event = filled(columns.values())
    return device_capsules(DeviceColumn("+s", length, 0, (0,), device, columns, event, children=children))
