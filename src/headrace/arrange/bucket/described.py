"""Packs bucket functions into the bytes of rules.hpp's ``AnyOf``."""

from __future__ import annotations

import struct
from typing import Any

from headrace.arrange.bucket.buckets import even as even_parts
from headrace.core.errors import OptionError

_KINDS = {"identity": 0, "modulo": 1, "hash": 2, "even": 3}
"""Values of rules.hpp's ``RuleKind``."""


def described(kind: str, count: int, parameters: tuple[Any, ...], dtype: Any) -> bytes:
    """Return the bytes of an ``AnyOf`` for keys of a type; voids are numbers of 16 bytes.

    Raises
    ------
    OptionError
        The type cannot represent these buckets.
    """
    number = _KINDS[kind]
    if dtype.kind == "V":
        return struct.pack("<Q2I", 2**64 % count, count, number)
    if kind == "even":
        if count == 1:
            raise OptionError("even() has 2 buckets or more; pass hash(1) to put all keys into one bucket")
        part = even_parts(dtype, count, parameters)
        if dtype.kind == "f":
            return part + struct.pack("<II", count, number)
        if dtype.itemsize == 8:
            high, below, low, shift = struct.unpack("<4Q", part)
            return struct.pack("<3Q4I", high, below, low, shift, count, number, 0)
        return struct.pack("<Q4I", *struct.unpack("<QII", part), count, number)
    if dtype.kind == "f":
        return struct.pack("<4f" if dtype.itemsize == 4 else "<4d", 0, 0, 0, 0) + struct.pack("<II", count, number)
    flip = plus = 0
    width = max(32, dtype.itemsize * 8)
    multiplier = 0
    if kind == "modulo":
        multiplier = -(-(1 << 2 * width) // count)
        if dtype.kind == "i":
            flip = 1 << (dtype.itemsize * 8 - 1)
            plus = -flip % count
    if dtype.itemsize == 8:
        return struct.pack("<3Q4I", multiplier >> 64, multiplier % 2**64, flip, plus, count, number, 0)
    return struct.pack("<Q4I", multiplier, flip, plus, count, number)
