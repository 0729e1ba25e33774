"""Numbers the lines of positions in a text on a GPU (count_lines.cu)."""

from __future__ import annotations

from headrace.columns.convert.gpu.string_offsets import scan_string_sizes
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Launcher, Shape

_COUNT = Entry("columns/faults/gpu/count_lines.cu", "count_lines", "PQP")
_NUMBER = Entry("columns/faults/gpu/count_lines.cu", "number_lines", "PQPPQQP")
_THREADS = 256
_DEFINES = {"HR_THREADS": _THREADS}
_PART_BYTES = _THREADS * 64


def number_lines(launcher: Launcher, text: DeviceBuffer, positions: DeviceBuffer, origin: int, lines: DeviceBuffer) -> None:
    """Launch the kernels that write the line number, from 1, of each of ascending positions.

    Lines end with LF, CR LF or CR, quoted or not. Memory: 8 bytes for each 16 KiB of text.

    Parameters
    ----------
    launcher, text
        The execution context of the kernels, and the text.
    positions, lines
        Unsigned 64-bit integers: the positions, of which there is at least one, and their lines.
    origin
        Byte of the text from which positions count.
    """
    parts = -(-(text.nbytes + text.address % 16) // _PART_BYTES)
    sums, count = launcher.allocate(parts * 8), positions.nbytes // 8
    shape = Shape(_DEFINES, parts, _THREADS)
    launcher.launch(_COUNT, shape, [text, text.nbytes, sums])
    scan_string_sizes(launcher, sums, (parts, 1), launcher.allocate(8))
    launcher.launch(_NUMBER, shape, [text, text.nbytes, sums, positions, count, origin, lines])
