"""The beginnings of records of a text on a GPU, for the host: columns/faults/gpu/gather_records.cu."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headrace.gpu.kernels.launcher import Entry, Launcher, Room, Shape

_GATHER = Entry("columns/faults/gpu/gather_records.cu", "gather_records", "PQPQQP")
_THREADS = 256
_DEFINES = {"HR_THREADS": _THREADS}
_RECORDS_OF_BLOCK = _THREADS // 32
_LEAST, _MOST = 256, 4096
_TOGETHER_BYTES = 64 << 20
_MOST_BYTES = 1 << 31


NO_PIECES = b"", 1


def record_pieces(launcher: Launcher, text: Room, begins: NDArray[np.uint64], length: int) -> tuple[bytes, int]:
    """The first bytes of records, one after the other, and how many they are of each.

    Of too many records only the first ones' pieces are there. Memory: 64 MiB.

    Parameters
    ----------
    launcher, text
        Where the text lies.
    begins
        Where the records do.
    length
        Of most of them, about.
    """
    size = min(max(4 * length // 64 * 64, _LEAST), _MOST)
    begins = begins[: _MOST_BYTES // size]
    together = _TOGETHER_BYTES // size
    pieces = []
    for first in range(0, len(begins), together):
        part = begins[first : first + together]
        room = launcher.room(len(part) * size)
        shape = Shape(_DEFINES, -(-len(part) // _RECORDS_OF_BLOCK), _THREADS)
        launcher.launch(_GATHER, shape, [text, text.nbytes, launcher.put(part), len(part), size, room])
        pieces.append(launcher.fetch(room).tobytes())
    return b"".join(pieces), size
