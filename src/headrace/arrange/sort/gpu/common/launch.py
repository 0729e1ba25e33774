"""Describes keys and the columns that move with them, and launches the small kernels that every GPU sort needs."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Launcher, Shape

MAX_COLUMNS = 8
"""Columns that move with the keys; equal to `max_moved_columns` of device_plan.cuh."""
MAX_U32_ROWS = 1 << 32
"""Largest number of rows whose row numbers fit 4 bytes."""
THREADS = 256
RESIDENT_THREADS = 2048
"""Maximum number of threads that are resident on one multiprocessor."""
_BLOCKS_PER_MULTIPROCESSOR = 8

_GATHER = Entry("arrange/sort/gpu/common/gather.cu", "sort_gather", "PIQPPI")
_CONVERT_ROWS = Entry("arrange/sort/gpu/common/gather.cu", "convert_rows", "PIQPI")
_GATHER_DEFINES = {"HR_THREADS": THREADS}

ProgramRow = tuple[str, Mapping[str, Sequence[int | str]]]
"""One row of a `PROGRAMS` list: a file and the values of its macros."""


@dataclass(frozen=True, slots=True)
class MovedColumn:
    """Buffers of the keys, or of a column that moves with them.

    Parameters
    ----------
    source, target, between
        Input, output, and a scratch buffer of the same size. Without `source` the items are row numbers. `source` and `target`
        may be the same buffer.
    width
        Bytes of an item.
    """

    source: DeviceBuffer | None
    target: DeviceBuffer | None
    between: DeviceBuffer | None
    width: int

    @property
    def in_place(self) -> bool:
        """Return whether the source buffer is also the target buffer."""
        return self.source is not None and self.target is not None and self.source.address == self.target.address

    @property
    def packed(self) -> bytes:
        """Return the bytes of a ``MovedColumn`` of device_plan.cuh."""
        addresses = (0 if buffer is None else buffer.address for buffer in (self.source, self.target, self.between))
        return struct.pack("<3Q2I", *addresses, self.width, 0)


@dataclass(frozen=True, slots=True)
class KeyType:
    """The properties of keys that kernels are compiled for, and the rule that makes their codes.

    Parameters
    ----------
    width
        Bytes of a key.
    rule
        The bytes of a ``KeyRule`` (sort_key.hpp).
    equals
        Whether keys of different bits may compare equal and must then keep their order.
    """

    width: int
    rule: bytes
    equals: bool = False

    @property
    def word(self) -> str:
        """Return the C++ type of a key."""
        return f"u{8 * self.width}"

    def digit_count(self, bits: int) -> int:
        """Return the number of digits of `bits` bits in a key."""
        return -(-8 * self.width // bits)

    def defines(self, *sizes: tuple[str, int | str]) -> Mapping[str, Any]:
        """Return the macros of a program. Equal arguments give the same object, by which a launcher finds its kernel."""
        return _defines(self.word, self.equals, sizes)


@lru_cache(512)
def _defines(word: str, equals: bool, sizes: tuple[tuple[str, int | str], ...]) -> Mapping[str, Any]:
    return {"HR_KEY": word, "HR_EQUALS": int(equals), **dict(sizes)}


def key_types(width: int, *, has_values: bool) -> Iterator[KeyType]:
    """Yield the key types of one width that programs are compiled for.

    Only floats that carry values need programs with `equals`, and no float has one byte.
    """
    yield KeyType(width, b"")
    if has_values and width > 1:
        yield KeyType(width, b"", equals=True)


def program_rows(programs: Iterable[tuple[str, Mapping[str, Any]]]) -> tuple[ProgramRow, ...]:
    """Return the rows of a `PROGRAMS` list for pairs of a file and its macros, each program once."""
    unique = dict.fromkeys((file, tuple(defines.items())) for file, defines in programs)
    return tuple((file, {name: [value] for name, value in defines}) for file, defines in unique)


def packed_arrays(keys: MovedColumn, columns: Sequence[MovedColumn]) -> bytes:
    """Return the bytes of an ``Arrays`` of device_plan.cuh."""
    empty = bytes(len(keys.packed)) * (MAX_COLUMNS - len(columns))
    return keys.packed + b"".join(column.packed for column in columns) + empty + struct.pack("<2I", len(columns), 0)


def row_bytes(count: int) -> int:
    """Return the bytes of a row number if there are `count` rows."""
    return 4 if count <= MAX_U32_ROWS else 8


class SortContext:
    """The launcher and sizes that all parts of one sort share, and launches over all its items.

    Parameters
    ----------
    launcher
        Runs the kernels.
    count
        Number of keys.
    multiprocessors
        Number of multiprocessors of the device.
    """

    def __init__(self, launcher: Launcher, count: int, multiprocessors: int) -> None:
        self.launcher = launcher
        self.count = count
        self.multiprocessors = multiprocessors

    def blocks(self, items: int, block_items: int = THREADS) -> int:
        """Return the blocks of a grid-stride loop over `items` items."""
        return max(1, min(-(-items // block_items), self.multiprocessors * _BLOCKS_PER_MULTIPROCESSOR))

    def gather(self, rows: DeviceBuffer | None, source: DeviceBuffer, target: DeviceBuffer, width: int) -> None:
        """Copy the items at `rows` to consecutive places; without `rows`, copy all items."""
        shape = Shape(_GATHER_DEFINES, self.blocks(self.count), THREADS)
        self.launcher.launch(_GATHER, shape, (rows, row_bytes(self.count), self.count, source, target, width))

    def convert_rows(self, rows: DeviceBuffer | None, target: DeviceBuffer, width: int) -> None:
        """Write row numbers in another width; without `rows`, write 0, 1, 2, ..."""
        shape = Shape(_GATHER_DEFINES, self.blocks(self.count), THREADS)
        self.launcher.launch(_CONVERT_ROWS, shape, (rows, row_bytes(self.count), self.count, target, width))
