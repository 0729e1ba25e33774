"""Other texts for some rows of a column of strings on a GPU: columns/faults/gpu/patch_strings.cu."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from headrace.columns.buffers.column_buffers_gpu import Taken
from headrace.columns.convert.gpu.string_offsets import place_strings
from headrace.gpu.kernels.launcher import Entry, Launcher, Part, Shape

_WORDS = ("rows", "count", "ends", "texts", "shifts", "offsets", "offsets_to", "bytes", "bytes_to", "validity", "length")
SPLICE_TASK = np.dtype([*((name, "u8") for name in _WORDS), ("width", "u4"), ("width_to", "u4")])
"""The struct of columns/faults/gpu/patch_task.hpp, byte for byte."""

_SIZE, _OFFSETS, _BYTES, _TEXTS = (
    Entry("columns/faults/gpu/patch_strings.cu", name, "96s")
    for name in ("size_texts", "shift_offsets", "shift_bytes", "put_texts")
)
_THREADS = 256
_DEFINES = {"HR_THREADS": _THREADS}
_MOST_BLOCKS = 4096
_PIECE_BYTES = 16
_MOST_STRING_BYTES = 0x7FFFFFFF


def splice_texts(launcher: Launcher, column: Taken, length: int, rows: NDArray[np.uint64], texts: Sequence[bytes]) -> None:
    """Give rows of a column of strings other texts, and make them valid.

    Memory: a second copy of the column. The host waits once.

    Parameters
    ----------
    launcher
        Where the column lies.
    column
        Of `length` rows.
    rows, texts
        Which, ascending, and what they get.
    """
    ends: NDArray[np.uint64] = np.zeros(len(texts) + 1, np.uint64)
    np.cumsum([len(text) for text in texts], out=ends[1:])
    old = dict(column.rooms)
    listed, shifts = launcher.put(rows), launcher.room((len(rows) + 1) * 8)
    ends_room, blob = launcher.put(ends), launcher.put(np.frombuffer(b"".join(texts), np.uint8))
    task: NDArray[np.void] = np.zeros(1, SPLICE_TASK)
    task[0] = (
        *(listed.address, len(rows), ends_room.address, blob.address, shifts.address, old["offsets"].address, 0),
        *(old["values"].address, 0, old["validity"].address, length, column.made.bits // 8, 0),
    )
    launcher.launch(_SIZE, Shape(_DEFINES, -(-len(rows) // _THREADS), _THREADS), [task.tobytes()])
    total = Part(shifts, len(rows) * 8, 8)
    place_strings(launcher, shifts, (len(rows), 1), total)
    size = (old["values"].nbytes + int(launcher.fetch(total).view(np.uint64)[0])) % 2**64
    made = replace(column, large=column.large or (column.made.bits == 32 and size > _MOST_STRING_BYTES), rooms={})
    column.large, width = made.large, made.made.bits // 8
    column.rooms["values"], column.rooms["offsets"] = launcher.room(size), launcher.room((length + 1) * width)
    task["offsets_to"], task["bytes_to"] = column.rooms["offsets"].address, column.rooms["values"].address
    task["width_to"] = width
    packed = task.tobytes()
    for entry, items in ((_OFFSETS, length + 1), (_BYTES, -(-old["values"].nbytes // _PIECE_BYTES)), (_TEXTS, 32 * len(rows))):
        blocks = -(-items // _THREADS)
        if blocks:
            most = blocks if entry is _TEXTS else _MOST_BLOCKS
            launcher.launch(entry, Shape(_DEFINES, min(blocks, most), _THREADS), [packed])
