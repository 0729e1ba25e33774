"""Rows of a column on a GPU by class, null, false and true: launches of null_partition.cu."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np  # a dependency of cuda-core
from numpy.typing import NDArray

from headrace.columns.column import Column
from headrace.gpu.kernels.launcher import Entry, Launcher, Room, Shape

_FILE = "arrange/sort/gpu/null_partition.cu"
_COUNT = Entry(_FILE, "count_classes", "48sP")
_SPLIT = Entry(_FILE, "split_classes", "48sPI40s")
_PUT = Entry(_FILE, "put_classes", "48sPIPQI")
_WORD_ROWS = 32
_COUNTS = 3
"""Words of a ``ChunkCounts``."""


@dataclass(frozen=True, slots=True)
class ClassShape:
    """Threads of a block, and blocks of a grid at most; tests have fewer."""

    threads: int = 256
    blocks: int = 528


class Packed(NamedTuple):
    """Items of rows, what gets those of rows that are not null side by side, and bytes of one: 1, 2, 4 or 8."""

    source: Room
    target: Room
    width: int


class RowClasses:
    """Rows of a column by class.

    Parameters
    ----------
    launcher
        Where it runs.
    column
        Its rows are null or not; of bools they are null, false or true.
    nulls_first, descending
        The order of the classes: whether null rows come before all others, and true ones before false ones.
    shape
        Of the kernels.
    """

    def __init__(
        self, launcher: Launcher, column: Column, *, nulls_first: bool, descending: bool, shape: ClassShape | None = None
    ) -> None:
        self.launcher = launcher
        self._column = column
        self._nulls_first = nulls_first
        self._shape = shape or ClassShape()
        tile = self._shape.threads * _WORD_ROWS
        chunk = -(-column.length // (self._shape.blocks * tile)) * tile
        self._chunks = -(-column.length // max(chunk, tile))
        parts: Any = column  # its buffers are rooms
        validity = 0 if parts.validity is None else parts.validity.address
        truths = parts.values.address if column.type.name == "bool" else 0
        self._rows = struct.pack("<5Q2I", validity, truths, column.offset, column.length, chunk, nulls_first, descending)

    @cached_property
    def _counts(self) -> Room:
        counts = self.launcher.room(self._chunks * _COUNTS * 8)
        self._launch(_COUNT, self._chunks, counts)
        return counts

    @cached_property
    def _fetched(self) -> NDArray[np.uint64]:
        """For each chunk its rows of the first class and of the second, and whether one is before a row of an earlier class."""
        return self.launcher.fetch(self._counts).view(np.uint64).reshape(-1, _COUNTS)

    @cached_property
    def nulls(self) -> int:
        """How many rows are null; where nobody has counted them the host waits."""
        if self._column.null_count >= 0:
            return self._column.null_count
        first, second = self._fetched[:, :2].sum(axis=0, dtype=np.uint64).tolist()
        return int(first if self._nulls_first else self._column.length - first - second)

    def are_in_order(self) -> bool:
        """Whether no row is before one of an earlier class; the host waits."""
        return not self._fetched[:, 2].any()

    def split(self, keys: Packed | None, places: tuple[Room, int] | None, *, limit: int | None = None) -> None:
        """Put rows where they go, classes in their order and rows of one class in theirs.

        Parameters
        ----------
        keys
            What the rows hold and what gets it of those that are not null; None where nobody wants it.
        places
            What gets the rows' numbers, and bytes of one, 4 or 8; None where nobody wants them.
        limit
            How many numbers are wanted; None for all.
        """
        source, target, width = (0, 0, 1) if keys is None else (keys.source.address, keys.target.address, keys.width)
        numbers, number_width = (0, 0) if places is None else (places[0].address, places[1])
        wanted = self._column.length if limit is None else limit
        split = struct.pack("<4Q2I", source, target, numbers, wanted, width, number_width)
        self._launch(_SPLIT, self._chunks, self._counts, self._chunks, split)

    def bits(self, count: int, *, of_truths: bool) -> Room:
        """For each of the first `count` rows in their order whether it is true, or whether it is not null, as whole words."""
        words = -(-count // _WORD_ROWS)
        made = self.launcher.room(words * 4)
        blocks = min(-(-words // self._shape.threads), self._shape.blocks)
        self._launch(_PUT, blocks, self._counts, self._chunks, made, count, int(of_truths))
        return made

    def _launch(self, entry: Entry, blocks: int, *args: Any) -> None:
        if blocks:
            shape = Shape(_defines(self._shape.threads), blocks, self._shape.threads)
            self.launcher.launch(entry, shape, (self._rows, *args))


@cache
def _defines(threads: int) -> dict[str, int]:
    return {"HR_THREADS": threads}
