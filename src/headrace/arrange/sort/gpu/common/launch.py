"""What every way of sorting on a GPU has in common: keys and what goes with them, sizes of kernels, and small launches."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from headrace.gpu.kernels.launcher import Entry, Launcher, Room, Shape

MOST_COLUMNS = 8
"""As device_plan.cuh has it."""
ROW_BYTES_UP_TO = 1 << 32
"""Keys whose rows are numbered by 4 bytes."""
THREADS = 256
RESIDENT_THREADS = 2048
"""Of a multiprocessor, at most."""
_BLOCKS_OF_MULTIPROCESSOR = 8

_GATHER = Entry("arrange/sort/gpu/common/gather.cu", "sort_gather", "PIQPPI")
_ROWS_AS = Entry("arrange/sort/gpu/common/gather.cu", "sort_rows_as", "PIQPI")
_GATHER_DEFINES = {"HR_THREADS": THREADS}


@dataclass(frozen=True, slots=True)
class Moved:
    """An array that is sorted or goes with what is.

    Parameters
    ----------
    source, target, between
        Where it is, where it goes, and room as large. Without `source`: numbers of rows. Source and target may be one.
    width
        Bytes of an item.
    """

    source: Room | None
    target: Room | None
    between: Room | None
    width: int

    @property
    def in_place(self) -> bool:
        """Whether it is written where it is read."""
        return self.source is not None and self.target is not None and self.source.address == self.target.address

    @property
    def packed(self) -> bytes:
        """A ``Moved`` of device_plan.cuh."""
        places = (0 if room is None else room.address for room in (self.source, self.target, self.between))
        return struct.pack("<3Q2I", *places, self.width, 0)


@dataclass(frozen=True, slots=True)
class Keys:
    """What keys are to a kernel.

    Parameters
    ----------
    width
        Bytes of a key.
    rule
        A ``KeyRule``.
    equals
        Whether keys that compare equal may differ in their bits, and that matters.
    """

    width: int
    rule: bytes
    equals: bool = False

    @property
    def word(self) -> str:
        """Their type in the sources."""
        return f"u{8 * self.width}"

    def digits(self, bits: int) -> int:
        """How many digits of so many bits one has."""
        return -(-8 * self.width // bits)

    def defines(self, *sizes: tuple[str, int | str]) -> Mapping[str, Any]:
        """Macros; the same object each time, by which a launcher knows its kernel."""
        return _defines(self.word, self.equals, sizes)


@lru_cache(512)
def _defines(word: str, equals: bool, sizes: tuple[tuple[str, int | str], ...]) -> Mapping[str, Any]:
    return {"HR_KEY": word, "HR_EQUALS": int(equals), **dict(sizes)}


def packed_arrays(keys: Moved, columns: Sequence[Moved]) -> bytes:
    """An ``Arrays``."""
    empty = bytes(len(keys.packed)) * (MOST_COLUMNS - len(columns))
    return keys.packed + b"".join(column.packed for column in columns) + empty + struct.pack("<2I", len(columns), 0)


def row_bytes(count: int) -> int:
    """Bytes of a row's number where there are so many."""
    return 4 if count <= ROW_BYTES_UP_TO else 8


class Common:
    """Small launches over `count` items."""

    def __init__(self, launcher: Launcher, count: int, multiprocessors: int) -> None:
        self.launcher = launcher
        self.count = count
        self.multiprocessors = multiprocessors

    def blocks(self, items: int, each: int = THREADS) -> int:
        """Blocks of a grid that strides over so many items."""
        return max(1, min(-(-items // each), self.multiprocessors * _BLOCKS_OF_MULTIPROCESSOR))

    def gather(self, rows: Room | None, source: Room, target: Room, width: int) -> None:
        """Put the items of `rows` side by side; of all, where there are none."""
        shape = Shape(_GATHER_DEFINES, self.blocks(self.count), THREADS)
        self.launcher.launch(_GATHER, shape, (rows, row_bytes(self.count), self.count, source, target, width))

    def rows_as(self, rows: Room | None, target: Room, width: int) -> None:
        """Row numbers in another width; those of all rows, where there are none."""
        shape = Shape(_GATHER_DEFINES, self.blocks(self.count), THREADS)
        self.launcher.launch(_ROWS_AS, shape, (rows, row_bytes(self.count), self.count, target, width))
