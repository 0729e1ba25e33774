"""Sorts small NumPy arrays in one native call: describing arrays and accounting for memory takes longer than their sort."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from headrace import _native
from headrace.arrange.sort.key_order import KeyOrder
from headrace.arrays.inputs import Lines
from headrace.core.context import Context, context_of

_FEW = 1 << 14  # number of keys up to which the CPU sort uses one thread


def sorted_few(keys: Any, *, descending: bool, total_order: bool, in_place: bool) -> Any:
    """Sort as `headrace.sort` with no other option. Return None, having done nothing, if keys are many or not supported."""
    rule = _rule_of(keys, descending, total_order)
    if rule is None:
        return None
    target = keys if in_place else keys.copy()
    return target if _native.sort_few(target, rule) else None


def argsorted_few(keys: Any, *, descending: bool, total_order: bool) -> Any:
    """Return indices as `headrace.argsort` with no other option; None as `sorted_few`."""
    rule = _rule_of(keys, descending, total_order)
    if rule is None:
        return None
    places = sys.modules["numpy"].empty(keys.size, "i8")
    return places if _native.order_few(keys, places, rule) else None


def sorted_rows(lines: Lines, sort: Callable[[Any], Any], descending: bool, total_order: bool, context: Context | None) -> Any:
    """Return a matrix with sorted rows. Short rows of the host are sorted by one native call, others by calls of `sort`."""
    rule = _rule_of_rows(lines, descending, total_order, context)
    if rule is None:
        return lines.each(sort)
    budget = context_of(context).new_budget()
    budget.charge(lines.rows.nbytes)
    result = lines.rows.copy()
    return result if _native.sort_few(result, rule, context_of(context).thread_count) else lines.each(sort)


def argsorted_rows(
    lines: Lines, argsort: Callable[[Any], Any], descending: bool, total_order: bool, context: Context | None
) -> Any:
    """Return a matrix with the indices that sort each row, as `sorted_rows`."""
    rule = _rule_of_rows(lines, descending, total_order, context)
    if rule is None:
        return lines.each(argsort)
    budget = context_of(context).new_budget()
    budget.charge(lines.rows.size * 8)
    places = sys.modules["numpy"].empty(lines.rows.shape, "i8")
    done = _native.order_few(lines.rows, places, rule, context_of(context).thread_count)
    return places if done else lines.each(argsort)


def _rule_of_rows(lines: Lines, descending: bool, total_order: bool, context: Context | None) -> bytes | None:
    rows = lines.rows
    on_host = type(rows).__module__ == "numpy" and (context is None or context_of(context).device.kind == "cpu")
    return _rule(rows.dtype, descending, total_order) if on_host and 0 < rows.shape[-1] <= _FEW and len(rows) else None


def _rule_of(keys: Any, descending: bool, total_order: bool) -> bytes | None:
    numpy = sys.modules.get("numpy")
    if numpy is None or type(keys) is not numpy.ndarray or keys.ndim != 1 or keys.size > _FEW:
        return None
    if not keys.flags.c_contiguous or not keys.flags.aligned:
        return None
    return _rule(keys.dtype, bool(descending), bool(total_order))


@lru_cache(256)
def _rule(dtype: Any, descending: bool, total_order: bool) -> bytes | None:
    """Return a ``KeyRule``; None for types without order or buffers (times), and for the other byte order."""
    if dtype.kind not in "biuf" or not dtype.isnative or dtype.itemsize > 8:
        return None
    return KeyOrder.of(dtype.str, descending=descending, total_order=total_order).packed
