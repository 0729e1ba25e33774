"""Describes texts in device memory and the marks of their hits, and writes the positions of marks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Launcher, Shape
from headrace.query.find.gpu.tuning import TILES_PER_BLOCK, FindTuning

_MARKS = layout("FoundMarks")
_PACK_MARKS = _MARKS.packer().pack
_FILE = "query/find/gpu/positions.cu"
_SUM = Entry(_FILE, "sum_tiles", f"{_MARKS.argument}{_MARKS.argument}")
_WRITE = Entry(_FILE, "write_positions", f"{_MARKS.argument}{_MARKS.argument}")


class DeviceText(NamedTuple):
    """A text in device memory: address and number of bytes."""

    address: int
    nbytes: int

    @property
    def shift(self) -> int:
        """Bytes from the aligned vector of 16 bytes in which the text begins to its first byte."""
        return self.address % 16

    def tiles(self, tuning: FindTuning) -> int:
        """Return the number of tiles of aligned vectors that have bytes of the text."""
        return -(-(self.nbytes + self.shift) // tuning.tile_marks)


class Hits(NamedTuple):
    """Hits of a search: buffers of `mark_bytes`, the number of hits, and the position of the first mark."""

    marks: DeviceBuffer
    counts: DeviceBuffer
    sums: DeviceBuffer
    total: int
    first: int


def mark_bytes(tiles: int, tuning: FindTuning) -> tuple[int, int, int]:
    """Return the sizes of buffers for the marks of a text, the number of hits in each tile, and in each group of tiles."""
    return tiles * tuning.tile_marks // 8, 4 * tiles, 8 * -(-tiles // tuning.threads)


def write_positions(launcher: Launcher, found: Sequence[Hits], targets: Sequence[DeviceBuffer], tuning: FindTuning) -> None:
    """Write the positions of one or two sets of marks of a text, ascending, as 64-bit numbers, in two launches."""
    if not any(hits.total for hits in found):
        return
    tiles = found[0].counts.nbytes // 4
    groups, blocks = found[0].sums.nbytes // 8, -(-tiles // TILES_PER_BLOCK)
    packed = [
        _PACK_MARKS(hits.marks.address, hits.counts.address, hits.sums.address, tiles, hits.first % 2**64, target.address)
        for hits, target in zip(found, targets, strict=True)
    ]
    for entry, width in ((_SUM, groups), (_WRITE, blocks)):
        shape = Shape(tuning.positions(), (width, len(found), 1), tuning.threads)
        launcher.launch(entry, shape, (packed[0], packed[-1]))
