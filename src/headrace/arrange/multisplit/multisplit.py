"""Sorts keys, and values with them, by their buckets, on the device where they lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from headrace import _native
from headrace.arrange.bucket.functions import BucketFunction, Computing, Rule, rule_for, unbucketed_error
from headrace.arrange.bucket.key_types import key_dtype, key_type, word_of
from headrace.arrange.gather.byte_items import are_items, new_like, placed_items
from headrace.arrange.histogram.histogram import on_host
from headrace.arrays.arrays import Array
from headrace.arrays.placement import empty_like, placed, same_device
from headrace.arrays.repeated import RepeatedCall, empty_beside, repeated_call
from headrace.core.budget import Budget
from headrace.core.context import Context, context_of
from headrace.core.errors import OptionError
from headrace.core.options import choice

if TYPE_CHECKING:
    from headrace.arrange.multisplit.gpu.strategy import BlockStrategy

_CELLS = 4096
_TOTAL = ("bits", "hash", "modulo")  # kinds of functions that have a bucket for each key
_DIGIT_BITS = 16
_WIDTHS = {1, 2, 4, 8, 16}  # bytes of keys that need no padding
STRATEGIES: tuple[str, ...] = ("direct", "warp", "block", "look_back", "reduced_bit", "recursive", "iterative")


class Split(NamedTuple):
    """Result of a multisplit.

    Parameters
    ----------
    keys
        The keys, sorted by bucket; keys of one bucket are in their original order.
    values
        The values in the same order: one array, a list of arrays, or None, as they were given.
    offsets
        Start of each bucket, and at the end the number of keys: int64, one more than there are buckets.
    """

    keys: Any
    values: Any
    offsets: Any


def multisplit(
    keys: Any, buckets: BucketFunction, values: Any = None, *, strategy: str | None = None, context: Context | None = None
) -> Split:
    """Sort keys by their bucket; keys of one bucket keep their order.

    Parameters
    ----------
    keys
        Array of one dimension: integers of 1, 2, 4 or 8 bytes, float32 or float64. Items of 1 to 16 bytes are unsigned numbers
        with the lowest byte first. Such items are rows of a uint64 array of shape ``(n, 2)`` or of a uint32 array of shape
        ``(n, 3)``, NumPy voids or structures. The work runs on the device of the keys.
    buckets
        Function of `headrace.buckets` that gives the bucket of a key, with 1 to 2**24 buckets.
    values
        Array, or list of arrays, as long as `keys` and on the same device; values move with their keys. Items have any width:
        numbers, rows of an array of two dimensions, NumPy voids and structures.
    strategy
        Kernels to use on a GPU; None chooses. ``"block"`` counts the keys, then each block moves its keys, by up to 256 buckets
        at a time. The others are published variants, kept for comparison. ``"look_back"``: blocks find their output positions
        by decoupled look-back. ``"warp"`` and ``"direct"``: each warp works alone, with and without bringing keys of a bucket
        together first (up to 32 buckets). ``"reduced_bit"``: labels are sorted, whatever the function. ``"recursive"``: one bit
        of the bucket number at a time. ``"iterative"``: one bucket at a time (up to 256). A strategy that has no kernels for
        the type of the keys splits labels instead.
    context
        Threads, instruction set and memory that may be used, and the GPU to which host arrays are copied.

    Returns
    -------
    Split
        Keys, values and offsets, each of the library of its input. They do not depend on the device, the strategy or the number
        of threads. On a GPU the host waits once for functions that may have no bucket for a key (`identity`, `even`,
        `splitters`, `computed`), and not for others.

    Raises
    ------
    OptionError
        The arrays have another type or length, `buckets` is not a function of such keys, or some keys are in no bucket. NaN is in
        no bucket of `even` and `splitters`.
    MemoryLimitError
        The results and temporary buffers exceed the context's limit.

    Examples
    --------
    >>> import headrace
    >>> import numpy as np
    >>> split = headrace.multisplit(np.array([7, 4, 2, 9, 4], np.uint32), headrace.buckets.modulo(3), np.arange(5))
    >>> split.keys, split.values
    (array([9, 7, 4, 4, 2], dtype=uint32), array([3, 0, 1, 4, 2]))
    >>> split.offsets
    array([0, 1, 4, 5])
    """
    call = None
    if context is None and strategy is None and not isinstance(values, (list, tuple)):
        call = _repeated(keys, buckets, values)
        found = None if call is None else _repetition(call, keys, values, buckets.count)
        if found is not None:
            return found
    context = context_of(context)
    budget = context.new_budget()
    if strategy is not None:
        choice("strategy", strategy, STRATEGIES)
    source, restored = (
        placed_items(keys, "keys", context, budget) if are_items(keys) else (placed(keys, "keys", context, budget), None)
    )
    key_type(source.typestr)
    value_list = [] if values is None else list(values) if isinstance(values, (list, tuple)) else [values]
    columns, restorers = [], [restored]
    for column in value_list:
        array, restored = placed_items(column, "values", context, budget)
        columns.append(array)
        restorers.append(restored)
    same_device(source, *columns)
    for column in columns:
        if column.length != source.length:
            raise OptionError(f"values has {column.length} items for {source.length} keys")
    edges = None
    if isinstance(buckets, BucketFunction) and buckets.kind == "splitters":
        edges = on_host(buckets.parameters[0], source, context, budget)
    rule = rule_for(buckets, key_dtype(source.typestr), edges)
    if source.device.kind == "cpu":
        results, offsets = _on_cpu([source, *columns], rule, context, budget)
    else:
        from headrace.arrange.multisplit.gpu.planner import split_on_gpu  # needs cuda-core

        results, offsets, plan = split_on_gpu([source, *columns], rule, _strategy(strategy), context, budget)
        if call is not None and restorers == [None] * len(restorers):
            call.keep(plan, [source, *columns], [*results, offsets])
    moved = [
        result.owner if restored is None else restored(result.owner) for result, restored in zip(results, restorers, strict=True)
    ]
    if values is None:
        return Split(moved[0], None, offsets.owner)
    return Split(moved[0], moved[1:] if isinstance(values, (list, tuple)) else moved[1], offsets.owner)


def _repeated(keys: Any, buckets: BucketFunction, values: Any) -> RepeatedCall | None:
    if type(buckets) is not BucketFunction or buckets.kind not in _TOTAL:
        return None
    arrays = (keys,) if values is None else (keys, values)
    return repeated_call(("multisplit", buckets.kind, buckets.count, buckets.parameters), *arrays, by_class=True)


def _repetition(call: RepeatedCall, keys: Any, values: Any, count: int) -> Split | None:
    """Return the result of a call that repeats an earlier one, if it does."""
    if not call.is_known:
        return None
    (moved, addresses), (moved_values, more) = empty_beside(keys), (None, ()) if values is None else empty_beside(values)
    offsets, last = empty_beside(keys, "<i8", count + 1)
    return Split(moved, moved_values, offsets) if call.replay(*addresses, *more, *last) else None


def _strategy(name: str | None) -> BlockStrategy:
    """Return the strategy of a name; published variants are imported when they are asked for."""
    from headrace.arrange.multisplit.gpu.strategy import BLOCK_STRATEGY  # needs cuda-core

    if name is None or name == BLOCK_STRATEGY.name:
        return BLOCK_STRATEGY
    from headrace.arrange.multisplit.paper.strategies import PAPER_STRATEGIES

    return PAPER_STRATEGIES[name]


def _on_cpu(arrays: Sequence[Array], rule: Rule, context: Context, budget: Budget) -> tuple[list[Array], Array]:
    """Split on the CPU by digits of 16 bits, the lowest first; each pass is stable."""
    source, is_padded = arrays[0], arrays[0].width not in _WIDTHS
    if is_padded:
        arrays = [_padded(source, budget), *arrays]
    offsets = empty_like(source, rule.count + 1, "<i8", budget)
    rule_fields = _rule_fields(rule)
    name = word_of(key_type(source.typestr)) if rule.name == "Computed" else key_type(source.typestr)
    passes = max(1, -(-(rule.count - 1).bit_length() // _DIGIT_BITS))
    starts = offsets if passes == 1 else empty_like(source, (1 << _DIGIT_BITS) + 1, "<i8", budget)
    limits = context.isa, context.thread_count
    for number in range(passes):
        results = [new_like(array, budget) for array in arrays]
        moved = [(array.address, result.address, array.width) for array, result in zip(arrays, results, strict=True)]
        by = name, *rule_fields, rule.count, number * _DIGIT_BITS, (1 << _DIGIT_BITS) - 1 if passes > 1 else 2**32 - 1
        unbucketed = _native.multisplit(by, arrays[0].address, source.length, moved, starts.address, *limits)
        if unbucketed:
            raise unbucketed_error(rule, unbucketed)
        arrays = results
    if passes > 1:
        by = name, *rule_fields, rule.count, 0, 2**32 - 1
        _native.find_buckets(by, results[0].address, source.length, offsets.address, *limits)
    return results[is_padded:], offsets


def _padded(keys: Array, budget: Budget) -> Array:
    """Return keys in host memory as numbers of 16 bytes."""
    import numpy as np

    budget.charge(16 * keys.length)
    wide: np.ndarray[Any, Any] = np.zeros((keys.length, 16), np.uint8)
    wide[:, : keys.width] = keys.as_numpy().view(np.uint8).reshape(-1, keys.width)
    return placed_items(wide, "keys", Context(), budget)[0]


def _rule_fields(rule: Rule) -> tuple[str, bytes, int]:
    """Return name, description and address of the edges, as multisplit.hpp's ``SplitBy`` has them."""
    described = rule.description
    if isinstance(described, bytes):
        return rule.name, described, 0
    if isinstance(described, Computing):
        return rule.name, described.as_program(), 0
    cells = b"" if described.wide.ndim == 2 else described.cells(_CELLS)
    return rule.name, cells, described.wide.__array_interface__["data"][0]
