"""A multisplit by one bucket after the other: what is left is split into the next bucket and the rest.

(Dissertation of Ashkiani 2017, section 3.3, "iterative split": a baseline that moves keys as often as there are buckets.)
"""

from __future__ import annotations

import struct
from functools import cache

import numpy as np  # a dependency of cuda-core

from headrace.arrange.multisplit.gpu.launches import DIGIT_BITS, Column, Pass, Splitter, bits_pass
from headrace.gpu.kernels.launcher import Entry, Part, Room, Shape
from headrace.primitives.copy import COPY_THREADS, COPY_TILE, blocks_of

_COPY = Entry("primitives/copy.cu", "copy_items", "PPq")
_EVEN = 3
"""As rules.hpp has it."""


def split_iteratively(splitter: Splitter, columns: list[Column], count: int, offsets: Room) -> None:
    """Split `columns`, the first of which are labels of 4 bytes below `count`, 256 at most; the host waits once, for offsets.

    Parameters
    ----------
    splitter, columns, count
        What is split, and by how many buckets.
    offsets
        Where the buckets' places go.
    """
    launcher = splitter.launcher
    by_bits = bits_pass("u32", 0, DIGIT_BITS)
    splitter.starts(_counted(by_bits, count), columns[0].source, offsets)
    starts = launcher.fetch(offsets).view(np.int64).tolist()
    rooms = [column.target for column in columns], [launcher.room(column.target.nbytes) for column in columns]
    at = [column.source for column in columns]
    for bucket in range(max(1, count - 1)):
        left = starts[-1] - starts[bucket]
        if not left:
            break
        to = rooms[bucket % 2]
        moved = [_behind(Column(a, b, column.width), starts[bucket]) for a, b, column in zip(at, to, columns, strict=True)]
        Splitter(launcher, left, splitter.shapes).run(_peeling(bucket), moved, None)
        at = list(to)
    # A bucket lies where its round put it, and the last where the round before did.
    for bucket in range(1, count):
        if min(bucket, count - 2) % 2 and starts[bucket + 1] > starts[bucket]:
            for column, room in zip(columns, rooms[1], strict=True):
                _copy(splitter, Column(room, column.target, column.width), starts[bucket], starts[bucket + 1])


def _counted(by: Pass, count: int) -> Pass:
    return Pass(by.key, by.rule, by.digit, count, least_bits=DIGIT_BITS)


def _peeling(bucket: int) -> Pass:
    """Labels from a bucket on: the bucket is digit 0, all others are 1. A part of width 1, and what is outside of it."""
    return Pass("u32", "AnyOf", struct.pack("<Q4I2I", 0, bucket, 0, 1, _EVEN, 1, 0), 2)


def _behind(column: Column, first: int) -> Column:
    begin = first * column.width
    return Column(Part(column.source, begin), Part(column.target, begin), column.width)


def _copy(splitter: Splitter, column: Column, first: int, end: int) -> None:
    nbytes = (end - first) * column.width
    part = _behind(column, first)
    shape = Shape(_copy_defines(column.width), blocks_of(nbytes, COPY_TILE), COPY_THREADS)
    splitter.launcher.launch(_COPY, shape, (part.source, part.target, end - first))


@cache
def _copy_defines(width: int) -> dict[str, int]:
    return {"HR_WIDTH": width}
