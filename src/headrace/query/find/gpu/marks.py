"""Describes texts in device memory and the marks of their hits, and writes the positions of marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Launcher, Shape
from headrace.query.find.gpu.tuning import TILES_PER_BLOCK, FindTuning

_MARKS = layout("FoundMarks")
_PACK_MARKS = _MARKS.packer().pack
_WRITE = Entry("query/find/gpu/positions.cu", "write_positions", f"{_MARKS.argument}{_MARKS.argument}P")
_STATE_BYTES = 16  # bytes of a tile's state (gpu/block/block_look_back.cuh)


@dataclass(frozen=True, slots=True)
class DeviceText:
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


@dataclass(frozen=True, slots=True)
class Hits:
    """Hits of a search: their marks, the number of hits in each tile and in total, and the position of the first mark."""

    marks: DeviceBuffer
    counts: DeviceBuffer
    total: int
    first: int


def write_positions(launcher: Launcher, found: Sequence[Hits], targets: Sequence[DeviceBuffer], tuning: FindTuning) -> None:
    """Write the positions of one or two sets of marks of a text, ascending, as 64-bit numbers, in one launch."""
    if not any(hits.total for hits in found):
        return
    tiles = found[0].counts.nbytes // 4
    blocks = -(-tiles // TILES_PER_BLOCK)
    memory = launcher.allocate(len(found) * (blocks + 1) * _STATE_BYTES, fill=0)
    packed = [
        _PACK_MARKS(hits.marks.address, hits.counts.address, tiles, hits.first % 2**64, target.address)
        for hits, target in zip(found, targets, strict=True)
    ]
    shape = Shape(tuning.positions(), (blocks, len(found), 1), tuning.threads)
    launcher.launch(_WRITE, shape, (packed[0], packed[-1], memory))
