"""A multisplit on a GPU: which passes it takes, and what they move."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np  # a dependency of cuda-core

from headrace.arrange.bucket.functions import Rule
from headrace.arrange.bucket.key_types import key_type, word_of
from headrace.arrange.gather.byte_items import new_like
from headrace.arrange.gather.take import WIDTHS
from headrace.arrange.gather.take_gpu import Taker
from headrace.arrange.multisplit.gpu.labels import find_buckets, labelled, text_of
from headrace.arrange.multisplit.gpu.launches import (
    DIGIT_BITS,
    LOOK_BACK_KEYS,
    MOST_BY_WARPS,
    Column,
    Pass,
    Shapes,
    Splitter,
    bits_pass,
)
from headrace.arrange.multisplit.multisplit import strays_error
from headrace.arrange.multisplit.paper.iterative import split_iteratively
from headrace.arrays.arrays import Array
from headrace.arrays.placement import empty_like, in_stream_of
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.core.errors import OptionError
from headrace.gpu.device.device import LARGE_BLOCKS, gpu
from headrace.gpu.kernels.launcher import Entry, GpuLauncher, Part, Room, Shape

_PAD_THREADS = 256
_PAD = Entry("arrange/gather/take.cu", "pad_items", "PQIP")
_PAD_DEFINES: dict[str, Any] = {"HR_ROW": "u32", "HR_THREADS": _PAD_THREADS}
Run = Callable[[Pass, Sequence[Column], Room | None], Room]


def split_on_gpu(
    arrays: Sequence[Array], rule: Rule, strategy: str | None, context: Context, budget: Budget
) -> tuple[list[Array], Array]:
    """Results for the keys and each array of values, and the offsets."""
    source = arrays[0]
    for array in arrays:
        if array.length and array.width in WIDTHS and array.address % array.width:
            raise OptionError(f"items of {array.width} bytes must begin at a multiple of that in memory; pass a copy")
    results = [new_like(array, budget) for array in arrays]
    offsets = empty_like(source, rule.count + 1, "<i8", budget)
    card = gpu(source.device)
    with card.current(), in_stream_of(source, *arrays[1:], *results, offsets):
        launcher = GpuLauncher(card, stream=source.stream, budget=budget, crossings=context.crossings)
        splitter = Splitter(launcher, source.length, shapes_of(card.multiprocessors, card.capability))
        columns = [Column(a, b, a.width) for a, b in zip(arrays, results, strict=True)]
        split_any(splitter, (key_type(source.typestr), rule), columns, offsets, strategy)
    return results, offsets


def partition_on_gpu(
    source: Array, bits: tuple[int, int], results: tuple[Array, Array], context: Context, budget: Budget
) -> None:
    """Keys by a digit, in no order within it; `results` are for the keys and for where digits begin."""
    made, offsets = results
    card = gpu(source.device)
    with card.current(), in_stream_of(source, *results):
        launcher = GpuLauncher(card, stream=source.stream, budget=budget, crossings=context.crossings)
        if source.length == 0:
            return launcher.fill(offsets, 0)
        splitter = Splitter(launcher, source.length, shapes_of(card.multiprocessors, card.capability))
        low, high = bits
        by = replace(bits_pass(f"u{8 * source.width}", low, high), least_bits=DIGIT_BITS)
        cursors, _ = splitter.starts(by, source, offsets)
        return splitter.run_by_reserving(by, Column(source, made, source.width), cursors)


_ALONE_OF_SMALL = 512, 16, 2
"""For a card whose blocks have less room."""


@cache
def shapes_of(multiprocessors: int, capability: tuple[int, int]) -> Shapes:
    """Sizes for a card with so many, of a compute capability."""
    shapes = replace(Shapes(), multiprocessors=multiprocessors)
    return shapes if capability in LARGE_BLOCKS else replace(shapes, alone=_ALONE_OF_SMALL)


def split_any(splitter: Splitter, by: tuple[str, Rule], columns: list[Column], offsets: Room, strategy: str | None) -> None:
    """As `split`, of columns of any width: of widths that kernels do not move, rows are taken by their numbers.

    Raises
    ------
    OptionError
        As there.
    """
    if columns[0].width not in WIDTHS:  # numbers of 16 bytes tell the buckets, and the keys go with them
        keys = columns[0]
        wide, ordered = (splitter.launcher.room(16 * splitter.count) for _ in range(2))
        if splitter.count:
            shape = Shape(_PAD_DEFINES, -(-splitter.count // _PAD_THREADS), _PAD_THREADS)
            splitter.launcher.launch(_PAD, shape, (keys.source, splitter.count, keys.width, wide))
        columns = [Column(wide, ordered, 16), *columns]
    moved = [column for column in columns if column.width in WIDTHS]
    taken = [column for column in columns if column.width not in WIDTHS]
    if not taken:
        return split(splitter, by, columns, offsets, strategy)
    rows = Taker.of_all(splitter.launcher, splitter.count)
    ordered = splitter.launcher.room(rows.rows.nbytes)
    split(splitter, by, [*moved, Column(rows.rows, ordered, rows.width)], offsets, strategy)
    taker = Taker(splitter.launcher, ordered, splitter.count, rows.width)
    for column in taken:
        taker.items(column.source, column.width, column.target)
    return None


def split(splitter: Splitter, by: tuple[str, Rule], columns: list[Column], offsets: Room, strategy: str | None) -> None:
    """Split `columns`, the first of which are keys of the type and rule `by`, and put where buckets begin to `offsets`.

    Raises
    ------
    OptionError
        Keys are in no bucket; or the strategy cannot do it.
    """
    key, rule = by
    if rule.name == "Computed":
        key = word_of(key)
    if splitter.count == 0:
        return splitter.launcher.fill(offsets, 0)
    _check_strategy(splitter, rule, strategy)
    passes = _direct(key, rule)
    if passes is not None and _splits_keys(strategy, passes):
        strays = _by_keys(splitter, passes, rule, columns, (offsets, _runner(splitter, strategy)))
    else:
        with_labels, strays = labelled(splitter, (key, rule), columns, strategy)
        if strategy == "iterative":
            split_iteratively(splitter, with_labels, rule.count, offsets)
        else:
            _by_labels(splitter, with_labels, rule.count, (offsets, strategy))
    if not rule.is_total:
        found = int(splitter.launcher.fetch(strays).view(np.uint64)[0])
        if found:
            raise strays_error(rule, found)
    return None


def _check_strategy(splitter: Splitter, rule: Rule, strategy: str | None) -> None:
    if strategy in {"direct", "warp"} and rule.count > MOST_BY_WARPS:
        raise OptionError(f"strategy {strategy!r} is for up to {MOST_BY_WARPS} buckets, not {rule.count}")
    if strategy == "iterative" and rule.count > 1 << DIGIT_BITS:
        raise OptionError(f"strategy 'iterative' is for up to {1 << DIGIT_BITS} buckets, not {rule.count}")
    if strategy == "look_back" and splitter.count > LOOK_BACK_KEYS:
        raise OptionError(f"strategy 'look_back' is for up to 2**30 keys, not {splitter.count:_}")


def _splits_keys(strategy: str | None, passes: Sequence[Pass]) -> bool:
    """Whether a strategy has kernels for keys as they are; otherwise it splits their labels."""
    if strategy in {None, "block"}:
        return True
    by_bits = all(by.rule == "BitsOf" for by in passes)
    if strategy == "look_back":
        return by_bits
    return strategy in {"direct", "warp"} and by_bits and passes[0].key == "u32"


def _runner(splitter: Splitter, strategy: str | None) -> Run:
    """What runs a pass by a strategy."""
    if strategy == "look_back":
        return splitter.run_by_look_back
    if strategy in {"direct", "warp"}:
        reorders = strategy == "warp"
        return lambda by, moved, offsets: splitter.run_by_warps(by, moved, offsets, reorders=reorders)
    return splitter.run


def _direct(key: str, rule: Rule) -> list[Pass] | None:
    """The passes over keys as they are; None where labels have to be made."""
    what = rule.description
    if rule.name == "BitsOf" and word_of(key) in {"u32", "u64"} and isinstance(what, bytes):
        low, mask = struct.unpack("<II", what)
        high = low + mask.bit_length()
        return [bits_pass(word_of(key), at, min(high, at + DIGIT_BITS)) for at in range(low, high, DIGIT_BITS)]
    if rule.count > 1 << DIGIT_BITS:
        return None
    tail = struct.pack("<2I", rule.count - 1, 0)
    if rule.name == "AnyOf" and key in {"u32", "u64"} and isinstance(what, bytes):
        return [Pass(key, "AnyOf", what + tail, rule.count)]
    if rule.name == "Computed" and key in {"u32", "u64"}:
        return [Pass(key, "Computed", struct.pack("<2I", rule.count, 0) + tail, rule.count, text_of(rule))]
    return None


def _by_keys(splitter: Splitter, passes: list[Pass], rule: Rule, columns: list[Column], how: tuple[Room, Run]) -> Room:
    """Returns the number of keys in no bucket."""
    offsets, run = how
    totals = _run_all(splitter, passes, columns, run, offsets if len(passes) == 1 else None)
    if len(passes) > 1:
        assert isinstance(rule.description, bytes)
        digit = rule.description + struct.pack("<2I", rule.count - 1, 0)
        find_buckets(splitter, (passes[0].key, "BitsOf", digit), columns[0].target, rule.count, offsets)
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


def _by_labels(splitter: Splitter, columns: list[Column], count: int, how: tuple[Room, str | None]) -> None:
    """Labels, the first of `columns`, are sorted digit by digit; keys and values go with them."""
    offsets, strategy = how
    each = 1 if strategy == "recursive" else DIGIT_BITS
    bits = max(1, (count - 1).bit_length())
    word = f"u{8 * columns[0].width}"
    passes = [bits_pass(word, at, min(bits, at + each)) for at in range(0, bits, each)]
    if len(passes) == 1:
        passes = [replace(passes[0], count=count)]
    _run_all(splitter, passes, columns, _runner(splitter, strategy), offsets if len(passes) == 1 else None)
    if len(passes) > 1:
        by_label = struct.pack("<Q4I2I", 0, 0, 0, count, 0, count - 1, 0)
        find_buckets(splitter, (word, "AnyOf", by_label), columns[0].target, count, offsets)
