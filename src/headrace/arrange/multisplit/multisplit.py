"""Keys, and values with them, in the order of their buckets, where they lie: arrange/multisplit/gpu/split.cu and its CPU twin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from headrace import _native
from headrace.arrange.bucket.functions import BucketFunction, Computing, Rule, rule_for
from headrace.arrange.bucket.key_types import key_dtype, key_type, word_of
from headrace.arrange.gather.byte_items import are_items, new_like, placed_items
from headrace.arrange.histogram.histogram import on_host
from headrace.arrays.arrays import Array
from headrace.arrays.placement import empty_like, placed, same_device
from headrace.core.budget import Budget
from headrace.core.context import Context, context_of
from headrace.core.errors import OptionError
from headrace.core.options import choice

_CELLS = 4096
_DIGIT_BITS = 16
_WIDTHS = {1, 2, 4, 8, 16}
"""Of keys that are looked at as they are."""
STRATEGIES = ("direct", "warp", "block", "look_back", "reduced_bit", "recursive", "iterative")


class Split(NamedTuple):
    """What a multisplit gives.

    Parameters
    ----------
    keys
        The keys, those of bucket 0 first, each bucket's in their order before.
    values
        What was given as values, in the same order: one array, a list of arrays, or None.
    offsets
        Where each bucket begins, and at the end how many keys there are: int64, one more than there are buckets.
    """

    keys: Any
    values: Any
    offsets: Any


def multisplit(
    keys: Any,
    buckets: BucketFunction,
    values: Any = None,
    *,
    strategy: str | None = None,
    context: Context | None = None,
) -> Split:
    """Put keys into the order of their buckets; within a bucket they keep their order.

    Parameters
    ----------
    keys
        Array of one dimension of whole numbers of 1, 2, 4 or 8 bytes, float32 or float64. Or items of 1 to 16 bytes, which are
        unsigned numbers with the lowest byte first: rows of a uint64 array of shape ``(n, 2)``, say, or of uint32 of
        ``(n, 3)``, or NumPy's voids or structures. Work runs where it lies.
    buckets
        Which bucket a key is in: a function of `headrace.buckets`, of 1 to 2**24 buckets.
    values
        An array, or a list of arrays, as long as `keys` and on the same device, which go where their keys go. Items have any
        width: numbers, rows of an array of two dimensions, NumPy's voids and structures.
    strategy
        How it is done on a GPU; None chooses. ``"block"``: keys are counted, and each block puts its own to their places, by
        up to 256 buckets at a time. ``"look_back"``: blocks learn their places from each other on the way. ``"warp"`` and
        ``"direct"``: a warp does as a block does, with and without bringing keys of a bucket together first (up to 32
        buckets). ``"reduced_bit"``: labels are sorted, whatever the function. ``"recursive"``: by halves, a bit of the bucket
        at a time. ``"iterative"``: a bucket at a time (up to 256). A strategy without kernels for the keys as they are splits
        labels of them.
    context
        Threads, instruction set and memory that may be used, and the GPU that arrays of the host go to.

    Returns
    -------
    Split
        Keys, values and offsets, of the library of `keys` and of each array of values. They do not depend on the device,
        the strategy or the number of threads. On a GPU the host waits once for functions that may have no bucket for a
        key (`identity`, `even`, `splitters`, `computed`), and not for others.

    Raises
    ------
    OptionError
        They are no such arrays, `buckets` is no function of such keys, or some keys are in none of its buckets (of `even` and
        `splitters` NaN is in none).
    MemoryLimitError
        The results, and what is needed on the way, do not fit the context's limit.

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
    context = context_of(context)
    budget = context.new_budget()
    if strategy is not None:
        choice("strategy", strategy, STRATEGIES)
    how = context, budget
    source, restored = placed_items(keys, "keys", *how) if are_items(keys) else (placed(keys, "keys", *how), None)
    key_type(source.typestr)
    given = [] if values is None else list(values) if isinstance(values, (list, tuple)) else [values]
    columns, ways_back = [], [restored]
    for column in given:
        array, restored = placed_items(column, "values", *how)
        columns.append(array)
        ways_back.append(restored)
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
        from headrace.arrange.multisplit.gpu.planner import split_on_gpu  # not needed on the host

        results, offsets = split_on_gpu([source, *columns], rule, strategy, context, budget)
    moved = [
        result.owner if restored is None else restored(result.owner) for result, restored in zip(results, ways_back, strict=True)
    ]
    if values is None:
        return Split(moved[0], None, offsets.owner)
    return Split(moved[0], moved[1:] if isinstance(values, (list, tuple)) else moved[1], offsets.owner)


def strays_error(rule: Rule, strays: int) -> OptionError:
    """What is said of keys that are in no bucket."""
    keys = "1 key is" if strays == 1 else f"{strays:_} keys are"
    return OptionError(f"{keys} in none of the {rule.count} buckets (outside of their range, or NaN); nothing was split")


def _on_cpu(arrays: Sequence[Array], rule: Rule, context: Context, budget: Budget) -> tuple[list[Array], Array]:
    """By digits of 16 bits, the lowest first, since each pass is stable."""
    source, is_padded = arrays[0], arrays[0].width not in _WIDTHS
    if is_padded:
        arrays = [_padded(source, budget), *arrays]
    offsets = empty_like(source, rule.count + 1, "<i8", budget)
    described = _described(rule)
    name = word_of(key_type(source.typestr)) if rule.name == "Computed" else key_type(source.typestr)
    passes = max(1, -(-(rule.count - 1).bit_length() // _DIGIT_BITS))
    starts = offsets if passes == 1 else empty_like(source, (1 << _DIGIT_BITS) + 1, "<i8", budget)
    how = context.thread_count, context.isa
    for number in range(passes):
        results = [new_like(array, budget) for array in arrays]
        moved = [(array.address, result.address, array.width) for array, result in zip(arrays, results, strict=True)]
        by = name, *described, rule.count, number * _DIGIT_BITS, (1 << _DIGIT_BITS) - 1 if passes > 1 else 2**32 - 1
        strays = _native.multisplit(by, arrays[0].address, source.length, moved, starts.address, *how)
        if strays:
            raise strays_error(rule, strays)
        arrays = results
    if passes > 1:
        by = name, *described, rule.count, 0, 2**32 - 1
        _native.find_buckets(by, results[0].address, source.length, offsets.address, *how)
    return results[is_padded:], offsets


def _padded(keys: Array, budget: Budget) -> Array:
    """Keys of the host as numbers of 16 bytes."""
    import numpy as np

    budget.charge(16 * keys.length)
    wide: np.ndarray[Any, Any] = np.zeros((keys.length, 16), np.uint8)
    wide[:, : keys.width] = keys.as_numpy().view(np.uint8).reshape(-1, keys.width)
    return placed_items(wide, "keys", Context(), budget)[0]


def _described(rule: Rule) -> tuple[str, bytes, int]:
    """Name, description and address of edges, as multisplit.hpp's ``SplitBy`` has them."""
    what = rule.description
    if isinstance(what, bytes):
        return rule.name, what, 0
    if isinstance(what, Computing):
        return rule.name, what.as_program(), 0
    cells = b"" if what.wide.ndim == 2 else what.cells(_CELLS)
    return rule.name, cells, what.wide.__array_interface__["data"][0]
