"""Checks the arguments of sort calls, allocates their results, and dispatches to the CPU or the GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple

from headrace.arrange.sort.key_order import KeyOrder
from headrace.arrange.sort.request import STRATEGIES, SortTask
from headrace.arrays.arrays import Array, take
from headrace.arrays.placement import empty_like, placed, same_device
from headrace.columns.column import Column
from headrace.core.budget import Budget
from headrace.core.context import Context, context_of
from headrace.core.errors import OptionError
from headrace.core.options import choice, flag, integer

_WIDTHS = (1, 2, 4, 8, 16)
INDEX_TYPES = {"int64": "<i8", "uint64": "<u8", "int32": "<i4", "uint32": "<u4"}  # NumPy types of indices, by name


class KeysOptions(NamedTuple):
    """Options of a column's order."""

    descending: bool
    total_order: bool
    nulls: str
    stable: bool = True
    dtype: str = "int64"


def is_column(value: Any) -> bool:
    """Return whether keys are a `Column`."""
    return isinstance(value, Column)


def no_out(out: Any) -> None:
    """Raise if `out` is given for a column, whose result is always new."""
    if out is not None:
        raise OptionError("out is for arrays: columns do not change")


def check_order(nulls: str, **flags: object) -> None:
    """Check that `nulls` is "first" or "last", also for arrays, which have none, and that each flag is a bool."""
    if type(nulls) is not str or nulls not in ("last", "first"):
        choice("nulls", nulls, ("first", "last"))
    for name, value in flags.items():
        if type(value) is not bool:
            flag(name, value)


KINDS_OF_SORT = ("stable", "mergesort", "quicksort", "heapsort")  # values of NumPy's parameter `kind`


def check_stability(stable: bool | None, kind: str | None) -> bool:
    """Return whether a sort is stable, by the parameters `stable` and `kind` of NumPy."""
    if kind is not None:
        return choice("kind", kind, KINDS_OF_SORT) in {"stable", "mergesort"} or stable is True
    if type(stable) is not bool and stable is not None:
        return flag("stable", stable)
    return stable is not False


def check_strategy(strategy: str | None) -> None:
    """Check that a strategy is known, or None."""
    if strategy is not None:
        choice("strategy", strategy, STRATEGIES)


def check_places(dtype: str, count: int) -> None:
    """Check that indices of a type can count `count` keys."""
    choice("dtype", dtype, INDEX_TYPES)
    if count > 1 << (31 if dtype == "int32" else 32) and dtype.endswith("32"):
        raise OptionError(f"dtype {dtype!r} cannot count {count:_} keys; int64 can")


def checked_k(k: Any, count: int) -> int:
    """Return k, which must be an integer (of Python or NumPy) from 0 to `count`."""
    return integer("k", k, f"an integer from 0 to the number of keys ({count:_})", 0, count)


def begin(
    keys: Any, descending: bool, total_order: bool, strategy: str | None, context: Context | None
) -> tuple[Context, Budget, Array, KeyOrder]:
    """Return the context, the budget, the keys and their order: the first step of every call."""
    check_strategy(strategy)
    context = context_of(context)
    budget = context.new_budget()
    source = placed(keys, "keys", context, budget)
    return context, budget, source, KeyOrder.of(source.typestr, descending=bool(descending), total_order=bool(total_order))


def check_values(source: Array, column: Array) -> None:
    """Check that values are as long as the keys, and have items of a supported width."""
    if column.length != source.length:
        raise OptionError(f"values has {column.length} items for {source.length} keys")
    if column.width not in _WIDTHS:
        raise OptionError(f"values have items of {column.width} bytes; 1, 2, 4, 8 and 16 can be taken")


def outs_of(out: Any, columns: int, *, several: bool) -> Sequence[Any]:
    """Return the output arrays for the keys and for each array of values, or None for each."""
    if out is None:
        return [None] * (columns + 1)
    if not isinstance(out, (tuple, list)) or len(out) != 2:
        raise OptionError("out must be two things: an array for the keys, and what gets the values")
    values = list(out[1]) if several and isinstance(out[1], (list, tuple)) else [out[1]]
    if len(values) != columns:
        raise OptionError(f"out has {len(values)} arrays for {columns} arrays of values")
    return [out[0], *values]


def target_of(source: Array, length: int, typestr: str, out: Any, budget: Budget) -> Array:
    """Return the array for a result: `out`, or a new one."""
    if out is None:
        return empty_like(source, length, typestr, budget)
    if out is source.owner and typestr == source.typestr:
        target = source
    else:
        target = take(out, "out")
        same_device(source, target)
    if target.typestr != typestr:
        raise OptionError(f"out has items of type {target.typestr!r}, and the result is of {typestr!r}")
    if target.length != length:
        raise OptionError(f"out has {target.length} items, and the result {length}")
    if not target.writable:
        raise OptionError("out may not be written")
    if target.address % target.width:
        raise OptionError(f"out begins inside of an item: its address is no multiple of {target.width} bytes")
    return target


def check_apart(pairs: Sequence[tuple[Array | None, Array | None]]) -> None:
    """Check that each target is its source, or overlaps no other array."""
    for number, (_, target) in enumerate(pairs):
        if target is None:
            continue
        for other_number, (source, other_target) in enumerate(pairs):
            in_place = number == other_number and source is not None and source.address == target.address
            others = [] if in_place or source is None else [source]
            if other_target is not None and other_target is not target:
                others.append(other_target)
            if any(_overlap(target, other) for other in others):
                raise OptionError("out overlaps what is sorted, or another result; pass arrays of their own, or the very ones")


def _overlap(a: Array, b: Array) -> bool:
    return a.address < b.address + b.nbytes and b.address < a.address + a.nbytes


def run(name: str, task: SortTask) -> Any:
    """Run a task on the device of its keys. GPU modules are imported only for keys on a GPU."""
    place = "cpu" if task.keys.device.kind == "cpu" else "gpu"
    return _on(name, place)(task)


@lru_cache(16)
def _on(name: str, place: str) -> Callable[[SortTask], Any]:
    found: Callable[[SortTask], Any] = getattr(import_module(f"headrace.arrange.sort.{place}.sort"), f"{name}_on_{place}")
    return found


def gpu_columns() -> Any:
    """Return the module that sorts columns on a GPU, imported on first use."""
    return import_module("headrace.arrange.sort.gpu.column_sort")
