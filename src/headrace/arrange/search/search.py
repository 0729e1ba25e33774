"""Launches the searches: positions of keys in sorted keys, marks of runs and their lengths, on the device of the keys."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

from headrace import _native
from headrace.arrange.search.tuning import DISTINCT_TABLE, TABLE_WIDTHS
from headrace.arrange.sort.key_order import KeyOrder
from headrace.arrays.arrays import Array
from headrace.arrays.placement import empty_like, first_items, in_stream_of
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.core.layouts.layout import layout
from headrace.gpu.device.device import gpu

_SEARCH_OPTIONS = layout("SearchOptions").packer()


def positions_of(sorted_keys: Array, keys: Array, options: tuple[bool, bool], context: Context, budget: Budget) -> Array:
    """Return the position of each key in sorted keys of the same type and device.

    `options`: whether equal keys are before the position, and whether positions are counted from the end (search.hpp).
    """
    result = empty_like(keys, keys.length, "<i8", budget)
    rule = KeyOrder.of(keys.typestr).packed
    if keys.device.kind == "cpu":
        ascending = sorted_keys.address, sorted_keys.length, keys.width, rule
        wanted = keys.address, keys.length, keys.width, rule
        _native.search_keys(ascending, wanted, options, result.address, context.thread_count)
        return result
    if keys.length:
        args = (sorted_keys, sorted_keys.length, keys, keys.length, rule, _SEARCH_OPTIONS.pack(*options), result)
        _launch(_Launch("search_keys", keys, args, (sorted_keys, result)), context, budget)
    return result


def marks_of(keys: Array, context: Context, budget: Budget) -> Array:
    """Return a flag for each sorted key: whether it differs from the one before it."""
    result = empty_like(keys, keys.length, "|u1", budget)
    rule = KeyOrder.of(keys.typestr).packed
    if keys.device.kind == "cpu":
        _native.mark_runs((keys.address, keys.length, keys.width, rule), result.address, context.thread_count)
    elif keys.length:
        _launch(_Launch("mark_runs", keys, (keys, keys.length, rule, result), (result,)), context, budget)
    return result


def first_of_runs(keys: Array, context: Context, budget: Budget) -> Any:
    """Return the first of each run of equal keys in a sorted array on a GPU. The host waits for their number."""
    result = empty_like(keys, keys.length, None, budget)
    if not keys.length:
        return result.owner
    from headrace.arrange.search.search_gpu import launch_runs  # needs cuda-core
    from headrace.gpu.kernels.launcher import GpuLauncher

    card = gpu(keys.device)
    with card.current(), in_stream_of(keys, result):
        launcher = GpuLauncher(card, stream=keys.stream, budget=budget, crossings=context.crossings)
        count = launch_runs(launcher, keys, keys.length, KeyOrder.of(keys.typestr).packed, result)
    _note_distinct(keys, count)
    return first_items(result, count)


_many_distinct: set[Hashable] = set()  # device, type and length of arrays whose last one had too many distinct keys for a table
_MAX_NOTES = 256


def _note_distinct(keys: Array, count: int) -> None:
    """Note whether a table of distinct keys can hold those of the next array like this one."""
    if len(_many_distinct) >= _MAX_NOTES:
        _many_distinct.clear()
    if count > DISTINCT_TABLE.max_distinct:
        _many_distinct.add(_kind_of(keys))
    else:
        _many_distinct.discard(_kind_of(keys))


def _kind_of(keys: Array) -> Hashable:
    return keys.device, keys.typestr, keys.length


def few_distinct_of(keys: Array, context: Context, budget: Budget) -> Any | None:
    """Return the distinct keys of an array, in any order; None if they are many, or it is no large array of integers on a GPU.

    They are taken to be many if the last array of this type and length had many: a sample would keep the sort waiting.
    """
    order = KeyOrder.of(keys.typestr)
    if (
        keys.device.kind == "cpu"
        or order.kind == "float"
        or keys.width not in TABLE_WIDTHS
        or keys.length < DISTINCT_TABLE.min_keys
        or _kind_of(keys) in _many_distinct
    ):
        return None
    from headrace.arrange.search.distinct_table import DistinctTable  # needs cuda-core
    from headrace.gpu.kernels.launcher import GpuLauncher

    card = gpu(keys.device)
    with card.current():
        launcher = GpuLauncher(card, stream=keys.stream, budget=budget, crossings=context.crossings)
        table = DistinctTable(launcher, keys.width)
        count = table.count(keys, keys.length, card.multiprocessors)
        if count is None:
            return None
        result = empty_like(keys, count, None, budget)
        with in_stream_of(keys, result):
            table.write(result)
    return result.owner


def ranks_of(marks: Array, order: Array, budget: Budget) -> Array:
    """Return for each key of a host array the index of its run among the sorted keys. `order`: indices that sort the keys."""
    import numpy as np

    result = empty_like(order, order.length, "<i8", budget)
    ranks = np.cumsum(marks.as_numpy(), dtype=np.int64)
    ranks -= 1
    result.as_numpy()[order.as_numpy()] = ranks
    return result


def lengths_of(begins: Array, end: int, context: Context, budget: Budget) -> Array:
    """Return the number of keys from each begin of a run to the next, and for the last to `end`."""
    result = empty_like(begins, begins.length, "<i8", budget)
    if begins.device.kind == "cpu":
        import numpy as np

        result.as_numpy()[:] = np.diff(begins.as_numpy(), append=end)
    elif begins.length:
        _launch(_Launch("measure_runs", begins, (begins, begins.length, end, result), (result,)), context, budget)
    return result


def numbers_like(source: Array, count: int, context: Context, budget: Budget) -> Array:
    """Return the numbers 0 to `count` - 1 as int64, on the device of an array and of its library."""
    result = empty_like(source, count, "<i8", budget)
    if source.device.kind == "cpu":
        import numpy as np

        result.as_numpy()[:] = np.arange(count)
    elif count:
        from headrace.arrange.gather.take_gpu import number_rows_on_gpu  # needs cuda-core

        number_rows_on_gpu(result, context, budget)
    return result


class _Launch(NamedTuple):
    """A kernel of search.cu, the array in whose stream it runs, its arguments, and the other arrays that it accesses."""

    name: str
    keys: Array
    args: tuple[Any, ...]
    others: tuple[Array, ...]


def _launch(request: _Launch, context: Context, budget: Budget) -> None:
    from headrace.arrange.search.search_gpu import launch_search  # needs cuda-core
    from headrace.gpu.kernels.launcher import GpuLauncher

    keys = request.keys
    card = gpu(keys.device)
    with card.current(), in_stream_of(keys, *request.others):
        launcher = GpuLauncher(card, stream=keys.stream, budget=budget, crossings=context.crossings)
        launch_search(launcher, request.name, keys.width, request.args)
