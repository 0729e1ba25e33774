"""Sorts keys by stable multisplits, lowest digit first (dissertation of Ashkiani 2017, section 3.7.1)."""

from __future__ import annotations

from typing import Any

from headrace.arrange.bucket.functions import bits
from headrace.arrange.multisplit.multisplit import Split, multisplit
from headrace.arrays.arrays import take
from headrace.core.context import Context
from headrace.core.errors import OptionError

_UNSIGNED = {"|u1", "<u2", "<u4", "<u8"}
_MAX_DIGIT_BITS = 8


def multisplit_sort(keys: Any, values: Any = None, *, digit_bits: int = 8, context: Context | None = None) -> Split:
    """Sort unsigned integers, and values with them, by stable multisplits.

    Raise OptionError if the keys are not unsigned integers, or `digit_bits` is out of range.

    `keys`: array of one dimension of unsigned integers. The work runs on its device.
    `values`: as in `multisplit`.
    `digit_bits`: bits of a digit, 1 to 8; the last digit has the remaining bits.
    `context`: as in `multisplit`.
    Result: sorted keys and values; equal keys keep their order. The offsets are those of the last digit.

    >>> import numpy as np
    >>> multisplit_sort(np.array([300, 2, 70], np.uint16)).keys
    array([  2,  70, 300], dtype=uint16)
    """
    key_array = take(keys, "keys")
    if key_array.typestr not in _UNSIGNED:
        raise OptionError(f"keys are of type {key_array.typestr!r}; multisplit_sort takes unsigned integers")
    if isinstance(digit_bits, bool) or not isinstance(digit_bits, int) or not 1 <= digit_bits <= _MAX_DIGIT_BITS:
        raise OptionError(f"digit_bits must be an integer from 1 to {_MAX_DIGIT_BITS}, not {digit_bits!r}")
    split = Split(keys, values, None)
    for low in range(0, 8 * key_array.width, digit_bits):
        digit = bits(low, min(8 * key_array.width, low + digit_bits))
        split = multisplit(split.keys, digit, split.values, context=context)
    return split
