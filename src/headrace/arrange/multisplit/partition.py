"""Keys by a digit of their bits, in no order within a digit: the step that a sort from the highest bits down builds on."""

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
    """Keys of 4 or 8 bytes by their bits `low` to below `high`, at most 8 of them; each digit's keys in any order.

    Parameters
    ----------
    keys
        Array of one dimension of whole numbers or floats of 4 or 8 bytes. Work runs where it lies.
    low, high
        The digit's bits.
    context
        Threads, instruction set and memory that may be used, and the GPU that an array of the host goes to.

    Returns
    -------
    tuple
        The keys, and int64 offsets: where each digit begins, and at the end how many keys there are. On a GPU the order within
        a digit is another each time.

    Raises
    ------
    OptionError
        They are no such keys, or no such bits.
    MemoryLimitError
        The results do not fit the context's limit.

    Examples
    --------
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
        raise OptionError(f"keys have {source.width} bytes; 4 and 8 can be taken")
    if high - low > _DIGIT_BITS or high > 8 * source.width:
        raise OptionError(f"a digit has 8 bits at most, of the key's {8 * source.width}, not {low} to {high}")
    if source.device.kind == "cpu":
        found = multisplit(source.owner, by_bits, context=context)
        return found.keys, found.offsets
    from headrace.arrange.multisplit.gpu.planner import partition_on_gpu  # not needed on the host

    result = empty_like(source, source.length, budget=budget)
    offsets = empty_like(source, by_bits.count + 1, "<i8", budget)
    partition_on_gpu(source, (low, high), (result, offsets), context, budget)
    return result.owner, offsets.owner
