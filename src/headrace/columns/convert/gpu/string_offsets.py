"""Launches the scan of string sizes to offsets (columns/convert/gpu/string_offsets.cu)."""

from __future__ import annotations

from headrace.columns.convert.gpu.tuning import OFFSETS_THREADS
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Launcher, Shape
from headrace.gpu.kernels.trace_expressions import most

_PLACE = Entry("columns/convert/gpu/string_offsets.cu", "scan_string_sizes", "PIIPP")
_DEFINES = {"HR_THREADS": OFFSETS_THREADS}
_BLOCK_TILES = 8 * OFFSETS_THREADS
_STATE_BYTES = 16


def scan_memory_bytes(tiles: int, strings: int) -> int:
    """Return the size of the zeroed buffer that `scan_string_sizes` needs."""
    return strings * (_blocks(tiles) + 1) * _STATE_BYTES


def scan_string_sizes(
    launcher: Launcher, sums: DeviceBuffer, shape: tuple[int, int], totals: DeviceBuffer, memory: DeviceBuffer | None = None
) -> None:
    """Launch an exclusive scan of string sizes over the tiles, for each column.

    `sums`, `shape`: a word for each tile and column, and the numbers of tiles and columns. Bytes on entry, bytes of all
    preceding tiles on return.
    `totals`: a word for each column: the bytes of all tiles.
    `memory`: a zeroed buffer of `scan_memory_bytes`; None to allocate one.
    """
    tiles, strings = shape
    memory = launcher.allocate(scan_memory_bytes(tiles, strings), fill=0) if memory is None else memory
    grid = Shape(_DEFINES, strings * _blocks(tiles), OFFSETS_THREADS)  # one dimension: others have at most 65,535 blocks
    launcher.launch(_PLACE, grid, [sums, tiles, strings, totals, memory])


def _blocks(tiles: int) -> int:
    blocks: int = most(-(-tiles // _BLOCK_TILES), 1)
    return blocks
