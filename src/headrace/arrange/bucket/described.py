"""Packs bucket functions into the bytes of rules.hpp's ``AnyOf``."""

from __future__ import annotations

from typing import Any

from headrace.arrange.bucket.buckets import even as even_parts
from headrace.arrange.bucket.layouts import rule_layout
from headrace.core.errors import OptionError

RULE_KINDS = {"identity": 0, "modulo": 1, "hash": 2, "even": 3}  # RuleKind of bucket/rules.hpp


def described(kind: str, count: int, parameters: tuple[Any, ...], dtype: Any) -> bytes:
    """Return the bytes of an ``AnyOf`` for keys of a type; voids are numbers of 16 bytes.

    Raise OptionError if the type cannot represent these buckets.
    """
    number, pack = RULE_KINDS[kind], rule_layout("AnyOf", dtype).pack
    if dtype.kind == "V":
        return pack(2**64 % count, count, number)
    if kind == "even":
        if count == 1:
            raise OptionError("even() has 2 buckets or more; pass hash(1) to put all keys into one bucket")
        part = rule_layout("Even", dtype).unpack(even_parts(dtype, count, parameters))
        return pack(*part, count, number, *_unused(dtype))
    if dtype.kind == "f":
        return pack(0, 0, 0, 0, count, number)
    flip = plus = 0
    width = max(32, dtype.itemsize * 8)
    multiplier = 0
    if kind == "modulo":
        multiplier = -(-(1 << 2 * width) // count)
        if dtype.kind == "i":
            flip = 1 << (dtype.itemsize * 8 - 1)
            plus = -flip % count
    words = divmod(multiplier, 2**64) if dtype.itemsize == 8 else (multiplier,)
    return pack(*words, flip, plus, count, number, *_unused(dtype))


def _unused(dtype: Any) -> tuple[int, ...]:
    """Return the value of `unused`, which an ``AnyOf`` of integers of 64 bits has."""
    return (0,) if dtype.itemsize == 8 and dtype.kind != "f" else ()
