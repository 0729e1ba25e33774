"""Writes columns as Arrow IPC streams, and reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from headrace.columns.column import Column
from headrace.core.buffer import Buffer
from headrace.core.errors import MissingDependencyError
from headrace.export.arrow.arrow import stream_capsule
from headrace.export.arrow.from_arrow import columns_from_arrow


@dataclass(frozen=True, slots=True)
class _Stream:
    """Columns as an Arrow stream of one batch."""

    columns: Mapping[str, Column]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return stream_capsule(self.columns, len(next(iter(self.columns.values()))))


class _Parts:
    """A file of PyArrow that keeps the buffers that are written to it. Those of columns are not copied."""

    closed = False

    def __init__(self) -> None:
        self.parts: list[memoryview] = []

    def write(self, data: Any) -> int:
        self.parts.append(memoryview(data))
        return len(data)

    def flush(self) -> None:
        """Do nothing: all parts are kept."""

    def close(self) -> None:
        """Do nothing: the parts remain."""


def ipc_parts(columns: Mapping[str, Column]) -> list[memoryview]:
    """Return columns as the parts of an Arrow IPC stream of one batch. Large parts are the memory of the columns.

    Raise MissingDependencyError if PyArrow is not installed.
    """
    arrow = needed_arrow()
    reader = arrow.RecordBatchReader.from_stream(_Stream(columns))
    sink = _Parts()
    with import_module("pyarrow.ipc").new_stream(arrow.PythonFile(sink, mode="w"), reader.schema) as writer:
        for batch in reader:
            if batch.num_rows:
                writer.write_batch(batch)
    return sink.parts


def columns_of(data: memoryview | bytes) -> dict[str, Column]:
    """Return the columns of an Arrow IPC stream, as copies. Raise MissingDependencyError if PyArrow is not installed."""
    return columns_from_arrow(_table_of(data))


def columns_in(memory: Buffer) -> dict[str, Column]:
    """Return the columns of an Arrow IPC stream, as parts of its memory, which they keep.

    Raise MissingDependencyError if PyArrow is not installed.
    """
    return columns_from_arrow(_table_of(memoryview(memory)), memory)


def _table_of(stream: memoryview | bytes) -> Any:
    """Return the table of a stream. Raise ValueError if it is none, or offsets, nulls or UTF-8 of its columns are wrong."""
    arrow = needed_arrow()
    try:
        table = import_module("pyarrow.ipc").open_stream(arrow.py_buffer(stream)).read_all()
        table.validate(full=True)
    except (arrow.ArrowException, OSError) as error:
        raise ValueError(f"its Arrow stream is wrong: {error}") from None
    return table


def needed_arrow() -> Any:
    """Return PyArrow. Raise MissingDependencyError if it is not installed."""
    try:
        return import_module("pyarrow")
    except ImportError:
        raise MissingDependencyError.of("pyarrow", "arrow", "a store with a path") from None
