"""Partitions keys by a digit of their bits, without an order inside a digit: one step of an MSD radix sort."""

from __future__ import annotations

from typing import Any

from headrace.arrange.bucket.functions import bits as bits_of
from headrace.arrange.bucket.key_types import key_type
from headrace.arrange.multisplit.multisplit import multisplit
from headrace.arrays.placement import empty_like, placed
from headrace.core.context import Context
from headrace.core.errors import OptionError

_DIGIT_BITS = 8


def partition(keys: Any, low: int, high: int, *, context: Context | None = None) -> tuple[Any, Any]:
    """Partition keys by the bits from `low` up to, and without, `high`; keys of one digit are in any order.

    Raise OptionError if the keys have another type, or the bits are out of range. Raise MemoryLimitError if the results
    exceed the context's limit.

    `keys`: array of one dimension of integers or floats of 4 or 8 bytes. The work runs on its device.
    `low`, `high`: first bit of the digit and first bit after it; at most 8 bits.
    `context`: threads, instruction set and memory that may be used, and the GPU to which a host array is copied.
    Result: the keys, and int64 offsets: the start of each digit, and at the end the number of keys. On a GPU the order inside a
    digit differs from call to call.

    >>> import numpy as np
    >>> keys, offsets = partition(np.array([7, 4, 1, 5], np.uint32), 2, 3)
    >>> offsets
    array([0, 1, 4])
    """
    context = context or Context()
    budget = context.new_budget()
    by_bits = bits_of(low, high)
    source = placed(keys, "keys", context, budget)
    key_type(source.typestr)
    if source.width < 4:
        raise OptionError(f"keys have {source.width} bytes; partition takes 4 and 8")
    if high - low > _DIGIT_BITS or high > 8 * source.width:
        raise OptionError(f"a digit has at most 8 of the key's {8 * source.width} bits, not bits {low} to {high}")
    if source.device.kind == "cpu":
        found = multisplit(source.owner, by_bits, context=context)
        return found.keys, found.offsets
    from headrace.arrange.multisplit.gpu.planner import partition_on_gpu  # needs cuda-core

    result = empty_like(source, source.length, budget=budget)
    offsets = empty_like(source, by_bits.count + 1, "<i8", budget)
    partition_on_gpu(source, (low, high), (result, offsets), context, budget)
    return result.owner, offsets.owner
