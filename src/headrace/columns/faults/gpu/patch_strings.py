"""Replaces the texts of some rows of a string column on a GPU (patch_strings.cu)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from headrace.columns.buffers.column_buffers_gpu import ColumnBuffers
from headrace.columns.convert.gpu.string_offsets import scan_string_sizes
from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import BufferSlice, Entry, Launcher, Shape

_TASK = layout("PatchTask")
_SIZE, _OFFSETS, _BYTES, _TEXTS = (
    Entry("columns/faults/gpu/patch_strings.cu", name, _TASK.argument)
    for name in ("size_patches", "shift_offsets", "shift_bytes", "store_patches")
)
_THREADS = 256
_DEFINES = {"HR_THREADS": _THREADS}
_MAX_BLOCKS = 4096
_THREAD_BYTES = 16
MAX_STRING_BYTES = 0x7FFFFFFF


def patch_strings(
    launcher: Launcher, column: ColumnBuffers, length: int, rows: NDArray[np.uint64], texts: Sequence[bytes]
) -> None:
    """Replace the texts of rows of a string column, and make these rows valid.

    Memory: a second copy of the column. The host waits once.

    `column`: a column of `length` rows.
    `rows`, `texts`: the rows, ascending, and their new texts.
    """
    ends: NDArray[np.uint64] = np.zeros(len(texts) + 1, np.uint64)
    np.cumsum([len(text) for text in texts], out=ends[1:])
    old = dict(column.buffers)
    listed, shifts = launcher.put(rows), launcher.allocate((len(rows) + 1) * 8)
    ends_buffer, bytes_buffer = launcher.put(ends), launcher.put(np.frombuffer(b"".join(texts), np.uint8))
    task: NDArray[np.void] = np.zeros(1, _TASK.dtype)
    task[0] = (
        *(listed.address, len(rows), ends_buffer.address, bytes_buffer.address, shifts.address, old["offsets"].address, 0),
        *(old["values"].address, 0, old["validity"].address, length, column.stored_type.bits // 8, 0),
    )
    launcher.launch(_SIZE, Shape(_DEFINES, -(-len(rows) // _THREADS), _THREADS), [task.tobytes()])
    total = BufferSlice(shifts, len(rows) * 8, 8)
    scan_string_sizes(launcher, shifts, (len(rows), 1), total)
    size = (old["values"].nbytes + int(launcher.fetch(total).view(np.uint64)[0])) % 2**64
    result = replace(column, large=column.large or (column.stored_type.bits == 32 and size > MAX_STRING_BYTES), buffers={})
    column.large, width = result.large, result.stored_type.bits // 8
    column.buffers["values"], column.buffers["offsets"] = launcher.allocate(size), launcher.allocate((length + 1) * width)
    task["offsets_to"], task["bytes_to"] = column.buffers["offsets"].address, column.buffers["values"].address
    task["width_to"] = width
    packed = task.tobytes()
    for entry, items in ((_OFFSETS, length + 1), (_BYTES, -(-old["values"].nbytes // _THREAD_BYTES)), (_TEXTS, 32 * len(rows))):
        blocks = -(-items // _THREADS)
        if blocks:
            max_blocks = blocks if entry is _TEXTS else _MAX_BLOCKS
            launcher.launch(entry, Shape(_DEFINES, min(blocks, max_blocks), _THREADS), [packed])
