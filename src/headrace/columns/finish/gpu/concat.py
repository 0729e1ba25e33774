"""Concatenates columns of several loads on a GPU (concat.cu)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headrace.columns.buffers.column_buffers_gpu import ColumnBuffers
from headrace.columns.column import Column
from headrace.columns.finish.gpu.finish import shrink as shrink_columns
from headrace.columns.types import DataType, has_offsets
from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import BufferSlice, Entry, Launcher, Shape

_PART, _COLUMN = layout("JoinedPart"), layout("JoinedColumn")
_JOIN = Entry("columns/finish/gpu/concat.cu", "join_parts", f"P{_COLUMN.argument}")
_THREADS = 256
_DEFINES = {"HR_THREADS": _THREADS}
_MAX_BLOCKS = 4096
_MAX_STRING_BYTES = 0x7FFFFFFF
_INFERRED = 1  # any kind of text: marks the column as inferred, so that it may be shrunk


def concat_on_gpu(
    launcher: Launcher, parts: Sequence[int | Column], kind: DataType, *, shrink: bool = False
) -> tuple[Column, int | None]:
    """Concatenate columns on a GPU and numbers of nulls, as `headrace.columns.finish.concat.SharedLoads.join` does on the host.

    There must be at least one part. The host waits for the string bytes of each part, and for shrinking. Memory: the result.
    String views are copied, and the buffers of their texts are shared with the parts.
    """
    rows = sum(part if isinstance(part, int) else part.length for part in parts)
    nulls = sum(part if isinstance(part, int) else part.null_count for part in parts)
    strings = has_offsets(kind)
    table: NDArray[np.void] = np.zeros(len(parts), _PART.dtype)
    data: list[Any] = []
    to = to_bytes = 0
    for entry, part in zip(table, parts, strict=True):
        entry["to"], entry["to_bytes"] = to, to_bytes
        length = part if isinstance(part, int) else part.length
        entry["rows"] = length
        to += length
        if not isinstance(part, int):
            entry["bytes"] = _describe(launcher, entry, part)
            to_bytes += int(entry["bytes"])
            entry["buffers_before"] = len(data)
            data += part.data
    result = ColumnBuffers(0, kind, _INFERRED)
    result.large = strings and kind.bits == 32 and to_bytes > _MAX_STRING_BYTES
    result.nulls = nulls
    result.allocate(launcher, rows)
    if strings:
        result.buffers["values"] = launcher.allocate(to_bytes)
    elif kind.bits != 1:
        launcher.fill(result.buffers["values"], 0)  # parts of nulls do not write values
    column: NDArray[np.void] = np.zeros(1, _COLUMN.dtype)
    offsets = result.buffers["offsets"].address if strings else 0
    values, validity = (
        result.buffers["values"].address if result.buffers["values"].nbytes else 0,
        result.buffers["validity"].address,
    )
    column[0] = (values, offsets, validity, result.stored_type.bits // 8, strings, kind.name == "string_view", 0)
    items = max(int(max(entry["rows"], entry["bytes"])) for entry in table)
    # Each part writes the offsets from its first row to one past its last, so together they write all.
    shape = Shape(_DEFINES, (len(parts), min(items // _THREADS + 1, _MAX_BLOCKS), 1), _THREADS)
    launcher.launch(_JOIN, shape, [launcher.put(table), column.tobytes()])
    deciding_rows = shrink_columns(launcher, [result], rows) if shrink else {}
    return replace(result.column(launcher, rows), data=tuple(data)), deciding_rows.get(0)


def _describe(launcher: Launcher, entry: np.void, part: Column) -> int:
    """Enter the buffers of a column into the table, and return its string bytes."""
    buffers: Any = part
    entry["is_rows"] = 1
    entry["values"] = buffers.values.address if buffers.values.nbytes else 0
    entry["validity"] = 0 if buffers.validity is None else buffers.validity.address
    if buffers.offsets is None:
        return 0
    entry["offsets"], entry["width"] = buffers.offsets.address, part.type.bits // 8
    last = launcher.fetch(BufferSlice(buffers.offsets, part.length * part.type.bits // 8, part.type.bits // 8))
    return int.from_bytes(last.tobytes(), "little")
