"""Launches label.cu: the bucket of each key as a label, and where each bucket begins in sorted keys."""

from __future__ import annotations

import struct
from functools import cache, lru_cache
from typing import Any

from headrace.arrange.bucket.buckets import Edges
from headrace.arrange.bucket.functions import Computing, Rule
from headrace.arrange.multisplit.gpu.launches import DIGIT_BITS, Column, Splitter
from headrace.gpu.kernels.launcher import Entry, Room, Shape

_CELLS = 14_500
_LABEL_THREADS = 256
_BLOCKS_OF_MULTIPROCESSOR = 16
_CELLS_THREADS = 1024


def text_of(rule: Rule) -> str:
    """Of a ``Computed`` its expression for a kernel."""
    assert isinstance(rule.description, Computing)
    return rule.description.as_c()


def labelled(splitter: Splitter, by: tuple[str, Rule], columns: list[Column], strategy: str | None) -> tuple[list[Column], Room]:
    """The bucket of each key as a column before the others; and how many keys are in none."""
    key, rule = by
    bits = max(1, (rule.count - 1).bit_length())
    # Those that are not split by blocks are words of 4 bytes, for which there are kernels of every strategy.
    width = 4 if strategy not in {None, "block", "reduced_bit"} or bits > 16 else 2 if bits > DIGIT_BITS else 1
    launcher = splitter.launcher
    labels, ordered = (launcher.room(splitter.count * width) for _ in range(2))
    strays = launcher.room(8, fill=0)
    digit, _held = _digit(splitter, key, rule)
    bucket = text_of(rule) if rule.name == "Computed" else ""
    shape = Shape(_label_defines(key, rule.name, bucket), _blocks(splitter, splitter.count), _LABEL_THREADS)
    args = (columns[0].source, splitter.count, digit, labels, width, strays)
    launcher.launch(_entry("label", f"PQ{len(digit)}sPIP"), shape, args)
    return [Column(labels, ordered, width), *columns], strays


def _digit(splitter: Splitter, key: str, rule: Rule) -> tuple[bytes, list[Room]]:
    """A ``Digit``, and what must be held as long as it is used."""
    what, tail = rule.description, struct.pack("<2I", rule.count - 1, 0)
    if isinstance(what, bytes):
        return what + tail, []
    if not isinstance(what, Edges):
        return struct.pack("<2I", rule.count, 0) + tail, []
    edges = splitter.launcher.put(what.wide)
    if key == "Wide":
        return struct.pack("<Q2I", edges.address, rule.count, 0) + tail, [edges]
    cells = what.cells(_CELLS)
    words = splitter.launcher.room((_CELLS + 1) * 4)
    shape = Shape(_cells_defines(key), _CELLS // _CELLS_THREADS + 1, _CELLS_THREADS)
    splitter.launcher.launch(_cells_entry(len(cells)), shape, (cells, edges, words))
    return cells + struct.pack("<2Q", words.address, edges.address) + tail, [edges, words]


def find_buckets(splitter: Splitter, by: tuple[str, str, bytes], keys: Room, count: int, offsets: Room) -> None:
    """Where each of `count` buckets begins in keys that are in their order, and the end, to `offsets`.

    Parameters
    ----------
    splitter, by, keys, count, offsets
        `by`: type of the keys and name of the rule in the sources, and a ``Digit``.
    """
    key, rule, digit = by
    shape = Shape(_label_defines(key, rule, ""), _blocks(splitter, count + 1), _LABEL_THREADS)
    args = (keys, splitter.count, digit, count, offsets)
    splitter.launcher.launch(_entry("find_buckets", f"PQ{len(digit)}sIP"), shape, args)


def _blocks(splitter: Splitter, items: int) -> int:
    return min(-(-items // _LABEL_THREADS), splitter.shapes.multiprocessors * _BLOCKS_OF_MULTIPROCESSOR)


@cache
def _entry(name: str, signature: str) -> Entry:
    return Entry("arrange/multisplit/gpu/label.cu", name, signature)


@cache
def _cells_entry(nbytes: int) -> Entry:
    return Entry("arrange/histogram/histogram_between.cu", "histogram_cells", f"{nbytes}sPP")


@cache
def _cells_defines(key: str) -> dict[str, Any]:
    return {"HR_KEY": key, "HR_THREADS": _CELLS_THREADS, "HR_ROWS": 2 if key == "u8" else 4}


@lru_cache(256)
def _label_defines(key: str, rule: str, bucket: str) -> dict[str, Any]:
    found: dict[str, Any] = {"HR_KEY": key, "HR_RULE": rule, "HR_THREADS": _LABEL_THREADS}
    return {**found, "HR_BUCKET": bucket} if bucket else found
