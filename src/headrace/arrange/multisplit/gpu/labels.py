"""Launches label.cu: writes the bucket of each key as a label, and finds the start of each bucket in sorted keys."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np  # a dependency of cuda-core

from headrace.arrange.bucket.buckets import Edges
from headrace.arrange.bucket.functions import Computing, Rule
from headrace.arrange.bucket.layouts import rule_layout
from headrace.arrange.gather.moved_items import MovedItems
from headrace.arrange.histogram.tuning import CELLS_GPU, THREADS, histogram_defines
from headrace.arrange.multisplit.gpu.launches import BUCKET_LIMIT, Splitter, digit_bytes
from headrace.arrange.multisplit.gpu.strategy import BlockStrategy, Bucketing
from headrace.arrange.multisplit.gpu.tuning import LABEL_THREADS
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Shape

_BLOCKS_PER_MULTIPROCESSOR = 16


class DigitRule(NamedTuple):
    """Type of the keys and name of the rule, as the kernels name them, and the bytes of a ``Digit``."""

    key: str
    rule: str
    digit: bytes


def text_of(rule: Rule) -> str:
    """Return the C expression of a rule ``"Computed"``."""
    assert isinstance(rule.description, Computing)
    return rule.description.as_c()


def computed_digit(rule: Rule) -> bytes:
    """Return the bytes of a ``Digit`` of a rule ``"Computed"``."""
    return digit_bytes(BUCKET_LIMIT.pack(rule.count, 0), rule.count)


def labelled(
    splitter: Splitter, bucketing: Bucketing, columns: list[MovedItems], strategy: BlockStrategy
) -> tuple[list[MovedItems], DeviceBuffer]:
    """Return a column of labels followed by `columns`, and the number of keys in no bucket."""
    key, rule = bucketing
    width = strategy.label_bytes(max(1, (rule.count - 1).bit_length()))
    launcher = splitter.launcher
    labels, ordered = (launcher.allocate(splitter.capacity * width) for _ in range(2))
    unbucketed = launcher.allocate(8, fill=0)
    digit, _held = _digit(splitter, key, rule)
    bucket = text_of(rule) if rule.name == "Computed" else ""
    shape = Shape(_label_defines(key, bucket), _blocks(splitter, splitter.capacity), LABEL_THREADS)
    args = (columns[0].source, splitter.count, digit, labels, width, unbucketed)
    launcher.launch(_entry(f"label_{rule.name}", f"PQ{len(digit)}sPIP"), shape, args)
    return [MovedItems(labels, ordered, width), *columns], unbucketed


def _digit(splitter: Splitter, key: str, rule: Rule) -> tuple[bytes, list[DeviceBuffer]]:
    """Return the bytes of a ``Digit``, and the buffers that must stay alive while it is used."""
    described = rule.description
    if isinstance(described, bytes):
        return digit_bytes(described, rule.count), []
    if not isinstance(described, Edges):
        return computed_digit(rule), []
    between = rule_layout("BetweenOf", np.dtype("V16") if key == "WideKey" else described.given.dtype)
    edges = splitter.launcher.put(described.wide)
    if key == "WideKey":
        return digit_bytes(between.pack(edges.address, rule.count, 0), rule.count), [edges]
    cells = described.cells(CELLS_GPU)
    words = splitter.launcher.allocate((CELLS_GPU + 1) * 4)
    shape = Shape(_cells_defines(key), CELLS_GPU // THREADS + 1, THREADS)
    splitter.launcher.launch(_cells_entry(len(cells)), shape, (cells, edges, words))
    return digit_bytes(between.pack(cells, words.address, edges.address), rule.count), [edges, words]


def find_buckets(splitter: Splitter, by: DigitRule, keys: DeviceBuffer, count: int, offsets: DeviceBuffer) -> None:
    """Find the start of each bucket, and the end, in keys that are sorted by bucket.

    `keys`, `count`, `offsets`: the keys, the number of buckets, and the buffer for the result.
    """
    key, rule, digit = by
    shape = Shape(_label_defines(key), _blocks(splitter, count + 1), LABEL_THREADS)
    args = (keys, splitter.count, digit, count, offsets)
    splitter.launcher.launch(_entry(f"find_buckets_{rule}", f"PQ{len(digit)}sIP"), shape, args)


def _blocks(splitter: Splitter, items: int) -> int:
    return min(-(-items // LABEL_THREADS), splitter.tuning.multiprocessors * _BLOCKS_PER_MULTIPROCESSOR)


@cache
def _entry(name: str, signature: str) -> Entry:
    return Entry("arrange/multisplit/gpu/label.cu", name, signature)


@cache
def _cells_entry(nbytes: int) -> Entry:
    return Entry("arrange/histogram/histogram.cu", "histogram_cells", f"{nbytes}sPP")


@cache
def _cells_defines(key: str) -> dict[str, Any]:
    return histogram_defines(key)


@lru_cache(256)
def _label_defines(key: str, bucket: str = "") -> dict[str, Any]:
    defines: dict[str, Any] = {"HR_KEY": key, "HR_THREADS": LABEL_THREADS}
    return {**defines, "HR_BUCKET": bucket} if bucket else defines
