"""Copies the first bytes of some records from a text on a GPU to the host (gather_records.cu)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Launcher, Shape

_GATHER = Entry("columns/faults/gpu/gather_records.cu", "gather_records", "PQPQQP")
_THREADS = 256
_DEFINES = {"HR_THREADS": _THREADS}
_BLOCK_RECORDS = _THREADS // 32
_MIN_PREFIX_BYTES, _MAX_PREFIX_BYTES = 256, 4096
_BATCH_BYTES = 64 << 20
_MAX_BYTES = 1 << 31


NO_PREFIXES = b"", 1


def record_prefixes(launcher: Launcher, text: DeviceBuffer, begins: NDArray[np.uint64], length: int) -> tuple[bytes, int]:
    """Return the first bytes of records, concatenated, and their number for each record.

    If the records are too many, only the prefixes of the first ones are returned. Memory: 64 MiB.

    Parameters
    ----------
    launcher, text
        The execution context of the kernels, and the text.
    begins
        First byte of each record.
    length
        Typical bytes of a record.
    """
    size = min(max(4 * length // 64 * 64, _MIN_PREFIX_BYTES), _MAX_PREFIX_BYTES)
    begins = begins[: _MAX_BYTES // size]
    batch = _BATCH_BYTES // size
    prefixes = []
    for first in range(0, len(begins), batch):
        part = begins[first : first + batch]
        buffer = launcher.allocate(len(part) * size)
        shape = Shape(_DEFINES, -(-len(part) // _BLOCK_RECORDS), _THREADS)
        launcher.launch(_GATHER, shape, [text, text.nbytes, launcher.put(part), len(part), size, buffer])
        prefixes.append(launcher.fetch(buffer).tobytes())
    return b"".join(prefixes), size
