"""Numbers the lines of positions in a text on a GPU (count_lines.cu)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headrace.columns.convert.gpu.string_offsets import scan_string_sizes
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Launcher, Shape

_COUNT = Entry("columns/faults/gpu/count_lines.cu", "count_lines", "PQP")
_NUMBER = Entry("columns/faults/gpu/count_lines.cu", "number_lines", "PQPPQP")
_THREADS = 256
_DEFINES = {"HR_THREADS": _THREADS}
_PART_BYTES = _THREADS * 64


def lines_on_gpu(launcher: Launcher, text: DeviceBuffer, positions: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the line number, from 1, of each of ascending positions. The host waits once.

    Lines end with LF, CR LF or CR, quoted or not. Memory: 8 bytes for each 16 KiB of text, and 16 for each position.
    """
    if not len(positions):
        return positions
    parts = -(-(text.nbytes + text.address % 16) // _PART_BYTES)
    sums, lines = launcher.allocate(parts * 8), launcher.allocate(positions.nbytes)
    shape = Shape(_DEFINES, parts, _THREADS)
    launcher.launch(_COUNT, shape, [text, text.nbytes, sums])
    scan_string_sizes(launcher, sums, (parts, 1), launcher.allocate(8))
    launcher.launch(_NUMBER, shape, [text, text.nbytes, sums, launcher.put(positions), len(positions), lines])
    return launcher.fetch(lines).view(np.uint64)
