"""Plans a multisplit on a GPU: the passes over keys or labels, and the buffers that items move between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np  # a dependency of cuda-core

from headrace.arrange.bucket.described import RULE_KINDS
from headrace.arrange.bucket.functions import Rule, unbucketed_error
from headrace.arrange.bucket.key_types import key_type, word_of
from headrace.arrange.bucket.layouts import rule_layout
from headrace.arrange.gather.byte_items import new_like
from headrace.arrange.gather.moved_items import MovedItems
from headrace.arrange.gather.take import WIDTHS
from headrace.arrange.gather.take_gpu import Taker
from headrace.arrange.gather.tuning import TAKE_THREADS, TAKE_TURNS
from headrace.arrange.multisplit.gpu.labels import DigitRule, computed_digit, find_buckets, labelled, text_of
from headrace.arrange.multisplit.gpu.launches import Pass, Splitter, bits_pass, digit_bytes
from headrace.arrange.multisplit.gpu.strategy import BLOCK_STRATEGY, BlockStrategy, Bucketing, Run
from headrace.arrange.multisplit.gpu.tuning import DIGIT_BITS, tuning_of
from headrace.arrays.arrays import Array
from headrace.arrays.placement import empty_like, in_stream_of
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.core.errors import OptionError
from headrace.core.size_class import size_class
from headrace.gpu.device.device import gpu
from headrace.gpu.kernels.launch_plan import LaunchPlan, PlanRecorder, RecordedBuffer, replayed
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Entry, GpuLauncher, Launcher, Shape

_PAD = Entry("arrange/gather/take.cu", "pad_items", "PQIP")
_PAD_DEFINES: dict[str, Any] = {"HR_ROW": "u32", "HR_THREADS": TAKE_THREADS, "HR_TURNS": TAKE_TURNS}


def split_on_gpu(
    arrays: Sequence[Array], rule: Rule, strategy: BlockStrategy, context: Context, budget: Budget
) -> tuple[list[Array], Array, LaunchPlan | None]:
    """Return the split keys and values, the offsets, and the plan that was replayed for all addresses in this order, if any.

    `arrays`: the keys, followed by the arrays of values.
    """
    source = arrays[0]
    for array in arrays:
        if array.length and array.width in WIDTHS and array.address % array.width:
            raise OptionError(f"items of {array.width} bytes must begin at a multiple of that in memory; pass a copy")
    results = [new_like(array, budget) for array in arrays]
    offsets = empty_like(source, rule.count + 1, "<i8", budget)
    card, bucketing = gpu(source.device), Bucketing(key_type(source.typestr), rule)
    widths = [array.width for array in arrays]
    used = [*arrays, *results, offsets]

    def launch(launcher: Launcher, buffers: Sequence[DeviceBuffer], count: int, capacity: int = 0) -> None:
        splitter = Splitter(launcher, count, tuning_of(card.multiprocessors, card.capability), capacity)
        columns = [MovedItems(*items) for items in zip(buffers, buffers[len(arrays) :], widths, strict=False)]
        split_any(splitter, bucketing, columns, buffers[-1], strategy)

    if budget.limit is None and _is_replayable(rule, strategy) and all(array.stream == source.stream for array in used):
        alike = size_class(source.length) if all(width in WIDTHS for width in widths) else range(0)
        key = split_any, alike or source.length, source.typestr, rule.name, rule.count, rule.description, *widths
        sizes = [array.nbytes for array in used]

        def record(recorder: PlanRecorder) -> None:
            launcher: Any = recorder  # a split copies nothing between host and device
            buffers: list[Any] = list(map(RecordedBuffer, recorder.addresses, sizes))
            launch(launcher, buffers, recorder.count or source.length, alike[-1] if alike else 0)

        addresses, count = [array.address for array in used], source.length if alike else 0
        plan = replayed(key, record, addresses, card, source.stream, count=count, counts=alike)
        if plan is not None:
            return results, offsets, plan
    with card.current(), in_stream_of(source, *used):
        launch(GpuLauncher(card, stream=source.stream, budget=budget, crossings=context.crossings), used, source.length)
    return results, offsets, None


def _is_replayable(rule: Rule, strategy: BlockStrategy) -> bool:
    """Return whether a split neither waits for the device nor copies a table to it, and can be a key of a cache."""
    return strategy is BLOCK_STRATEGY and rule.is_total and isinstance(rule.description, bytes)


def partition_on_gpu(
    source: Array, bits: tuple[int, int], results: tuple[Array, Array], context: Context, budget: Budget
) -> None:
    """Partition keys by a digit, without an order inside it.

    `source`, `bits`: the keys; the first bit of the digit, and the first bit after it.
    """
    partitioned, offsets = results
    card = gpu(source.device)
    with card.current(), in_stream_of(source, *results):
        launcher = GpuLauncher(card, stream=source.stream, budget=budget, crossings=context.crossings)
        if source.length == 0:
            return launcher.fill(offsets, 0)
        splitter = Splitter(launcher, source.length, tuning_of(card.multiprocessors, card.capability))
        by = replace(bits_pass(f"u{8 * source.width}", *bits), min_bits=DIGIT_BITS)
        cursors, _ = splitter.starts(by, source, offsets)
        return splitter.run_by_reserving(by, MovedItems(source, partitioned, source.width), cursors)


def split_any(
    splitter: Splitter,
    bucketing: Bucketing,
    columns: list[MovedItems],
    offsets: DeviceBuffer,
    strategy: BlockStrategy = BLOCK_STRATEGY,
) -> None:
    """Split columns of any width; parameters as `split`. Items without a kernel for their width are gathered by row number."""
    if columns[0].width not in WIDTHS:  # split by the keys padded to 16 bytes, and move the keys as values
        keys = columns[0]
        padded, ordered = (splitter.launcher.allocate(16 * splitter.count) for _ in range(2))
        if splitter.count:
            shape = Shape(_PAD_DEFINES, -(-splitter.count // TAKE_THREADS), TAKE_THREADS)
            splitter.launcher.launch(_PAD, shape, (keys.source, splitter.count, keys.width, padded))
        columns = [MovedItems(padded, ordered, 16), *columns]
    moved = [column for column in columns if column.width in WIDTHS]
    gathered = [column for column in columns if column.width not in WIDTHS]
    if not gathered:
        return split(splitter, bucketing, columns, offsets, strategy)
    rows = Taker.of_all(splitter.launcher, splitter.count)
    ordered = splitter.launcher.allocate(rows.rows.nbytes)
    split(splitter, bucketing, [*moved, MovedItems(rows.rows, ordered, rows.width)], offsets, strategy)
    taker = Taker(splitter.launcher, ordered, splitter.count, rows.width)
    for column in gathered:
        taker.items(column.source, column.width, column.target)
    return None


def split(
    splitter: Splitter,
    bucketing: Bucketing,
    columns: list[MovedItems],
    offsets: DeviceBuffer,
    strategy: BlockStrategy = BLOCK_STRATEGY,
) -> None:
    """Split columns by the buckets of their keys.

    Raise OptionError if keys are in no bucket, or the strategy cannot split these keys.

    `columns`: the keys, followed by the columns of values.
    `offsets`: buffer for the start of each bucket and the end.
    """
    key, rule = bucketing
    if rule.name in {"Computed", "BitsOf"}:
        key = word_of(key)
    if splitter.count == 0:
        return splitter.launcher.fill(offsets, 0)
    strategy.check(splitter, rule)
    passes = _key_passes(key, rule)
    if passes is not None and strategy.splits_keys(passes):
        totals = _run_passes(splitter, passes, columns, strategy.run, offsets if len(passes) == 1 else None)
        if len(passes) > 1:
            find_buckets(splitter, _bits_rule(passes[0].key, rule), columns[0].target, rule.count, offsets)
        unbucketed: DeviceBuffer = BufferSlice(totals, totals.nbytes - 8)
    else:
        with_labels, unbucketed = labelled(splitter, Bucketing(key, rule), columns, strategy)
        if not strategy.split_labels(splitter, with_labels, rule.count, offsets):
            _split_labels(splitter, with_labels, rule.count, offsets, strategy)
    if not rule.is_total:
        count = int(splitter.launcher.fetch(unbucketed).view(np.uint64)[0])
        if count:
            raise unbucketed_error(rule, count)
    return None


def _key_passes(key: str, rule: Rule) -> list[Pass] | None:
    """Return the passes over keys that need no labels, or None."""
    described = rule.description
    if rule.name == "BitsOf" and key in {"u32", "u64"} and isinstance(described, bytes):
        low, mask = rule_layout("BitsOf", np.dtype("u4")).unpack(described)
        high = low + mask.bit_length()
        return [bits_pass(key, at, min(high, at + DIGIT_BITS)) for at in range(low, high, DIGIT_BITS)]
    if rule.count > 1 << DIGIT_BITS:
        return None
    if rule.name == "AnyOf" and key in {"u32", "u64"} and isinstance(described, bytes):
        return [Pass(key, "AnyOf", digit_bytes(described, rule.count), rule.count)]
    if rule.name == "Computed" and key in {"u32", "u64"}:
        return [Pass(key, "Computed", computed_digit(rule), rule.count, text_of(rule))]
    return None


def _bits_rule(key: str, rule: Rule) -> DigitRule:
    """Return the rule of all bits that several passes split by."""
    assert isinstance(rule.description, bytes)
    return DigitRule(key, "BitsOf", digit_bytes(rule.description, rule.count))


def _run_passes(
    splitter: Splitter, passes: list[Pass], columns: list[MovedItems], run: Run, offsets: DeviceBuffer | None
) -> DeviceBuffer:
    """Run all passes, alternating between two sets of buffers so that the last pass writes to the targets."""
    between = [splitter.launcher.allocate(splitter.capacity * column.width) for column in columns if len(passes) > 1]
    sources = [column.source for column in columns]
    for left in reversed(range(len(passes))):
        targets = [column.target for column in columns] if left % 2 == 0 else between
        moved = [MovedItems(a, b, column.width) for a, b, column in zip(sources, targets, columns, strict=True)]
        totals = run(splitter, passes[len(passes) - 1 - left], moved, offsets)
        sources = list(targets)
    return totals


def _split_labels(
    splitter: Splitter, columns: list[MovedItems], count: int, offsets: DeviceBuffer, strategy: BlockStrategy
) -> None:
    """Sort labels, the first of `columns`, digit by digit; keys and values move with them."""
    bits = max(1, (count - 1).bit_length())
    word = f"u{8 * columns[0].width}"
    starts = range(0, bits, strategy.label_bits)
    passes = [bits_pass(word, low, min(bits, low + strategy.label_bits)) for low in starts]
    if len(passes) == 1:
        passes = [replace(passes[0], count=count)]
    _run_passes(splitter, passes, columns, strategy.run, offsets if len(passes) == 1 else None)
    if len(passes) > 1:
        identity = digit_bytes(rule_layout("AnyOf", np.dtype("u4")).pack(0, 0, 0, count, RULE_KINDS["identity"]), count)
        find_buckets(splitter, DigitRule(word, "AnyOf", identity), columns[0].target, count, offsets)
