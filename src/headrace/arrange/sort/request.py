"""Defines the checked request that the CPU and the GPU sorts take."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.arrange.sort.key_order import KeyOrder
from headrace.arrays.arrays import Array
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.core.fast_constructor import fast_constructor

STRATEGIES = ("hybrid", "digits")  # strategies: from the highest digit down by buckets, and from the lowest digit up


@dataclass(frozen=True, slots=True)
class ColumnMove:
    """An array that moves with the keys."""

    source: Array  # the items in their original order
    target: Array  # the output


@dataclass(frozen=True, slots=True)
class SortTask:
    """Keys to sort, the columns that move with them, and the outputs. All arrays are on one device.

    A target is its source (then the array is sorted in place) or does not overlap it; other arrays do not overlap. If a sort
    fails, the contents of other targets are undefined. Arrays that are sorted in place are then unchanged: memory is allocated
    before anything is written.
    """

    keys: Array  # The keys, of `KeyOrder.bits` bits each. Any number of them, including 0 and more than 2**32.
    order: KeyOrder  # their order
    target: Array | None
    """Output for the sorted keys: as many as `keys`, or the first ones for `top_k`. None if they are not needed (`argsort`,
    `is_sorted`).
    """
    values: tuple[ColumnMove, ...]  # arrays that move with the keys, as long as `keys`, of items of 1, 2, 4, 8 or 16 bytes
    indices: Array | None
    """Output for the indices of the keys (``keys[indices]`` is in order), for `argsort` and `top_k`: int64, uint64, int32 or
    uint32. Keys that compare equal are in the order of their indices.
    """
    stable: bool  # True if values of keys that compare equal keep their order
    strategy: str | None  # algorithm on a GPU; None for the planner's choice
    context: Context  # threads, instruction set, and the counter of transfers
    budget: Budget  # budget for memory


sort_task = fast_constructor(SortTask)  # creates a `SortTask` at a fifth of the cost of its class
