"""Splits keys one bucket at a time: each round separates the next bucket from the remaining keys.

This is the "iterative split" of Ashkiani's dissertation (2017, section 3.3), a baseline that moves each key once per bucket.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np  # a dependency of cuda-core

from headrace.arrange.bucket.described import RULE_KINDS
from headrace.arrange.bucket.layouts import rule_layout
from headrace.arrange.gather.moved_items import MovedItems
from headrace.arrange.multisplit.gpu.launches import Pass, Splitter, bits_pass, digit_bytes
from headrace.arrange.multisplit.gpu.tuning import DIGIT_BITS
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Entry, Shape
from headrace.primitives.copy import COPY_THREADS, COPY_TILE, blocks_of

_COPY = Entry("primitives/copy.cu", "copy_items", "PPq")


def split_iteratively(splitter: Splitter, columns: list[MovedItems], count: int, offsets: DeviceBuffer) -> None:
    """Split columns by labels; the host waits once, for the offsets.

    `columns`: labels of 4 bytes, followed by the columns that move with them.
    `count`: number of buckets, at most 256.
    `offsets`: buffer for the start of each bucket and the end.
    """
    launcher = splitter.launcher
    counting = replace(bits_pass("u32", 0, DIGIT_BITS), count=count, min_bits=DIGIT_BITS)
    splitter.starts(counting, columns[0].source, offsets)
    starts = launcher.fetch(offsets).view(np.int64).tolist()
    buffers = [column.target for column in columns], [launcher.allocate(column.target.nbytes) for column in columns]
    sources = [column.source for column in columns]
    for bucket in range(max(1, count - 1)):
        left = starts[-1] - starts[bucket]
        if not left:
            break
        targets = buffers[bucket % 2]
        pairs = zip(sources, targets, columns, strict=True)
        moved = [_from_item(MovedItems(source, target, column.width), starts[bucket]) for source, target, column in pairs]
        Splitter(launcher, left, splitter.tuning).run(_first_bucket_pass(bucket), moved, None)
        sources = list(targets)
    # Round `bucket` wrote that bucket to one of two sets of buffers; the last bucket is in the set of the last round.
    for bucket in range(1, count):
        if min(bucket, count - 2) % 2 and starts[bucket + 1] > starts[bucket]:
            for column, buffer in zip(columns, buffers[1], strict=True):
                _copy(splitter, MovedItems(buffer, column.target, column.width), starts[bucket], starts[bucket + 1])


def _first_bucket_pass(bucket: int) -> Pass:
    """Return the pass that gives labels of `bucket` digit 0 and all higher labels digit 1: an even part of width 1."""
    rule = rule_layout("AnyOf", np.dtype("u4")).pack(0, bucket, 0, 1, RULE_KINDS["even"])
    return Pass("u32", "AnyOf", digit_bytes(rule, 2), 2)


def _from_item(column: MovedItems, first: int) -> MovedItems:
    begin = first * column.width
    return MovedItems(BufferSlice(column.source, begin), BufferSlice(column.target, begin), column.width)


def _copy(splitter: Splitter, column: MovedItems, first: int, end: int) -> None:
    nbytes = (end - first) * column.width
    part = _from_item(column, first)
    shape = Shape(_copy_defines(column.width), blocks_of(nbytes, COPY_TILE), COPY_THREADS)
    splitter.launcher.launch(_COPY, shape, (part.source, part.target, end - first))


@cache
def _copy_defines(width: int) -> dict[str, int]:
    return {"HR_WIDTH": width}
