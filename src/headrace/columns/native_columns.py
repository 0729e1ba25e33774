"""Builds columns and types from the tuples that native code returns."""

from __future__ import annotations

from functools import cache

from headrace import _native
from headrace.columns.column import Column, new_column
from headrace.columns.types import parse_type

type_named = cache(parse_type)
"""Cached, since there are few types and may be a million columns."""


def column_of(parts: tuple[str, int, _native.Buffer, _native.Buffer | None, _native.Buffer | None], length: int) -> Column:
    """Return a column of `length` rows from native code's tuple."""
    type_name, null_count, values, validity, offsets = parts
    return new_column(
        type=type_named(type_name), length=length, null_count=null_count, values=values, validity=validity, offsets=offsets
    )
