"""Builds columns and types from the tuples that native code returns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from headrace.columns.column import Column, new_column
from headrace.columns.types import parse_type

type_named = cache(parse_type)  # cached, since there are few types and may be a million columns


def column_of(parts: Sequence[Any], length: int) -> Column:
    """Return a column of `length` rows from native code's tuple: type name, number of nulls, values, validity, offsets.

    A view column may have a buffer of long texts in addition. A dictionary has the values, offsets and number of its texts.
    """
    name, nulls, values, validity, offsets, *data = parts
    if name == "dictionary":
        return _dictionary_of(parts, length)
    type_ = type_named(name)
    buffers = tuple(data)
    return new_column(
        type=type_, length=length, null_count=nulls, values=values, validity=validity, offsets=offsets, data=buffers
    )


def _dictionary_of(parts: Sequence[Any], length: int) -> Column:
    name, nulls, codes, validity, _, texts, offsets, count = parts
    dictionary = column_of(("string", 0, texts, None, offsets), count)
    return new_column(
        type=type_named(name), length=length, null_count=nulls, values=codes, validity=validity, dictionary=dictionary
    )
