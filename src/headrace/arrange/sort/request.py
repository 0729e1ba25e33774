"""What a sort is told once its options are checked, for the CPU and for the GPU."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.arrange.sort.key_order import KeyOrder
from headrace.arrays.arrays import Array
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.core.quick import quick

STRATEGIES = ("hybrid", "digits")
"""What `SortTask.strategy` may be: from the highest digit down by buckets, or from the lowest digit up."""


@dataclass(frozen=True, slots=True)
class ColumnMove:
    """An array that goes where its keys go.

    Parameters
    ----------
    source
        Its items as they are.
    target
        Where they are to be.
    """

    source: Array
    target: Array


@dataclass(frozen=True, slots=True)
class SortTask:
    """What is to be sorted, and where to. All arrays are on one device.

    An array and its target lie at one address (then it is sorted in place) or apart; all others lie apart from each other. Where
    something fails, targets that lie apart may hold anything, and what is sorted in place must be as it was: memory is taken
    before anything is written.

    Parameters
    ----------
    keys
        Keys as they are, of `KeyOrder.bits` each; any number of them, 0 and more than 2**32 too.
    order
        Their order.
    target
        Where keys go in their order: as many as `keys`, of `top_k` the first few. None where nobody wants them (`argsort`,
        `is_sorted`).
    values
        What goes with them, as long as `keys`, of items of 1, 2, 4, 8 or 16 bytes.
    indices
        Where places of keys go (``keys[indices]`` is in order): of `argsort` and `top_k`, int64, uint64, int32 or uint32. Keys
        that compare equal are in the order of their places.
    stable
        Whether values of keys that compare equal keep their order.
    strategy
        How it is done on a GPU; None chooses.
    context
        Threads and instruction set; crossings.
    budget
        What memory is counted in.
    """

    keys: Array
    order: KeyOrder
    target: Array | None
    values: tuple[ColumnMove, ...]
    indices: Array | None
    stable: bool
    strategy: str | None
    context: Context
    budget: Budget


sort_task = quick(SortTask)
"""Makes one, at a fifth of the cost of its class."""
