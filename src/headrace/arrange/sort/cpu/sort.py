"""Sorts in host memory: allocates scratch memory before anything is written, then calls native code."""

from __future__ import annotations

from typing import Any

from headrace import _native
from headrace.arrange.sort.request import ColumnMove, SortTask
from headrace.arrays.arrays import Array

_LINE = 64
_WORD = 8
_ALL_BITS = 63  # bits of a word that holds only an index

_NativeKeys = tuple[int, int, int, bytes]


class _Scratch:
    """Scratch memory of one call, aligned to a cache line."""

    __slots__ = ("_held", "address")

    def __init__(self, task: SortTask, nbytes: int) -> None:
        self.address = 0
        if nbytes:
            task.budget.charge(nbytes)
            self._held = _native.empty_buffer(nbytes + _LINE)
            self.address = -(-self._held.address // _LINE) * _LINE


def sort_keys_on_cpu(task: SortTask) -> None:
    """Sort keys alone. Ctrl-C ends the sort unless it is in place: the array would have lost keys."""
    keys, target = task.keys, task.target
    assert target is not None
    how = task.context.isa, task.context.thread_count
    spare = _Scratch(task, _native.sort_spare(keys.width, keys.length, how))
    given, _held = _native_keys(task)
    sort = _native.sort_keys_in_place if keys.address == target.address else _native.sort_keys
    sort(given, target.address, spare.address, how)


def argsort_on_cpu(task: SortTask) -> None:
    """Write the indices of keys in their order."""
    assert task.indices is not None
    order, index_bits, _held = _order(task)
    _native.take_in_order(
        order.address, index_bits, task.keys.length, (0, task.indices.address, task.indices.width), task.context.thread_count
    )


def sort_pairs_on_cpu(task: SortTask) -> None:
    """Sort keys and values by gathering them in the order of the keys. Arrays in place are gathered to scratch memory first.

    Ctrl-C does not end the moves of a sort in place: some arrays would be in the new order, others in the old one.
    """
    assert task.target is not None
    moves = (ColumnMove(task.keys, task.target), *task.values)
    in_place = [move.source.nbytes for move in moves if move.source.address == move.target.address]
    between = _Scratch(task, max(in_place, default=0))
    order, index_bits, _held = _order(task)
    count, threads = task.keys.length, task.context.thread_count
    take = _native.take_in_order_in_place if in_place else _native.take_in_order
    for move in moves:
        is_in_place = move.source.address == move.target.address
        to = between.address if is_in_place else move.target.address
        items = (move.source.address, to, move.source.width)
        take(order.address, index_bits, count, items, threads)
        if is_in_place:
            _native.copy_parts([(to, move.target.address, move.source.nbytes)], threads)


def is_sorted_on_cpu(task: SortTask) -> bool:
    """Return whether keys are in order."""
    given, _held = _native_keys(task)
    return _native.is_in_order(given, (task.context.isa, task.context.thread_count))


def top_k_on_cpu(task: SortTask) -> None:
    """Find the first keys, then sort them."""
    assert task.target is not None
    assert task.indices is not None
    k, width, context = task.indices.length, task.keys.width, task.context
    how = context.isa, context.thread_count
    spare_bytes = _native.sort_spare(_WORD, k, how)
    found, first, order, spare = (_Scratch(task, nbytes) for nbytes in (k * _WORD, k * width, k * _WORD, spare_bytes))
    given, _held = _native_keys(task)
    _native.find_first(given, k, found.address, how)
    _native.take_in_order(found.address, _ALL_BITS, k, (given[0], first.address, width), context.thread_count)
    chosen = first.address, k, width, task.order.packed
    index_bits = _native.sort_order(chosen, order.address, spare.address, how)
    for items in ((first.address, task.target.address, width), (found.address, task.indices.address, _WORD)):
        _native.take_in_order(order.address, index_bits, k, items, context.thread_count)


def _order(task: SortTask) -> tuple[_Scratch, int, Any]:
    """Return words whose lowest bits are indices, the number of these bits, and the owner of copied keys."""
    count, how = task.keys.length, (task.context.isa, task.context.thread_count)
    order, spare = _Scratch(task, count * _WORD), _Scratch(task, _native.sort_spare(_WORD, count, how))
    given, held = _native_keys(task)
    index_bits = _native.sort_order(given, order.address, spare.address, how)
    return order, index_bits, held


def _native_keys(task: SortTask) -> tuple[_NativeKeys, Any]:
    """Return the keys as native calls take them, and the owner of their memory. Misaligned keys are copied."""
    keys: Array = task.keys
    address, held = keys.address, None
    if address % keys.width:
        held = _Scratch(task, keys.nbytes)
        _native.copy_parts([(address, held.address, keys.nbytes)], task.context.thread_count)
        address = held.address
    return (address, keys.length, keys.width, task.order.packed), held
