"""Where each tile's strings go, from how many bytes each has: launches of columns/convert/gpu/string_offsets.cu."""

from __future__ import annotations

from headrace.gpu.kernels.launcher import Entry, Launcher, Room, Shape
from headrace.gpu.kernels.trace_expressions import most

_PLACE = Entry("columns/convert/gpu/string_offsets.cu", "place_strings", "PIIPP")
_THREADS = 256
_DEFINES = {"HR_THREADS": _THREADS}
_BLOCK_TILES = 8 * _THREADS
_STATE_BYTES = 16


def place_memory_bytes(tiles: int, strings: int) -> int:
    """Of zeros that `place_strings` needs."""
    return strings * (_blocks(tiles) + 1) * _STATE_BYTES


def place_strings(launcher: Launcher, sums: Room, shape: tuple[int, int], totals: Room, memory: Room | None = None) -> None:
    """Start to add up the bytes of strings.

    Parameters
    ----------
    launcher
        Where kernels run.
    sums, shape
        For each of so many tiles a word for each of so many columns: bytes in, bytes of all tiles before out.
    totals
        A word for each column: the bytes of all tiles.
    memory
        `place_memory_bytes` of zeros; None to take them.
    """
    tiles, strings = shape
    memory = launcher.room(place_memory_bytes(tiles, strings), fill=0) if memory is None else memory
    blocks = strings, _blocks(tiles), 1
    launcher.launch(_PLACE, Shape(_DEFINES, blocks, _THREADS), [sums, tiles, strings, totals, memory])


def _blocks(tiles: int) -> int:
    blocks: int = most(-(-tiles // _BLOCK_TILES), 1)
    return blocks
