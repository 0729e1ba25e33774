"""A multisplit on a GPU: which passes it takes, and what they move."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

import numpy as np  # a dependency of cuda-core

from headrace.arrange.bucket.buckets import Edges
from headrace.arrange.bucket.functions import Rule, key_type
from headrace.arrange.multisplit.multisplit import strays_error
from headrace.arrange.multisplit.split_gpu import DIGIT_BITS, LOOK_BACK_KEYS, Column, Pass, Shapes, Splitter, bits_pass
from headrace.core.arrays import Array
from headrace.core.context import Context
from headrace.core.errors import OptionError
from headrace.core.gpu.card import gpu
from headrace.core.gpu.device_memory import Budget
from headrace.core.gpu.launcher import Entry, GpuLauncher, Part, Room, Shape
from headrace.core.placement import empty_like, in_stream_of

_CELLS = 14_500
_LABEL_THREADS = 256
_BLOCKS_OF_MULTIPROCESSOR = 16
_CELLS_THREADS = 1024
Run = Callable[[Pass, Sequence[Column], Room | None], Room]


def split_on_gpu(
    arrays: Sequence[Array], rule: Rule, strategy: str | None, context: Context, budget: Budget
) -> tuple[list[Array], Array]:
    """Results for the keys and each array of values, and the offsets."""
    source = arrays[0]
    results = [empty_like(array, array.length, budget=budget) for array in arrays]
    offsets = empty_like(source, rule.count + 1, "<i8", budget)
    with in_stream_of(source, *arrays[1:]):
        card = gpu(source.device)
        launcher = GpuLauncher(card, stream=source.stream, budget=budget, crossings=context.crossings)
        splitter = Splitter(launcher, source.length, _shapes(card.multiprocessors))
        columns = [Column(a, b, a.width) for a, b in zip(arrays, results, strict=True)]
        split(splitter, (key_type(source.typestr), rule), columns, offsets, strategy)
    return results, offsets


def partition_on_gpu(
    source: Array, bits: tuple[int, int], results: tuple[Array, Array], context: Context, budget: Budget
) -> None:
    """Keys by a digit, in no order within it; `results` are for the keys and for where digits begin."""
    made, offsets = results
    with in_stream_of(source):
        card = gpu(source.device)
        launcher = GpuLauncher(card, stream=source.stream, budget=budget, crossings=context.crossings)
        if source.length == 0:
            return launcher.fill(offsets, 0)
        splitter = Splitter(launcher, source.length, _shapes(card.multiprocessors))
        low, high = bits
        by = replace(bits_pass(f"u{8 * source.width}", low, high), least_bits=DIGIT_BITS)
        cursors, _ = splitter.starts(by, source, offsets)
        return splitter.run_by_reserving(by, Column(source, made, source.width), cursors)


@cache
def _shapes(multiprocessors: int) -> Shapes:
    return replace(Shapes(), multiprocessors=multiprocessors)


def split(splitter: Splitter, by: tuple[str, Rule], columns: list[Column], offsets: Room, strategy: str | None) -> None:
    """Split `columns`, the first of which are keys of the type and rule `by`, and put where buckets begin to `offsets`.

    Raises
    ------
    OptionError
        Keys are in no bucket; or the strategy cannot do it.
    """
    key, rule = by
    if splitter.count == 0:
        return splitter.launcher.fill(offsets, 0)
    passes = _direct(key, rule)
    if passes is not None and strategy not in {"reduced_bit", "recursive"}:
        strays = _by_keys(splitter, passes, rule, columns, (offsets, _runner(splitter, passes, columns, strategy)))
    elif strategy in {None, "reduced_bit", "recursive"}:
        strays = _by_labels(splitter, by, columns, offsets, recursive=strategy == "recursive")
    else:
        raise OptionError(f"strategy {strategy!r} is for functions of keys of 4 and 8 bytes, and up to 256 buckets")
    if not rule.is_total:
        found = int(splitter.launcher.fetch(strays).view(np.uint64)[0])
        if found:
            raise strays_error(rule, found)
    return None


def _runner(splitter: Splitter, passes: Sequence[Pass], columns: Sequence[Column], strategy: str | None) -> Run:
    """What runs a pass by a strategy."""
    of_words = all(by.key == "u32" and by.rule == "BitsOf" for by in passes)
    if strategy == "look_back":
        if not of_words or splitter.count > LOOK_BACK_KEYS:
            raise OptionError("strategy 'look_back' is for bits() of up to 2**30 keys of 4 bytes")
        return splitter.run_by_look_back
    if strategy in {"direct", "warp"}:
        fits = all(column.width in {4, 8} for column in columns) and all(by.bits <= 5 for by in passes)
        if not of_words or not fits:
            raise OptionError(f"strategy {strategy!r} is for bits() of up to 32 buckets, keys of 4 bytes, values of 4 and 8")
        reorders = strategy == "warp"
        return lambda by, moved, offsets: splitter.run_by_warps(by, moved, offsets, reorders=reorders)
    return splitter.run


def _direct(key: str, rule: Rule) -> list[Pass] | None:
    """The passes over keys as they are; None where labels have to be made."""
    what = rule.description
    if rule.name == "BitsOf" and key not in {"u8", "u16"} and isinstance(what, bytes):
        low, mask = struct.unpack("<II", what)
        high = low + mask.bit_length()
        word = {"float": "u32", "double": "u64"}.get(key, key)
        return [bits_pass(word, at, min(high, at + DIGIT_BITS)) for at in range(low, high, DIGIT_BITS)]
    if rule.count > 1 << DIGIT_BITS:
        return None
    tail = struct.pack("<2I", rule.count - 1, 0)
    if rule.name == "AnyOf" and key in {"u32", "u64"} and isinstance(what, bytes):
        return [Pass(key, "AnyOf", what + tail, rule.count)]
    if rule.name == "Computed":
        return [Pass(key, "Computed", struct.pack("<2I", rule.count, 0) + tail, rule.count, _text(rule))]
    return None


def _text(rule: Rule) -> str:
    text: str = rule.description.as_c()  # type: ignore[union-attr]
    return text


def _by_keys(splitter: Splitter, passes: list[Pass], rule: Rule, columns: list[Column], how: tuple[Room, Run]) -> Room:
    """Returns the number of keys in no bucket."""
    offsets, run = how
    totals = _run_all(splitter, passes, columns, run, offsets if len(passes) == 1 else None)
    if len(passes) > 1:
        assert isinstance(rule.description, bytes)
        digit = rule.description + struct.pack("<2I", rule.count - 1, 0)
        _find_buckets(splitter, (passes[0].key, "BitsOf", digit), columns[0].target, rule.count, offsets)
    return Part(totals, totals.nbytes - 8)


def _run_all(splitter: Splitter, passes: list[Pass], columns: list[Column], run: Run, offsets: Room | None) -> Room:
    """All passes, the first of `columns` being their keys: to and fro, so that the last one puts items to their targets."""
    between = [splitter.launcher.room(splitter.count * column.width) for column in columns if len(passes) > 1]
    at = [column.source for column in columns]
    for left in reversed(range(len(passes))):
        to = [column.target for column in columns] if left % 2 == 0 else between
        moved = [Column(a, b, column.width) for a, b, column in zip(at, to, columns, strict=True)]
        totals = run(passes[len(passes) - 1 - left], moved, offsets)
        at = list(to)
    return totals


def _by_labels(splitter: Splitter, by: tuple[str, Rule], columns: list[Column], offsets: Room, *, recursive: bool) -> Room:
    """Labels are made and sorted, digit by digit; keys and values go with them."""
    key, rule = by
    each = 1 if recursive else DIGIT_BITS
    bits = max(1, (rule.count - 1).bit_length())
    width = 4 if recursive or bits > 16 else 2 if bits > DIGIT_BITS else 1
    launcher = splitter.launcher
    labels, ordered = (launcher.room(splitter.count * width) for _ in range(2))
    strays = launcher.room(8, fill=0)
    digit, _held = _digit(splitter, key, rule)
    bucket = _text(rule) if rule.name == "Computed" else ""
    shape = Shape(_label_defines(key, rule.name, bucket), _blocks(splitter, splitter.count), _LABEL_THREADS)
    args = (columns[0].source, splitter.count, digit, labels, width, strays)
    launcher.launch(_entry("label", f"PQ{len(digit)}sPIP"), shape, args)
    word = f"u{8 * width}"
    passes = [bits_pass(word, at, min(bits, at + each)) for at in range(0, bits, each)]
    if len(passes) == 1:
        passes = [replace(passes[0], count=rule.count)]
    all_columns = [Column(labels, ordered, width), *columns]
    _run_all(splitter, passes, all_columns, splitter.run, offsets if len(passes) == 1 else None)
    if len(passes) > 1:
        by_label = struct.pack("<Q4I2I", 0, 0, 0, rule.count, 0, rule.count - 1, 0)
        _find_buckets(splitter, (word, "AnyOf", by_label), ordered, rule.count, offsets)
    return strays


def _digit(splitter: Splitter, key: str, rule: Rule) -> tuple[bytes, list[Room]]:
    """A ``Digit``, and what must be held as long as it is used."""
    what, tail = rule.description, struct.pack("<2I", rule.count - 1, 0)
    if isinstance(what, bytes):
        return what + tail, []
    if not isinstance(what, Edges):
        return struct.pack("<2I", rule.count, 0) + tail, []
    cells = what.cells(_CELLS)
    edges = splitter.launcher.put(what.wide)
    words = splitter.launcher.room((_CELLS + 1) * 4)
    shape = Shape(_cells_defines(key), _CELLS // _CELLS_THREADS + 1, _CELLS_THREADS)
    splitter.launcher.launch(_cells_entry(len(cells)), shape, (cells, edges, words))
    return cells + struct.pack("<2Q", words.address, edges.address) + tail, [edges, words]


def _find_buckets(splitter: Splitter, by: tuple[str, str, bytes], keys: Room, count: int, offsets: Room) -> None:
    key, rule, digit = by
    shape = Shape(_label_defines(key, rule, ""), _blocks(splitter, count + 1), _LABEL_THREADS)
    args = (keys, splitter.count, digit, count, offsets)
    splitter.launcher.launch(_entry("find_buckets", f"PQ{len(digit)}sIP"), shape, args)


def _blocks(splitter: Splitter, items: int) -> int:
    return min(-(-items // _LABEL_THREADS), splitter.shapes.multiprocessors * _BLOCKS_OF_MULTIPROCESSOR)


@cache
def _entry(name: str, signature: str) -> Entry:
    return Entry("arrange/multisplit/label.cu", name, signature)


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
